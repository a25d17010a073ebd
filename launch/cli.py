"""The command line of dprun."""

from __future__ import annotations

import argparse
import importlib.machinery
import importlib.util
import math
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import NoReturn

from .environment import environment
from .job import Job, run
from .mpirun import LaunchError, changes_for, command, find, remote, session
from .rank import DIRECTORY, INSTALL

DEFAULT_GRACE = 30.0                                 # torchrun's, and Slurm's KillWait
INTERPRETER = re.compile(r"python[\d.]*(\.exe)?")      # what mpirun, but not dprun, is given before a script


def positive(text: str) -> int:
    """An integer of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return number


def seconds(text: str) -> float:
    """A time above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number of seconds")
    return number


def limit(text: str) -> str:
    """A time of at least 0, as it was written."""
    if text.strip("0.") or not text.strip("."):      # no zero
        seconds(text)
    return text


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Name what is wrong and how to see the options."""
        self.exit(2, f"dprun: {message}; see dprun --help\n")


def parser() -> argparse.ArgumentParser:
    """The options of dprun; what follows the script is the script's."""
    p = Parser(prog="dprun", description="Run a Python script on N MPI ranks.", allow_abbrev=False,
               epilog="example: dprun -n 2 train.py --epochs 5")
    p.add_argument("-n", "--np", type=positive, required=True, metavar="N", help="number of ranks")
    p.add_argument("-m", action="store_true", dest="module", help="SCRIPT is a module name, as for python -m")
    p.add_argument("-H", "--hosts", metavar="HOST[:SLOTS],...", help="hosts to run on")
    p.add_argument("--hostfile", metavar="FILE", help="file of hosts to run on")
    p.add_argument("-x", action="append", default=[], metavar="NAME[=VALUE]", dest="exports",
                   help="environment variable for the ranks")
    p.add_argument("--threads", type=positive, metavar="T",
                   help="threads per rank (default: cores / ranks on a host, at least 1, unless OMP_NUM_THREADS is set)")
    p.add_argument("--tag", action="store_true",
                   help="begin every line of output with [rank] (across hosts: with mpirun's own tags)")
    p.add_argument("--timeout", type=seconds, metavar="SECONDS", help="end the job after this time, with exit code 124")
    p.add_argument("--grace", type=seconds, metavar="SECONDS",
                   help="time that ranks in dparallel.graceful_exit() have after SIGTERM or SIGUSR1 to end a step and save "
                        f"(default: {DEFAULT_GRACE:g}); a second SIGTERM ends them at once")
    p.add_argument("--check", action="store_true",
                   help="check every collective, and end the job in a deadlock (DPARALLEL_CHECK=1)")
    p.add_argument("--stall", type=limit, metavar="SECONDS",
                   help="say where every rank is when one has waited this long; 0: never (default: 60)")
    p.add_argument("--stall-abort", action="store_true", help="and then end the job")
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
    except KeyboardInterrupt:                        # before there was a job; afterwards Job handles it
        return 130


def start(options: argparse.Namespace) -> int:
    """Check what can be checked, then run the job."""
    check(options)
    mpi = find(options.mpirun)
    changes = changes_for(options)
    line = command(mpi, options, sorted(changes))
    if options.dry_run:
        print(" ".join(f"{name}={shlex.quote(value)}" for name, value in sorted(changes.items())), shlex.join(line))
        return 0
    try:
        made = tempfile.TemporaryDirectory(prefix="dprun-", ignore_cleanup_errors=True)
    except OSError as error:
        raise LaunchError(f"no folder for temporary files ({error}); set TMPDIR to one that can be written") from error
    with made as folder:
        own = {} if remote(options) else session(folder, changes)
        job = Job(line, {**changes, **own, DIRECTORY: folder}, folder, options.timeout, mpi=mpi, grace=grace(changes),
                  spread=remote(options))
        return run(job, mpi, options.np, options.tag and not remote(options))


def grace(changes: Mapping[str, str]) -> float:
    """The seconds that ranks have to end by themselves, as they find them in their environment."""
    text = changes.get("DPARALLEL_GRACE_SECONDS") or environment.get("DPARALLEL_GRACE_SECONDS")
    try:
        return seconds(text) if text else DEFAULT_GRACE
    except argparse.ArgumentTypeError as error:
        raise LaunchError(f"DPARALLEL_GRACE_SECONDS: {error}") from error


def check(options: argparse.Namespace) -> None:
    """LaunchError if what is to be run, or what it needs, is not there; nothing is imported."""
    if options.module:
        top = options.script.partition(".")[0]
        known = top in sys.builtin_module_names or importlib.machinery.PathFinder.find_spec(top, [os.getcwd(), *sys.path])
        if not known:
            raise LaunchError(f"no module {top!r} for {sys.executable}; give one that python -m finds, or a script")
    elif INTERPRETER.fullmatch(os.path.basename(options.script)):
        raise LaunchError(f"{options.script!r} is an interpreter; dprun runs scripts by {sys.executable} itself: "
                          f"dprun -n {options.np} {shlex.join(options.args) or 'script.py'}")
    elif not os.path.isfile(options.script):
        raise LaunchError(f"no script {options.script!r} in {os.getcwd()}; give the path of a Python file, or -m MODULE")
    if options.hostfile and not os.path.isfile(options.hostfile):
        raise LaunchError(f"no host file {options.hostfile!r} in {os.getcwd()}; give the path of a file with a host a line")
    if importlib.util.find_spec("mpi4py") is None:
        raise LaunchError(f"mpi4py is not installed for {sys.executable}; {INSTALL}")
