"""Data-parallel training on NumPy and MPI. Importing it does not start MPI; world() does, under an MPI launcher."""

from .coalesced import broadcast_coalesced, reduce_add, reduce_add_coalesced
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
    Pending,
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
from .objects import all_gather_object, broadcast_object_list, gather_object, scatter_object_list
from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import broadcast, gather, scatter, scatter_kwargs
from .testing import assert_same_everywhere, check_adjoint

__version__ = "0.1.0"
__all__ = ["AllGather", "AllReduce", "AllToAll", "Barrier", "Broadcast", "Collective", "CollectiveError", "Communicator",
           "DataParallel", "Devices", "Gather", "Handle", "Hierarchical", "Irecv", "Isend", "Pending", "Permute",
           "RankFailure", "Recv", "Reduce", "ReduceScatter", "Scan", "Scatter", "Send", "SendRecv", "Wait",
           "all_gather_object", "assert_same_everywhere", "broadcast", "broadcast_coalesced", "broadcast_object_list",
           "check_adjoint", "choose_allreduce", "from_mpi", "gather", "gather_object", "join", "parallel_apply",
           "reduce_add", "reduce_add_coalesced", "replicate", "run_ranks", "scatter", "scatter_kwargs",
           "scatter_object_list", "stall_limit", "world"]
