"""Data-parallel training on NumPy and MPI. Importing it does not start MPI; world() does, under an MPI launcher."""

from .comm import (
    CollectiveError,
    Communicator,
    Devices,
    Handle,
    Hierarchical,
    RankFailure,
    choose_allreduce,
    from_mpi,
    run_ranks,
    stall_limit,
    world,
)
from .data_parallel import DataParallel
from .functions import (
    AllGather,
    AllReduce,
    AllToAll,
    Barrier,
    Broadcast,
    Collective,
    Gather,
    Irecv,
    Isend,
    Permute,
    Recv,
    Reduce,
    ReduceScatter,
    Scan,
    Scatter,
    Send,
    SendRecv,
    Wait,
    join,
)
from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import gather, scatter
from .testing import assert_same_everywhere, check_adjoint

__version__ = "0.1.0"
__all__ = ["AllGather", "AllReduce", "AllToAll", "Barrier", "Broadcast", "Collective", "CollectiveError", "Communicator",
           "DataParallel", "Devices", "Gather", "Handle", "Hierarchical", "Irecv", "Isend", "Permute", "RankFailure",
           "Recv", "Reduce", "ReduceScatter", "Scan", "Scatter", "Send", "SendRecv", "Wait", "assert_same_everywhere",
           "check_adjoint", "choose_allreduce", "from_mpi", "gather", "join", "parallel_apply", "replicate", "run_ranks",
           "scatter", "stall_limit", "world"]
