"""Data-parallel training on NumPy and MPI. Importing it does not start MPI; world() does, under an MPI launcher."""

from .comm import CollectiveError, Communicator, Devices, Handle, RankFailure, run_ranks, world
from .data_parallel import DataParallel, gather, scatter
from .functions import (
    AllGather,
    AllReduce,
    AllToAll,
    Broadcast,
    Collective,
    Gather,
    Reduce,
    ReduceScatter,
    Scatter,
)
from .parallel_apply import parallel_apply
from .replicate import replicate
from .sharding import ZeroRedundancyOptimizer
from .testing import check_adjoint
from .verification import assert_same_everywhere, verify

__version__ = "0.1.0"
__all__ = ["AllGather", "AllReduce", "AllToAll", "Broadcast", "Collective", "CollectiveError", "Communicator",
           "DataParallel", "Devices", "Gather", "Handle", "RankFailure", "Reduce", "ReduceScatter", "Scatter",
           "ZeroRedundancyOptimizer", "assert_same_everywhere", "check_adjoint", "gather", "parallel_apply", "replicate",
           "run_ranks", "scatter", "verify", "world"]
