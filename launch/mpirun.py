"""Which mpirun starts a job: its MPI, its command line, and the environment of the ranks."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

from . import private, rank
from .hosts import CONNECT, hosts_of, is_here
from .slurm import allocation

FAMILIES = {"openmpi": ("Open MPI", "OpenRTE", "PRRTE"), "mpich": ("HYDRA", "MPICH", "Intel", "MVAPICH")}
TORCH_ALIAS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "dparallel", "torch_alias", "path")
LEAST_MEMORY = 20 * 2**20                            # bytes; Open MPI's file of a rank has 16 MiB
NAMED = ("mpirun", "mpiexec", "mpiexec.hydra")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUN = (f"import sys; sys.path[:] = [*filter(None, sys.path), {ROOT!r}]; "
       "del sys.argv[0]; import runpy; runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)")
NAMES = {"Intel": "Intel MPI", "MVAPICH": "MVAPICH"}       # of Hydra's others than MPICH

SCHEDULERS = ("SLURM_JOB_ID", "PE_HOSTFILE", "PBS_NODEFILE", "LSB_HOSTS", "LSB_MCPU_HOSTS")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

# What an MPI rank finds in its environment; an mpirun started inside one would take itself for a part of that job.
INHERITED = ("PMIX_", "PMI_", "PRTE_", "OMPI_COMM_WORLD_", "OMPI_UNIVERSE_", "OMPI_APP_", "OMPI_NUM_APP", "OMPI_ARGV",
             "OMPI_COMMAND", "OMPI_FILE_LOCATION", "OMPI_FIRST_RANKS", "OMPI_MCA_orte_", "OMPI_MCA_ess", "HYDI_",
             "MPI_LOCAL", "OMPI_MCA_initial_wdir")
GIVEN = ("PRTE_MCA_", "PMIX_MCA_")                   # but these are the user's settings, which no mpirun passes to its ranks


class LaunchError(Exception):
    """The job can't be started; the message is one line with the remedy."""


class Mpi(NamedTuple):
    """An mpirun: its path and MPI."""

    path: str
    family: str                                      # "openmpi" or "mpich" (MPICH, Intel MPI, MVAPICH: Hydra)
    major: int                                       # the version's first number, 0 if unknown
    name: str = "MPI"                                # for people: "Open MPI 5.0.11"


def find(given: str | None = None) -> Mpi:
    """The requested mpirun, or the one beside this Python (a wheel's), or the first on the PATH."""
    if given is not None:
        path = shutil.which(given)
        if path is None:
            raise LaunchError(f"no mpirun at {given!r}; pass the path of one, or omit --mpirun")
        return identify(path)
    beside = os.path.dirname(os.path.abspath(sys.executable))
    failure = None
    for folder in (beside, os.environ.get("PATH", os.defpath)):
        for name in NAMED:
            path = shutil.which(name, path=folder)
            if path is not None:
                try:
                    return identify(path)
                except LaunchError as error:         # the mpirun of Intel's wheel works only with its folder on the PATH
                    failure = failure or error
    raise failure or LaunchError(f"no mpirun found beside Python or on the PATH; {rank.INSTALL}")


def identify(path: str) -> Mpi:
    """The MPI of an mpirun and its version, from its version text."""
    try:
        out = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchError(f"{path} does not run ({error}); repair it, or {rank.INSTALL}") from error
    text = out.stdout + out.stderr
    if not named(text):
        said = " ".join(text.split())[:80]
        raise LaunchError(f"{path} is neither Open MPI's nor MPICH's: it prints {said!r}; pass another with --mpirun PATH")
    number = re.search(r"(?:\(Open MPI\)|Version:?) *((\d+)[\d.]*)", text)
    name = next((name for word, name in NAMES.items() if word in text), "Open MPI" if named(text) == "openmpi" else "MPICH")
    return Mpi(path, named(text), int(number[2]) if number else 0, f"{name} {number[1]}" if number else name)


def named(text: str) -> str:
    """The family of MPI that a version text names; "" if none."""
    return next((name for name, words in FAMILIES.items() if any(word in text for word in words)), "")


def module(name: str, *arguments: str) -> list[str]:
    """The command of an installed module. `python -m` would look first in the current folder, where others may write."""
    return [sys.executable, "-c", RUN, name, *arguments]


def survives(mpi: Mpi) -> bool:
    """Whether a job can survive failed ranks with this MPI: Open MPI has ULFM since version 5."""
    return mpi.family == "openmpi" and mpi.major >= 5


def limits(mpi: Mpi) -> list[str]:
    """Limitations of this MPI, one per line; `dprun --check` prints them."""
    if mpi.family == "openmpi":
        return [*([] if survives(mpi) else ["--survive is rejected: it requires version 5"]),
                "over several hosts, SIGTERM to dprun reaches ranks as SIGUSR1",
                "srun joins ranks by PMIx (--mpi=pmix) only; --mpi=pmi2 is an error on each rank"]
    unclear = ["the exit code does not show which signal ended a rank (255)"] if "Intel" in mpi.name else []
    return [*unclear, "--survive is rejected: a job ends with its first rank (--restarts starts another)",
            "srun joins ranks by PMI (--mpi=pmi2) only",
            "a rank that C's exit(n) ends with n below 32 looks as if signal n had ended it",
            "a rank that os.execv() replaces after MPI.Finalize() ends the others when it ends",
            "a job whose hydra_pmi_proxy, mpirun's process on each host, is killed has exit code 255"]


def mismatch(mpi: Mpi) -> str:
    """The remedy, if mpi4py's library is of another MPI than this mpirun; queries mpi4py in a separate process."""
    try:
        out = subprocess.run(module("mpi4py", "--mpi-lib-version"), capture_output=True, text=True, timeout=30, env=outer())
    except (OSError, subprocess.TimeoutExpired):     # unknown
        return ""
    library = " ".join(out.stdout.split())[:40]
    if named(library) in ("", mpi.family):
        return ""
    return (f"{mpi.path} belongs to another MPI than the library that mpi4py loads ({library}); pass that MPI's with "
            "--mpirun PATH")


def changes_for(options: argparse.Namespace) -> dict[str, str]:
    """The ranks' environment variables that differ from this process's."""
    changes = {}
    for item in options.exports:
        name, equals, value = item.partition("=")
        if not name or (not equals and name not in os.environ):
            raise LaunchError(f"-x {item}: no such variable in the environment; write -x NAME=VALUE")
        changes[name] = value if equals else os.environ.get(name) or ""
    watchdog = {"DPARALLEL_CHECK": options.check and "1", "DPARALLEL_STALL_SECONDS": options.stall,
                "DPARALLEL_STALL_ABORT": None if options.stall_abort is None else str(int(options.stall_abort)),
                "DPARALLEL_GRACE_SECONDS": options.grace and f"{options.grace:g}"}
    changes.update({name: value for name, value in watchdog.items() if value})
    if options.torch_alias:
        inherited = changes.get("PYTHONPATH", os.environ.get("PYTHONPATH"))
        changes["PYTHONPATH"] = os.pathsep.join(filter(None, [TORCH_ALIAS, inherited]))
    if options.survive:
        changes.update({"DPARALLEL_SURVIVE": str(options.np), "DPARALLEL_SURVIVE_LEAST": str(options.min_n)})
        changes.update({"DPARALLEL_FROZEN_SECONDS": options.frozen} if options.frozen else {})
    if remote(options) and "MASTER_ADDR" not in {**os.environ, **changes}:
        changes["MASTER_ADDR"] = hosts_of(options)[0].name       # for scripts that open sockets of their own
    if remote(options):
        changes[rank.HOSTS] = ",".join(dict.fromkeys(host.name for host in hosts_of(options)))
    if options.check:
        changes[rank.SHOW] = "1"
    more = shlex.split(options.ssh or "ssh")[1:]             # Hydra takes the command and its arguments apart
    if more or (by_ssh(options) and "HYDRA_LAUNCHER_EXTRA_ARGS" not in os.environ):
        changes["HYDRA_LAUNCHER_EXTRA_ARGS"] = shlex.join(more + [CONNECT] * by_ssh(options))
    changes.update({"TORCHELASTIC_RUN_ID": f"dprun-{os.getpid()}", "TORCHELASTIC_RESTART_COUNT": "0",
                    "TORCHELASTIC_MAX_RESTARTS": "0"})
    if options.threads is not None or "OMP_NUM_THREADS" not in {**os.environ, **changes}:
        found = allocation()
        threads = options.threads or (found.cores if found else 0) or max(1, cores() // share(options))
        for name in THREADS:
            changes.setdefault(name, str(threads))
    return changes


def session(folder: str, memory: str, changes: dict[str, str]) -> dict[str, str]:
    """Variables that make Open MPI keep a job's files in two folders of this machine, those of shared memory in `memory`;
    ranks get their own TMPDIR back.

    By default the folder is named after mpirun's process number: a killed mpirun leaves it, and the next one with that
    number fails ("listener thread failed"). Shared memory is named after the job's number, and opened even if another user
    planted it.
    """
    if not sys.platform.startswith("linux"):         # macOS has long paths of temporary folders; sockets have short ones
        return {}
    return {"TMPDIR": folder, rank.TEMPORARY: changes.get("TMPDIR", os.environ.get("TMPDIR", "")),
            **(shared_in(memory) if memory else {})}


def shared_in(memory: str) -> dict[str, str]:
    """Variables that make Open MPI's ranks share memory through files in a folder."""
    return {f"OMPI_MCA_{kind}_backing_directory": memory for kind in ("btl_sm", "btl_vader", "osc_sm")}


def memory_folder() -> private.Held:
    """A new private folder in the shared memory of the host, or, if that has no space, in the temporary folder."""
    private.swept()
    place = private.in_memory()
    disk = os.statvfs(place)
    room = disk.f_bavail * disk.f_frsize > LEAST_MEMORY
    return private.Held(place if room else tempfile.gettempdir(), private.JOB)


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def remote(options: argparse.Namespace) -> bool:
    """Whether ranks may run on other machines: then mpirun passes them their variables, and tags their output."""
    if options.hosts or options.hostfile:
        return True
    return len(hosts_of(options)) > 1


def is_local(options: argparse.Namespace) -> bool:
    """Whether all ranks run on this machine. A Slurm allocation of one host may be of another."""
    return not remote(options) and all(is_here(host.name) for host in hosts_of(options))


def by_ssh(options: argparse.Namespace) -> bool:
    """Whether mpirun reaches other hosts by ssh, not by a scheduler's command."""
    words = shlex.split(options.ssh or "ssh")
    return remote(options) and os.path.basename(words[0]) == "ssh" and shutil.which(words[0]) is not None and not any(
        name in os.environ for name in SCHEDULERS)


def share(options: argparse.Namespace) -> int:
    """The number of ranks on one host, if they are spread evenly."""
    return -(-options.np // max(1, len({host.name for host in hosts_of(options)})))


def outer() -> dict[str, str]:
    """This environment without the marks of a surrounding MPI job; with a HOME, without which Open MPI does not start."""
    found = {name: value for name, value in os.environ.items() if not name.startswith(INHERITED) or name.startswith(GIVEN)}
    home = os.path.expanduser("~")                   # "~" again for a user whom the system does not know, as in containers
    return {"HOME": home if os.path.isabs(home) else tempfile.gettempdir(), **found}


def command(mpi: Mpi, options: argparse.Namespace, exported: list[str]) -> list[str]:
    """The mpirun command: N times this Python, running launch/rank.py, running the script."""
    own = shlex.split(options.mpi_args)
    build = openmpi if mpi.family == "openmpi" else mpich
    return [mpi.path, "-n", str(options.np + (options.spares or 0)), *build(mpi, options, exported, own), *own,
            sys.executable, rank.__file__, *(["-m"] if options.module else []), options.script, *options.args]


def openmpi(mpi: Mpi, options: argparse.Namespace, exported: list[str], own: list[str]) -> list[str]:
    """Open MPI's flags; `own` are the user's, which may bind and map otherwise (a repeated flag is an error)."""
    flags = ["--allow-run-as-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    flags += ["--with-ft", "ulfm"] if options.survive and "--with-ft" not in own else []
    if not {"--map-by", "--oversubscribe", "--nooversubscribe"} & set(own) and (options.bind != "core" or mpi.major < 5):
        flags.append("--oversubscribe")                       # small machines: more ranks than cores
    if "--bind-to" not in own and options.bind != "core":     # "none": else all threads of a rank share one core
        flags += ["--bind-to", {"socket": "package" if mpi.major >= 5 else "socket"}.get(options.bind, "none")]
    elif "--bind-to" not in own:
        flags += ["--map-by", f"slot:PE={options.threads or 1}" + ":OVERSUBSCRIBE" * (mpi.major >= 5), "--bind-to", "core"]
    if is_local(options) and not transports_chosen(options, own):
        flags += ["--mca", "pml", "ob1", "--mca", "btl", "self,sm" if mpi.major >= 5 else "self,vader"]
    plm = "plm_ssh" if mpi.major >= 5 else "plm_rsh"
    if options.ssh:
        flags += ["--mca", f"{plm}_agent", options.ssh]
    if by_ssh(options) and not any(name.endswith(f"{plm}_args") for name in (*own, *os.environ)):
        flags += ["--mca", f"{plm}_args", CONNECT]
    if mpi.major >= 5 and "--stream-buffering" not in own:
        flags += ["--stream-buffering", "0"]                  # else a progress bar is buffered until its line ends
    flags += ["--host", options.hosts] if options.hosts else []
    flags += ["--hostfile", options.hostfile] if options.hostfile else []
    if remote(options):                                       # elsewhere the environment is inherited
        given = [name for name in THREADS if name in os.environ]
        for name in sorted({*exported, *given}):
            flags += ["-x", name]
    return flags + (["--tag-output"] if options.tag and remote(options) else [])


def transports_chosen(options: argparse.Namespace, own: list[str]) -> bool:
    """Whether the user has chosen Open MPI's transports. Otherwise ranks of one host use only its memory: by default each
    rank also accepts messages at all of the host's addresses."""
    given = {item.partition("=")[0] for item in options.exports}
    return any(kind in own or f"OMPI_MCA_{kind}" in given or f"OMPI_MCA_{kind}" in os.environ
               for kind in ("btl", "pml", "mtl"))


def mpich(mpi: Mpi, options: argparse.Namespace, exported: list[str], own: list[str]) -> list[str]:
    """Hydra's flags; it passes the whole environment on."""
    flags = ["-hosts", options.hosts] if options.hosts else []
    flags += ["-f", options.hostfile] if options.hostfile else []
    if options.bind not in (None, "none"):
        flags += ["-bind-to", f"core:{options.threads or 1}" if options.bind == "core" else "socket"]
    if options.ssh:
        flags += ["-launcher", "ssh", "-launcher-exec", shlex.split(options.ssh)[0]]
    return flags + (["-prepend-rank"] if options.tag and remote(options) else [])
