"""The environment variables that dparallel reads (docs/environment.md). No other module of the package reads any.

They are read when queried; world() and the watchdog's settings keep the first value.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket
import time
from collections.abc import Iterator, Mapping

# Open MPI; MPICH, Intel MPI and srun's PMI-1 and 2 (Hydra tells each node's number too); MVAPICH
SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "MPI_LOCALNRANKS")
REPORTS, RANK_IN_REPORTS = "DPRUN_REPORT_DIR", "DPRUN_RANK"
WATCHED, WATCHED_FOR = "watched", 5.0                # the file that `dprun --top` touches; seconds for which it holds
RANKS_JOB = "DPARALLEL_RANKS_JOB"
NO = ("", "0", "no", "false", "off")


class Environment:
    """The process's environment variables, read at each query."""

    def text(self, name: str) -> str:
        """A variable; "" if it is not set."""
        return os.environ.get(name, "")

    def number(self, name: str) -> int:
        """A variable's integer; -1 if it is not set to one."""
        text = os.environ.get(name, "")
        return int(text) if text.isdigit() else -1

    def __contains__(self, name: str) -> bool:
        return name in os.environ

    @property
    def grace_seconds(self) -> float:
        """DPARALLEL_GRACE_SECONDS; 0 if it is not set. ValueError unless it is a number above 0."""
        text = self.text("DPARALLEL_GRACE_SECONDS")
        with contextlib.suppress(ValueError):
            if not text or 0 < float(text) < math.inf:
                return float(text or 0)
        raise ValueError(f"DPARALLEL_GRACE_SECONDS must be a number of seconds above 0, not {text!r}")

    @property
    def survive_size(self) -> int:
        """DPARALLEL_SURVIVE; 0 if it is not set."""
        return max(0, self.number("DPARALLEL_SURVIVE"))

    @property
    def survive_least(self) -> int:
        """DPARALLEL_SURVIVE_LEAST, 1 if it is not set."""
        return max(1, self.number("DPARALLEL_SURVIVE_LEAST"))

    @property
    def check(self) -> bool:
        """Whether DPARALLEL_CHECK is set: arguments of collectives are compared on every call."""
        return self.text("DPARALLEL_CHECK").lower() not in NO

    @property
    def stall_abort(self) -> bool | None:
        """DPARALLEL_STALL_ABORT, None if it is not set; true in a checked job with a limit."""
        text = self.text("DPARALLEL_STALL_ABORT").lower()
        if text not in NO or (self.check and bool(self.text("DPARALLEL_STALL_SECONDS"))):
            return True
        return False if text else None

    @property
    def report_folder(self) -> str:
        """dprun's folder for reports; "" without dprun, or on another machine than dprun's."""
        folder = self.text(REPORTS)
        return folder if os.path.isdir(folder) else ""

    @property
    def is_watched(self) -> bool:
        """Whether `dprun --top` shows this job now, and dprun runs on this machine."""
        with contextlib.suppress(OSError):
            return time.time() - os.stat(os.path.join(self.text(REPORTS), WATCHED)).st_mtime < WATCHED_FOR
        return False

    @property
    def rank_in_reports(self) -> str:
        """The number that names this rank's files in that folder; "" if there is none."""
        rank = self.text(RANK_IN_REPORTS)
        return rank if rank.isdigit() else ""

    @property
    def launched_size(self) -> int:
        """The number of ranks that an MPI launcher announced; 0 if there was no launcher.

        Under PMIx (PMIX_RANK, set by srun) it is SLURM_NTASKS, or without that PMIX_RANK + 1, a lower bound. SLURM_NTASKS
        alone is no evidence: batch scripts have it, too.
        """
        for name in SIZES:
            if self.text(name).isdigit():
                return int(self.text(name))
        return max(self.number("SLURM_NTASKS"), self.number("PMIX_RANK") + 1) if "PMIX_RANK" in os.environ else 0

    def set_rank(self, rank: int, size: int, local_rank: int, local_size: int) -> None:
        """Update the variables from which torchrun scripts read their rank, where dprun has set them."""
        new = {"RANK": rank, "WORLD_SIZE": size, "ROLE_RANK": rank, "ROLE_WORLD_SIZE": size, "LOCAL_RANK": local_rank,
               "LOCAL_WORLD_SIZE": local_size}
        os.environ.update({name: str(value) for name, value in new.items() if name in os.environ})

    @contextlib.contextmanager
    def transports(self) -> Iterator[None]:
        """While MPI starts, restrict ranks to shared memory, as dprun does, if Open MPI 5 started all of them on this host
        and no transport was chosen: otherwise each would listen on all of the host's addresses."""
        here = self.number("OMPI_WORLD_LOCAL_SIZE") == self.number("OMPI_WORLD_SIZE") > 0
        chosen = any(f"OMPI_MCA_{kind}" in os.environ for kind in ("btl", "pml", "mtl"))
        major = self.text("OMPI_VERSION").partition(".")[0]
        if not here or chosen or not major.isdigit() or int(major) < 5:
            yield
            return
        new = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,sm"}
        os.environ.update(new)
        try:
            yield
        finally:                                     # a program that this one starts may be a job on several hosts
            for name in new:
                del os.environ[name]

    def update(self, variables: Mapping[str, str]) -> None:
        """Set variables, for MPI to read when it starts."""
        os.environ.update(variables)

    def without_pytest(self) -> dict[str, str]:
        """The environment without pytest's own variables, for a child process."""
        return {name: value for name, value in os.environ.items()
                if not name.startswith("PYTEST_XDIST") and name != "PYTEST_CURRENT_TEST"}


environment: Environment = Environment()


def leave_mark(kind: str, text: str = "", rank: str = "") -> None:
    """Write a file about a rank (default: this one) in dprun's report folder, if there is one on this machine.

    world      what this rank waits in before ranks can see each other's states: a process blocked in MPI_Init runs no thread
               of ours, and dprun must know whether the others can still arrive. "" means that the rank has continued.
    mpi        MPI has started here: from now on others can continue without this rank (`dprun --survive`)
    position   where it is, once a second: read if the rank is killed
    top        its progress, once a second: for `dprun --top`
    progress   the step from which a restart would resume
    stopped    the exit code with which all ranks end after a request to stop
    stalled    it has reported a stall
    """
    folder, rank = environment.report_folder, rank or environment.rank_in_reports
    if folder and rank:
        with contextlib.suppress(OSError):
            write_whole(os.path.join(folder, f"{rank}.{kind}"), text)


def write_whole(path: str, text: str) -> None:
    """Write a small file atomically: readers find the old or the new text, even if this rank is killed."""
    with open(path + ".part", "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    os.replace(path + ".part", path)


def host_identity() -> tuple[str, str]:
    """(host name, boot id), which identify this host or container. Processes with equal ones share a clock and memory."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return socket.gethostname(), file.read().strip()
    except OSError:
        return socket.gethostname(), ""
