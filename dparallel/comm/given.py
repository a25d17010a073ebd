"""What a `comm` argument stands for: world() by default, an mpi4py communicator, local devices. Importing it does not start
MPI; world() does, under an MPI launcher."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .base import Communicator
from .devices import Devices

Places = Communicator | Sequence[int] | int | None    # what places_of() takes

# Where launchers tell the number of ranks: Open MPI; MPICH, Intel MPI and srun's PMI-1 and 2 (Hydra tells each node's
# number too); MVAPICH.
SIZE_VARIABLES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "MPI_LOCALNRANKS")


def launched_size() -> int:
    """The number of ranks that an MPI launcher announced in the environment; 0 if there was no launcher.

    Read are OMPI_COMM_WORLD_SIZE, PMI_SIZE, MV2_COMM_WORLD_SIZE and MPI_LOCALNRANKS; under PMIx (PMIX_RANK, as srun
    sets it) SLURM_NTASKS, or 1 where there is none. SLURM_NTASKS alone is no sign: it is set in batch scripts too.
    """
    for name in SIZE_VARIABLES:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return int(os.environ.get("SLURM_NTASKS", 1)) if "PMIX_RANK" in os.environ else 0


@functools.cache
def world() -> Communicator:
    """All ranks of this job: an MpiComm under an MPI launcher (mpirun, dprun, srun), else Devices(1) without MPI.

    RuntimeError with the remedy if MPI can't be loaded, or is another one than the launcher's.
    """
    announced = launched_size()
    if not announced:
        return Devices(1)
    try:
        from .mpi import MpiComm, mpi_size
    except (ImportError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise RuntimeError(f"this process was started as one of {announced} MPI ranks, but MPI can't be loaded ({reason}). "
                           "Run: pip install 'dparallel[mpi]'") from error
    if announced > 1 and mpi_size() == 1:
        raise RuntimeError(f"the launcher announced {announced} ranks, but MPI sees 1: mpirun and the MPI library that "
                           "mpi4py loads are of different MPIs. Start with dprun, or with the mpirun beside this Python")
    return MpiComm()


def from_mpi(comm: Any) -> Communicator:
    """A communicator of the ranks of an mpi4py communicator (MPI.Intracomm), which is duplicated: its own messages never
    meet ours. Collective over these ranks. To be freed by free().

    >>> from mpi4py import MPI
    >>> comm = from_mpi(MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2))
    """
    if not hasattr(comm, "Dup"):                     # other mistakes are told by MpiComm
        raise TypeError(f"from_mpi() takes an mpi4py communicator, not {type(comm).__name__}")
    from .mpi import MpiComm
    return MpiComm(comm)


def communicator(comm: Any) -> Communicator:
    """What a `comm` argument stands for: None is world(); an mpi4py communicator is one of ours of the same ranks, made
    once, at its first use (collectively), and freed with it."""
    if comm is None:
        return world()
    if isinstance(comm, Communicator):
        return comm
    if not hasattr(comm, "Dup"):
        raise TypeError(f"comm (or process_group) {comm!r} is neither a Communicator nor an mpi4py communicator")
    from .mpi import adopted, is_world
    return world() if is_world(comm) else adopted(comm)


def places_of(comm: Any) -> Communicator:
    """A communicator, a number or a list of local devices, or None for world(), as a communicator."""
    local: Any = comm if isinstance(comm, (int, np.integer, list, tuple, range)) else None
    return communicator(comm) if local is None else Devices(local)


def gathering_place(count: int, comm: Any, root: int) -> tuple[Communicator, int]:
    """Where what `count` places held here bring comes together: root of comm, or, as in PyTorch, the local device whose
    number comm is, one of `count`; without one, where there is a single rank, the first."""
    if isinstance(comm, (int, np.integer)):
        return Devices(count), int(comm)
    return (Devices(count), root) if comm is None and count > 1 and world().size == 1 else (communicator(comm), root)
