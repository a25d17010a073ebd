"""Data-parallel training on NumPy and MPI. Importing it does not start MPI; world() does, under an MPI launcher."""

from .bucket_hook import GradBucket
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
from .join import Join, Joinable, JoinHook
from .parallel_apply import parallel_apply
from .replicate import replicate
from .skipping import Step
from .testing import assert_same_everywhere, check_adjoint

__version__ = "0.1.0"
__all__ = ["AllGather", "AllReduce", "AllToAll", "Broadcast", "Collective", "CollectiveError", "Communicator",
           "DataParallel", "Devices", "Gather", "GradBucket", "Handle", "Join", "JoinHook", "Joinable",
           "RankFailure", "Reduce", "ReduceScatter", "Scatter", "Step",
           "assert_same_everywhere", "check_adjoint", "gather", "parallel_apply", "replicate", "run_ranks", "scatter",
           "world"]
