"""Data-parallel training on NumPy and MPI. Importing it does not start MPI; world() does, under an MPI launcher."""

from . import hooks, metrics
from .bucket_hook import GradBucket
from .clipping import clip_grad_norm_
from .comm import CollectiveError, Communicator, Devices, Handle, RankFailure, run_ranks, world
from .data_parallel import DataParallel, gather, scatter
from .evaluation import evaluate
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
from .local_sgd import PeriodicModelAverager, PostLocalSGDOptimizer
from .parallel_apply import parallel_apply
from .recipes import linear_scaling
from .replicate import replicate
from .sampling import DistributedSampler
from .skipping import Step
from .sync_batch_norm import SyncBatchNorm, convert_sync_batchnorm
from .testing import assert_same_everywhere, check_adjoint

__version__ = "0.1.0"
__all__ = ["AllGather", "AllReduce", "AllToAll", "Broadcast", "Collective", "CollectiveError", "Communicator",
           "DataParallel", "Devices", "DistributedSampler", "Gather", "GradBucket", "Handle", "Join", "JoinHook",
           "Joinable", "PeriodicModelAverager", "PostLocalSGDOptimizer", "RankFailure", "Reduce", "ReduceScatter",
           "Scatter", "Step", "SyncBatchNorm", "assert_same_everywhere", "check_adjoint", "clip_grad_norm_",
           "convert_sync_batchnorm", "evaluate", "gather", "hooks", "linear_scaling", "metrics", "parallel_apply",
           "replicate", "run_ranks", "scatter", "world"]
