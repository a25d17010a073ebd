"""world(), the communicator of this job, and the conversion of `comm` arguments: None, mpi4py communicators, local devices.

Importing this module does not start MPI; world() does, under an MPI launcher.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd.base.devices import device
from autograd.spans.spans import MESSAGE, number_of, record_function

from .base import Communicator
from .devices import Devices
from .environment import environment, leave_mark
from .mpi.mpi_types import Intracomm
from .watchdog.call_site import at_site, user_site

CommOrDevices = Communicator | Sequence[int] | int | None    # arguments of comm_or_devices()


def launched_size() -> int:
    """The number of ranks that an MPI launcher announced in the environment; 0 if there was no launcher."""
    return environment.launched_size


class Launcher(NamedTuple):
    """What started this process as one of `size`: its name, a variable that shows it, and the remedy if MPI does not join
    them."""

    name: str
    variable: str
    size: int
    remedy: str


DPRUN = "start with `dprun -n {size} ...`, or with the mpirun of the MPI that mpi4py loads"
OTHER_LAUNCHERS = (       # name, size, a variable of each of its processes, its lowest conclusive value, remedy
    ("srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", 0, "srun --mpi=pmix (or pmi2: what `srun --mpi=list` names and this "
     "MPI was built with), or " + DPRUN),
    ("flux run", "FLUX_JOB_SIZE", "FLUX_TASK_RANK", 0, DPRUN),
    ("mpiexec of PALS", "PALS_LOCAL_SIZE", "PALS_RANKID", 0, DPRUN),
    ("jsrun", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", 0, DPRUN),
    # a batch script has the variables of the first task, too: only those of later tasks show that there are several
    ("pbsdsh", "PBS_NP", "PBS_VNODENUM", 1, DPRUN + " in the batch script"),
    ("blaunch", "LSB_DJOB_NUMPROC", "LSF_PM_TASKID", 2, DPRUN + " in the batch script"),
    ("torchrun, or a program that sets RANK and WORLD_SIZE,", "WORLD_SIZE", "RANK", 0, DPRUN + " instead"))


def launcher() -> Launcher | None:
    """The launcher that started this process as one of several, from the environment; None for a single process.

    MPI's launchers have precedence over variables set earlier. An allocation is no launcher: Slurm sets a step's size only
    for its tasks, and a shell opened by `srun --pty` runs one process at a time.
    """
    announced = launched_size()
    if announced:
        return Launcher("the launcher", "", announced, "mpirun and the library that mpi4py loads belong to different MPIs. "
                        "Start with dprun, or with the mpirun beside this Python; under srun with --mpi=pmix or pmi2, "
                        "whichever this MPI was built with")
    for name, variable, rank, first, remedy in OTHER_LAUNCHERS:
        size = environment.number(variable)
        if size > 1 and environment.number(rank) >= first and (name != "srun" or "SLURM_PTY_PORT" not in environment):
            return Launcher(name, variable, size, remedy.format(size=size))
    return None


class ThisJob:
    """The state of this process in its job. comm: world()'s result, None before its first call. membership: the active
    ranks, in a job that survives failed ranks (a Membership), else None."""

    def __init__(self) -> None:
        self.comm: Communicator | None = None
        self.membership: Any = None
        self.when_joined: list[Callable[[Communicator], object]] = []        # called once, with the first result of world()
        self.when_settled: list[Callable[[int, int], object]] = []   # called with a membership's number and steps


this_job: ThisJob = ThisJob()


def world() -> Communicator:
    """The communicator of all ranks of this job: an MpiComm under an MPI launcher (mpirun, dprun, srun), else Devices(1).

    Every call returns the same object. Under `dprun --survive` it changes after a rank is lost, and a spare's first call
    waits until the spare is needed.
    """
    if this_job.comm is None:
        with record_function("dparallel::world", None, MESSAGE, 0, number_of("communicator of the job", MESSAGE) << 40 | 1):
            this_job.comm = _joined()
        waiting, this_job.when_joined = this_job.when_joined, []
        for function in waiting:
            function(this_job.comm)
    return this_job.comm


Communicator._this_job, Communicator._world = this_job, staticmethod(world)


def _joined() -> Communicator:
    """The communicator of the ranks of this job."""
    started = launcher()
    if started is None:
        return Devices(1)
    workers = sys.modules.get("multiprocessing")     # a worker process has imported it
    process = "" if workers is None else workers.current_process().name
    if process.startswith("DataLoader worker"):
        raise RuntimeError(f"world() in {process}, a process that is not a rank. Call it in the main part of the script, "
                           "under `if __name__ == \"__main__\":`, and pass the dataset what it needs, such as world().rank, "
                           "or use worker threads (multiprocessing_context=None)")
    leave_mark("world", f"world(){at_site(user_site())}")
    alone = "; to train in each process independently pass comm=Devices(1)" if started.variable else ""
    try:
        with environment.transports():               # MPI starts when it is imported
            from .mpi.communicator import MpiComm, mpi_size
            from .mpi.membership import launched_membership
    except (ImportError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        by = f", by {started.name} ({started.variable})" if started.variable else ""
        more = f", and {started.remedy}{alone}" if by else ""
        raise RuntimeError(f"this process was started as one of {started.size} MPI ranks{by}, but MPI can't be loaded "
                           f"({reason}). Run: pip install 'dparallel[mpi]'{more}") from error
    if started.size > 1 and mpi_size() == 1:
        if started.variable:
            raise RuntimeError(f"{started.name} started this process as one of {started.size} ({started.variable}), but MPI "
                               f"sees 1: each would train alone. Remedy: {started.remedy}{alone}")
        raise RuntimeError(f"the launcher announced {started.size} ranks, but MPI sees 1: {started.remedy}")
    leave_mark("mpi")
    this_job.membership = launched_membership()
    comm_world = MpiComm() if this_job.membership is None else this_job.membership.settle()
    leave_mark("world")
    return comm_world


def report_progress(step: int) -> None:
    """Tell `dprun --restarts` the step from which a new job would resume, because the state after it is saved.

    dprun stops restarting after two jobs in a row without progress. One rank or all may call this; it writes a small file.
    """
    leave_mark("progress", str(int(step)))


def from_mpi(comm: Intracomm) -> Communicator:
    """Create a communicator of the ranks of an mpi4py communicator. Collective over these ranks; free it with free().

    The mpi4py communicator is duplicated, so messages on the two never match. For example:
    from_mpi(MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2)).
    """
    if not hasattr(comm, "Dup"):                     # MpiComm checks the rest
        raise TypeError(f"from_mpi() requires an mpi4py communicator, not {type(comm).__name__}")
    from .mpi.communicator import MpiComm
    return MpiComm(comm)


def is_communicator(comm: object) -> bool:
    """Whether comm is a Communicator or an mpi4py communicator."""
    return isinstance(comm, Communicator) or hasattr(comm, "Dup")


def communicator(comm: Communicator | Intracomm | None) -> Communicator:
    """The Communicator for a `comm` argument (None: world()); TypeError for an invalid one.

    An mpi4py communicator gets one of ours over the same ranks, created at its first use (collectively) and freed with it.
    """
    if comm is None:
        return world()
    if isinstance(comm, Communicator):
        return comm
    if isinstance(getattr(comm, "communicator", None), Communicator):        # a dparallel.distributed.ProcessGroup
        return comm.communicator
    if not hasattr(comm, "Dup"):
        raise TypeError(f"comm (or process_group) {comm!r} is neither a Communicator nor an mpi4py communicator")
    from .mpi.communicator import attached_communicator, is_world
    return world() if is_world(comm) else attached_communicator(comm)


def comm_or_devices(comm: CommOrDevices) -> Communicator:
    """The Communicator for a `comm` argument that may also be a number or a list of local devices."""
    local: Any = comm if isinstance(comm, (int, np.integer, list, tuple, range)) else None
    return communicator(comm) if local is None else Devices(local)


def gather_target(count: int, comm: Communicator | int | None, root: int) -> tuple[Communicator, int]:
    """The communicator and root on which results of `count` local ranks are gathered: root of comm, or, as in PyTorch, the
    local device with number comm ("cpu" or -1: the CPU). Default on a single rank: the first device."""
    if isinstance(comm, (int, np.integer)):
        return Devices(count), root if comm == -1 else int(comm)
    if isinstance(comm, (str, device)) and str(comm).partition(":")[0] == "cpu":
        return Devices(count), root
    return (Devices(count), root) if comm is None and count > 1 and world().size == 1 else (communicator(comm), root)
