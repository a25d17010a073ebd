"""Finds mpirun, tells whose it is, and builds its command line."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from typing import NamedTuple

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

# What an MPI rank finds in its environment; an mpirun started inside one would take itself for a part of that job.
INHERITED = ("PMIX_", "PMI_", "PRTE_", "OMPI_COMM_WORLD_", "OMPI_UNIVERSE_", "OMPI_APP_", "OMPI_NUM_APP", "OMPI_ARGV",
             "OMPI_COMMAND", "OMPI_FILE_LOCATION", "OMPI_FIRST_RANKS", "OMPI_MCA_orte_", "OMPI_MCA_ess", "HYDI_",
             "MPI_LOCAL", "OMPI_MCA_initial_wdir")


class LaunchError(Exception):
    """The job can't be started; the message is one line with the remedy."""


class Mpi(NamedTuple):
    """An mpirun: where, and which MPI's."""

    path: str
    family: str                                      # "openmpi" or "mpich" (MPICH, Intel MPI, MVAPICH: Hydra)


def find(given: str | None = None) -> Mpi:
    """The mpirun asked for, or the one beside this Python (a wheel's), or the first on the PATH."""
    if given is not None:
        path = shutil.which(given)
        if path is None:
            raise LaunchError(f"no mpirun at {given!r}")
        return Mpi(path, family(path))
    beside = os.path.dirname(os.path.abspath(sys.executable))
    for folder in (beside, os.environ.get("PATH", os.defpath)):
        for name in ("mpirun", "mpiexec"):
            path = shutil.which(name, path=folder)
            if path is not None:
                return Mpi(path, family(path))
    raise LaunchError("no mpirun found beside Python or on the PATH; run: pip install 'dparallel[mpi]'")


def family(path: str) -> str:
    """Whose mpirun it is, from what it says of its version."""
    try:
        out = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchError(f"{path} does not run ({error}); repair it, or run: pip install 'dparallel[mpi]'") from error
    text = out.stdout + out.stderr
    if "Open MPI" in text or "OpenRTE" in text or "PRRTE" in text:
        return "openmpi"
    if any(word in text for word in ("HYDRA", "MPICH", "Intel", "MVAPICH")):
        return "mpich"
    raise LaunchError(f"{path} is neither Open MPI's nor MPICH's: {text.strip()[:80]!r}; pass --mpirun PATH")


def environment(options: argparse.Namespace) -> dict[str, str]:
    """What the ranks' environment has that this one has not."""
    changes = {}
    for item in options.exports:
        name, equals, value = item.partition("=")
        if not equals and name not in os.environ:
            raise LaunchError(f"-x {name}: no such variable in the environment; write -x {name}=VALUE")
        changes[name] = value if equals else os.environ[name]
    if options.threads is not None or not {"OMP_NUM_THREADS"} & (os.environ.keys() | changes.keys()):
        threads = options.threads or max(1, cores() // options.np)
        for name in THREAD_VARIABLES:
            changes.setdefault(name, str(threads))
    return changes


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def outer() -> dict[str, str]:
    """This environment without the marks of a surrounding MPI job."""
    return {name: value for name, value in os.environ.items() if not name.startswith(INHERITED)}


def command(mpi: Mpi, options: argparse.Namespace, exported: list[str]) -> list[str]:
    """The mpirun command: N times this Python, running launch.rank, running the script."""
    line = [mpi.path, "-n", str(options.np)]
    if mpi.family == "openmpi":
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            line.append("--allow-run-as-root")
        line += ["--oversubscribe", "--bind-to", "none"]      # small machines: more ranks than cores, none pinned
        line += ["--host", options.hosts] if options.hosts else []
        line += ["--hostfile", options.hostfile] if options.hostfile else []
        if options.hosts or options.hostfile:                 # elsewhere the environment is inherited
            for name in exported:
                line += ["-x", name]
        line += ["--tag-output"] if options.tag else []
    else:
        line += ["-hosts", options.hosts] if options.hosts else []
        line += ["-f", options.hostfile] if options.hostfile else []
        line += ["-genvlist", ",".join(exported)] if exported and (options.hosts or options.hostfile) else []
        line += ["-prepend-rank"] if options.tag else []
    line += shlex.split(options.mpi_args)
    return [*line, sys.executable, "-m", "launch.rank", *(["-m"] if options.module else []), options.script,
            *options.args]
