"""Data-parallel training on NumPy and MPI. Importing it does not start MPI; world() does, under an MPI launcher."""

from .coalesced import broadcast_coalesced, reduce_add, reduce_add_coalesced
from .comm import CollectiveError, Communicator, Devices, Handle, RankFailure, run_ranks, world
from .data_parallel import DataParallel
from .functions import AllGather, AllReduce, AllToAll, Broadcast, Collective, Gather, Pending, Reduce, ReduceScatter, Scatter
from .objects import all_gather_object, broadcast_object_list, gather_object, scatter_object_list
from .parallel_apply import parallel_apply
from .replicate import replicate
from .replicated import CopyToPlaces, ReduceFromPlaces
from .scatter_gather import broadcast, gather, scatter, scatter_kwargs
from .testing import check_adjoint
from .verification import assert_same_everywhere

__version__ = "0.1.0"
__all__ = ["AllGather", "AllReduce", "AllToAll", "Broadcast", "Collective", "CollectiveError", "Communicator",
           "CopyToPlaces", "DataParallel", "Devices", "Gather", "Handle", "Pending", "RankFailure", "Reduce",
           "ReduceFromPlaces", "ReduceScatter", "Scatter", "all_gather_object", "assert_same_everywhere", "broadcast",
           "broadcast_coalesced", "broadcast_object_list", "check_adjoint", "gather", "gather_object", "parallel_apply",
           "reduce_add", "reduce_add_coalesced", "replicate", "run_ranks", "scatter", "scatter_kwargs",
           "scatter_object_list", "world"]
