"""The command line of dprun."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from typing import NoReturn

from .job import run
from .mpirun import LaunchError, Mpi, command, environment, find
from .report import DIRECTORY


def positive(text: str) -> int:
    """An integer of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return number


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Name what is wrong and how to see the options."""
        self.exit(2, f"dprun: {message}; see dprun --help\n")


def parser() -> argparse.ArgumentParser:
    """The options of dprun; what follows the script is the script's."""
    p = Parser(prog="dprun", description="Run a Python script on N MPI ranks.",
                                epilog="example: dprun -n 2 train.py --epochs 5")
    p.add_argument("-n", "--np", type=positive, required=True, metavar="N", help="number of ranks")
    p.add_argument("-m", action="store_true", dest="module", help="SCRIPT is a module name, as for python -m")
    p.add_argument("-H", "--hosts", metavar="HOST[:SLOTS],...", help="hosts to run on")
    p.add_argument("--hostfile", metavar="FILE", help="file of hosts to run on")
    p.add_argument("-x", action="append", default=[], metavar="NAME[=VALUE]", dest="exports",
                   help="environment variable for the ranks")
    p.add_argument("--threads", type=positive, metavar="T",
                   help="threads per rank (default: cores / N, at least 1, unless OMP_NUM_THREADS is set)")
    p.add_argument("--tag", action="store_true", help="begin every line of output with [rank]")
    p.add_argument("--timeout", type=float, metavar="SECONDS", help="end the job after this time, with exit code 124")
    p.add_argument("--mpirun", metavar="PATH", help="the mpirun to use")
    p.add_argument("--mpi-args", default="", metavar="ARGS", help="further arguments for mpirun, in one string")
    p.add_argument("--dry-run", action="store_true", help="print the command and its environment, run nothing")
    p.add_argument("script", metavar="SCRIPT")
    p.add_argument("args", nargs=argparse.REMAINDER, metavar="...")
    return p


def main(argv: Sequence[str] | None = None) -> int:
    """Run dprun; its exit code is the job's, 2 where nothing could be started."""
    options = parser().parse_args(argv)
    try:
        return start(options)
    except LaunchError as error:
        print(f"dprun: {error}", file=sys.stderr)
        return 2


def start(options: argparse.Namespace) -> int:
    """Check what can be checked, then run the job."""
    if not options.module and not os.path.isfile(options.script):
        raise LaunchError(f"no script {options.script!r} in {os.getcwd()}; give the path of a Python file, or -m MODULE")
    if options.hostfile and not os.path.isfile(options.hostfile):
        raise LaunchError(f"no host file {options.hostfile!r}")
    if importlib.util.find_spec("mpi4py") is None:
        raise LaunchError(f"mpi4py is not installed for {sys.executable}; run: pip install 'dparallel[mpi]'")
    mpi: Mpi = find(options.mpirun)
    changes = environment(options)
    line = command(mpi, options, sorted(changes))
    if options.dry_run:
        print(" ".join(f"{name}={shlex.quote(value)}" for name, value in sorted(changes.items())), shlex.join(line))
        return 0
    with tempfile.TemporaryDirectory(prefix="dprun-") as folder:
        return run(line, {**changes, DIRECTORY: folder}, folder, mpi, options)
