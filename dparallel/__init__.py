"""Data-parallel training on NumPy and MPI. Importing it does not start MPI; world() does, under an MPI launcher."""

from .batches import GlobalBatchSampler
from .bucket_hook import GradBucket
from .comm import CollectiveError, Communicator, Devices, Handle, RankFailure, run_ranks, world
from .data_parallel import DataParallel
from .functions import AllGather, AllReduce, AllToAll, Broadcast, Collective, Gather, Reduce, ReduceScatter, Scatter
from .local import data_parallel
from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import gather, scatter
from .testing import assert_same_everywhere, check_adjoint

__version__ = "0.1.0"
__all__ = [
    "AllGather",
    "AllReduce",
    "AllToAll",
    "Broadcast",
    "Collective",
    "CollectiveError",
    "Communicator",
    "DataParallel",
    "Devices",
    "Gather",
    "GlobalBatchSampler",
    "GradBucket",
    "Handle",
    "RankFailure",
    "Reduce",
    "ReduceScatter",
    "Scatter",
    "assert_same_everywhere",
    "check_adjoint",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "run_ranks",
    "scatter",
    "world",
]
