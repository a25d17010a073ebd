"""What runs on every rank: the script, as Python would run it; and if it fails, a report, and the end of the whole job.

Run by its path, and importing nothing of this package: a `launch.py` of the user must not be found instead.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import faulthandler
import importlib
import io
import itertools
import json
import os
import runpy
import signal
import socket
import stat
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr
from types import TracebackType
from typing import Any, NoReturn

DIRECTORY = "DPRUN_REPORT_DIR"
NUMBER = "DPRUN_RANK"                                # by which files in that folder are named
TEMPORARY = "DPRUN_TMPDIR"                           # the TMPDIR of ranks, where mpirun has another; "": none
HOSTS = "DPRUN_HOSTS"                                # the hosts of a job, by commas; not set on a job of one
TIMELINE = "DPARALLEL_TIMELINE_PARTS"                # set: the folder for this rank's part of a timeline
SHOW = "DPRUN_SHOW"                                  # set: report this rank's host, cores and threads
RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")
SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
LOCAL_RANKS = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
LOCAL_SIZES = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
NO_LIBRARY = ("cannot load MPI library", "libmpi")   # mpi4py >= 4.1's words; the dynamic linker's
INSTALL = "run: pip install 'dparallel[mpi]'"
SURVIVES = "DPARALLEL_SURVIVE"                       # set: number of active ranks in a job that survives failed ranks
ROOT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
PACKAGES = ("autograd/", "dparallel/", "launch/")    # compiled modules have these file names
OWN = (*PACKAGES, *(ROOT + name for name in PACKAGES))
WORKERS = "\nOriginal Traceback (most recent call last):\n"
RUNNERS = (runpy.__file__, "<frozen runpy>")
leave = os._exit                                     # the real one
CONNECTED = "PMI_FD"                                 # Hydra (MPICH, Intel MPI) has set it: a rank's connection to mpirun


def announced(names: tuple[str, ...]) -> int:
    """This process's rank, or the number of ranks, according to the launcher; -1 if it set none."""
    return next((int(os.environ[name]) for name in names if os.environ.get(name, "").isdigit()), -1)


def main() -> None:
    """Run the script or module named by the arguments."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})     # mpirun has it blocked
    if not is_dpruns(os.environ.get(DIRECTORY, "")):
        os.environ.pop(DIRECTORY, None)
    args = sys.argv[1:]
    as_module = args[0] == "-m"
    sys.argv = args[1:] if as_module else args
    temporary = os.environ.pop(TEMPORARY, None)
    if temporary:
        os.environ["TMPDIR"] = temporary
    elif temporary is not None:
        os.environ.pop("TMPDIR", None)
    to_dprun()
    set_torchrun_variables()
    if os.environ.pop(SHOW, ""):
        sys.stderr.write(f"dprun: {placement()}\n")
        sys.stderr.flush()
    os._exit = left_at(os.getpid())                  # type: ignore[assignment]
    for stream in (sys.stdout, sys.stderr):          # lines at once, and whole, with python -u too: mpirun mixes the
        if isinstance(stream, io.TextIOWrapper):     # ranks' pieces; a progress bar flushes its own
            stream.reconfigure(line_buffering=True, write_through=False)
    if not getattr(sys.flags, "safe_path", False):   # python -P: then there is no entry for this file either
        sys.path[0] = os.getcwd() if as_module else os.path.dirname(os.path.realpath(sys.argv[0]))
    recording = timeline()
    try:
        if as_module:
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(os.path.abspath(sys.argv[0]), run_name="__main__")
    except SystemExit as error:
        if getattr(error, "together", False):        # dparallel's Preempted: all ranks are here, and MPI is to end as ever
            mark("ended")
            if not os.path.isdir(os.environ.get(DIRECTORY, "")):
                raise                                # dprun does not see the mark that says so, only the exit code
            return
        if error.code is not None and error.code != 0:
            whole = isinstance(error.code, int)
            end(int(error.code) if whole else 1, "" if whole else str(error.code))
    except BaseException as error:                   # the other ranks must not wait for this one
        lacking = no_library(error)
        code = 130 if isinstance(error, KeyboardInterrupt) else 1
        end(2 if lacking else code, shown(error), lacking)
    if alone():
        end(2, "", alone())
    if recording is not None:
        recording.finish()
    mark("ended")


def timeline() -> Any:
    """The recording of a timeline (dparallel/observe/timeline/ring_files.py), started if dprun has --timeline; else None."""
    if not os.environ.get(TIMELINE):
        return None
    try:
        recording = importlib.import_module("dparallel.observe.timeline.ring_files").started_by_dprun
    except ImportError as error:
        sys.stderr.write(f"dprun: no timeline: {error}\n")
        return None
    recording.start()
    return recording


def set_torchrun_variables() -> None:
    """Set torchrun's variables for scripts that read os.environ.

    Not TORCHELASTIC_USE_AGENT_STORE: True would make torch connect to a store that does not exist here.
    """
    rank, size = announced(RANKS), announced(SIZES)
    if rank < 0 or size < 1:
        return
    size = int(os.environ.get(SURVIVES, size))       # without the spares
    local, local_size = announced(LOCAL_RANKS), announced(LOCAL_SIZES)
    local_size = size if local_size < 0 else local_size
    hosts = [host for host in os.environ.get(HOSTS, "").split(",") if host]
    os.environ.update({
        "RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank if local < 0 else local),
        "LOCAL_WORLD_SIZE": str(local_size), "GROUP_RANK": str(host_number(hosts, rank // max(1, local_size))),
        "GROUP_WORLD_SIZE": str(len(hosts) or -(-size // max(1, local_size))),
        "ROLE_NAME": "default", "ROLE_RANK": str(rank), "ROLE_WORLD_SIZE": str(size)})
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")        # over hosts dprun has set it
    os.environ.setdefault("MASTER_PORT", "29500")


def placement() -> str:
    """This rank's host, its cores among the host's, and its threads."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    runs: list[list[int]] = []
    for core in cores:
        if runs and core == runs[-1][1] + 1:
            runs[-1][1] = core
        else:
            runs.append([core, core])
    names = ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs) or "not known"
    return (f"rank {announced(RANKS)} of {announced(SIZES)} on {socket.gethostname()}: cores {names} of {os.cpu_count()}, "
            f"threads {os.environ.get('OMP_NUM_THREADS', 'not set')}")


def host_number(hosts: list[str], otherwise: int) -> int:
    """This host's number among dprun's hosts; `otherwise` if it is not found there by any of its names."""
    own = {socket.gethostname(), socket.gethostname().partition(".")[0], os.environ.get("PMIX_HOSTNAME", ""),
           os.environ.get("SLURMD_NODENAME", "")}
    return next((number for number, host in enumerate(hosts) if host in own), otherwise)


def is_dpruns(folder: str) -> bool:
    """Whether dprun created a folder: it is this user's, and closed to others (another user may have planted it)."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077


def to_dprun() -> None:
    """On dprun's machine, connect output and rank 0's input to its FIFOs; after a SIGSEGV, write Python's stack."""
    folder = os.environ.get(DIRECTORY, "")
    os.environ[NUMBER] = str(announced(RANKS))
    if not folder:                                   # names in the current folder may be another user's
        return
    stem = os.path.join(folder, str(announced(RANKS)))
    for name, target, mode in (("in", 0, os.O_RDONLY), ("out", 1, os.O_WRONLY), ("err", 2, os.O_WRONLY)):
        if os.path.exists(f"{stem}.{name}"):
            fifo = os.open(f"{stem}.{name}", mode)
            os.dup2(fifo, target)
            os.close(fifo)
    if os.path.isdir(folder):
        file = open(f"{stem}.crash", "w")            # noqa: SIM115  # open until the process ends
        faulthandler.enable(file, all_threads=False)
        mark("running", str(os.getpid()))
        atexit.register(ended, os.getpid())
        for name in ("execv", "execve"):             # what takes this process's place has no mark
            setattr(os, name, before(getattr(os, name)))


def mark(kind: str, text: str = "") -> None:
    """Write a file for dprun, if this is its machine."""
    folder = os.environ.get(DIRECTORY, "")
    if os.path.isdir(folder):
        with contextlib.suppress(OSError), open(os.path.join(folder, f"{announced(RANKS)}.{kind}"), "w") as file:
            file.write(text)


def ended(process: int) -> None:
    """Remove the mark by which dprun knows that this rank has not ended in Python's ways."""
    folder = os.environ.get(DIRECTORY, "")
    if os.getpid() == process and folder:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, f"{announced(RANKS)}.running"))


def before(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, preceded by removal of the mark."""
    process = os.getpid()

    def call(*args: Any) -> Any:
        ended(process)
        return function(*args)

    return call


def left_at(process: int) -> Callable[[int], NoReturn]:
    """os._exit() for this process: code 0 while MPI runs is a failure, since some mpiruns leave the others waiting for it.
    Forked children may call it."""
    def left(status: int) -> NoReturn:
        mpi = sys.modules.get("mpi4py.MPI")
        if SURVIVES in os.environ and os.getpid() == process and mpi is not None and mpi.Is_initialized():
            sys.stderr.write(f"{way_here()}os._exit({status}): rank {announced(RANKS)} dies\n")
            sys.stderr.flush()
            os.kill(process, signal.SIGKILL)         # a death that the others survive: mpirun ends a job for an exit code
        if status == 0 and os.getpid() == process and mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized():
            end(1, f"{way_here()}os._exit(0) while MPI runs: the other ranks are left alone. End with sys.exit(), or call "
                   "MPI.Finalize() first")
        ended(process)
        if status and os.getpid() == process:        # its code, which MPICH's mpirun does not tell from a signal's number
            write(status, f"{way_here()}os._exit({status})", "")
        if status == 0 and os.getpid() == process and mpi is not None and mpi.Is_finalized() and CONNECTED in os.environ:
            ctypes.PyDLL(None).exit(0)               # MPICH takes leave in C's exit handlers; else mpirun kills the others
        leave(status)

    return left


def way_here() -> str:
    """The last lines of the script, and of what it called, that led to a call of os._exit()."""
    frames = [frame for frame in traceback.extract_stack()[:-2] if frame.filename not in (__file__, *RUNNERS)]
    script = os.path.abspath(sys.argv[0])            # a library may have called it from deep below
    own = [frame for frame in frames if os.path.abspath(frame.filename) == script][-1:]
    frames = frames[-3:] if not own or own[0] in frames[-3:] else own + frames[-3:]
    return "Traceback (most recent call last):\n" + "".join(traceback.format_list(frames))


def own_frames(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of this file and of runpy."""
    while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, *RUNNERS):
        trace = trace.tb_next
    return trace


def shown(error: BaseException) -> str:
    """The output of sys.excepthook, the script's own if it set one, for this error."""
    error = error.with_traceback(own_frames(error.__traceback__))
    try:
        if sys.excepthook is sys.__excepthook__:
            return folded(error)
        with redirect_stderr(io.StringIO()) as text:
            sys.excepthook(type(error), error, error.__traceback__)
        return text.getvalue()
    except Exception:                                # a hook that fails must not hide the error
        return "".join(traceback.format_exception(type(error), error, error.__traceback__))


class Folded(traceback.StackSummary):
    """A stack whose frames inside these packages are one line for those that follow each other, without their code."""

    def format(self, **options: Any) -> list[str]:
        """The user's frames as ever; all of them if none is the user's."""
        lines: list[str] = []
        for own, run in itertools.groupby(self, lambda frame: frame.filename.startswith(OWN)):
            frames = list(run)
            if own and len(frames) < len(self):
                places = dict.fromkeys(f"{frame.filename.removeprefix(ROOT)}:{frame.lineno}" for frame in frames)
                lines.append(f"  inside {', '.join(places)}\n")
            else:
                lines += traceback.StackSummary.from_list(frames).format(**options)
        return lines


def folded(error: BaseException) -> str:
    """The traceback of an error, and of its causes, with the user's lines in full and those of these packages in short."""
    whole = traceback.TracebackException(type(error), error, error.__traceback__)
    parts: list[Any] = [whole]
    for part in parts:
        part.stack = Folded(part.stack)
        if part.__cause__ is not None and WORKERS in str(part):      # the text of a DataLoader's error has its cause's
            part.__cause__ = None
        parts += filter(None, [part.__cause__, part.__context__, *(getattr(part, "exceptions", None) or ())])
    return "".join(whole.format())


def no_library(error: BaseException) -> str:
    """The remedy, if mpi4py raised the error because it finds no MPI library."""
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    text = " ".join(str(cause).split())
    if not isinstance(cause, (ImportError, RuntimeError)) or not any(words in text for words in NO_LIBRARY):
        return ""
    return f"mpi4py finds no MPI library ({text}); {INSTALL}"


def alone() -> str:
    """The remedy, if MPI considers this rank of many the only one: mpirun and the MPI library belong to different MPIs."""
    mpi = sys.modules.get("mpi4py.MPI")              # only if the script imported it
    size = announced(SIZES)
    if mpi is None or size <= 1 or not mpi.Is_initialized() or mpi.Is_finalized() or mpi.COMM_WORLD.size > 1:
        return ""
    library = mpi.Get_library_version().split(",")[0].split("\n")[0]
    return (f"mpirun started {size} ranks, but each saw itself alone: the library that mpi4py loads ({library}) does not "
            f"belong to that mpirun; pass the right one with --mpirun, or {INSTALL}")


def end(code: int, text: str, remedy: str = "") -> None:
    """Report, then end the job: by MPI_Abort if MPI runs (others may be waiting in it), else by the exit code."""
    sys.stdout.flush()
    remedy = remedy or alone()
    if not write(code, text, remedy):
        named = (f"dprun: rank {announced(RANKS)} of {announced(SIZES)} on {socket.gethostname()} failed with exit code "
                 f"{code}")
        sys.stderr.write("".join(part.rstrip("\n") + "\n" for part in (text, remedy, named) if part))
    sys.stderr.flush()
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized():
        mpi.COMM_WORLD.Abort(code)
    leave(code % 256 or 1)


def write(code: int, text: str, remedy: str) -> bool:
    """Write a report of this rank's failure; False if there is no folder for it (another host). The first one is kept: after
    MPI_Abort, which returns on MPICH (in 2 jobs of 9), os._exit() follows."""
    folder = os.environ.get(DIRECTORY, "")
    if not os.path.isdir(folder):
        return False
    rank = announced(RANKS)
    path = os.path.join(folder, f"{rank}.json")
    if os.path.exists(path):
        return True
    try:
        with open(path + ".part", "w", encoding="utf-8", errors="backslashreplace") as file:
            json.dump({"rank": rank, "time": time.time(), "code": code, "text": text, "remedy": remedy}, file)
        os.replace(path + ".part", path)             # whole, or not there
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
