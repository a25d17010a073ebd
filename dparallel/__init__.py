"""Data-parallel training on NumPy and MPI. Importing it does not start MPI; world() does, under an MPI launcher."""

from . import hooks
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
from .local_sgd import PeriodicModelAverager, PostLocalSGDOptimizer
from .parallel_apply import parallel_apply
from .replicate import replicate
from .sync_batch_norm import SyncBatchNorm, convert_sync_batchnorm
from .testing import assert_same_everywhere, check_adjoint

__version__ = "0.1.0"
__all__ = ["AllGather", "AllReduce", "AllToAll", "Broadcast", "Collective", "CollectiveError", "Communicator",
           "DataParallel", "Devices", "Gather", "GradBucket", "Handle", "PeriodicModelAverager", "PostLocalSGDOptimizer",
           "RankFailure", "Reduce", "ReduceScatter", "Scatter", "SyncBatchNorm", "assert_same_everywhere", "check_adjoint",
           "convert_sync_batchnorm", "gather", "hooks", "parallel_apply", "replicate", "run_ranks", "scatter", "world"]
