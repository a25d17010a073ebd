"""Data-parallel training on NumPy and MPI. Importing it does not start MPI; world() does, under an MPI launcher."""

from . import distributed, hooks, metrics
from .batches import GlobalBatchSampler
from .bucket_hook import GradBucket
from .clipping import clip_grad_norm_
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
from .distributed import DistributedDataParallel
from .evaluation import evaluate
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
from .join import Join, Joinable, JoinHook
from .local import data_parallel
from .local_sgd import PeriodicModelAverager, PostLocalSGDOptimizer
from .objects import all_gather_object, broadcast_object_list, gather_object, scatter_object_list
from .parallel_apply import parallel_apply
from .recipes import linear_scaling
from .replicate import replicate
from .replicated import CopyToPlaces, ReduceFromPlaces
from .sampling import DistributedSampler
from .scatter_gather import broadcast, gather, scatter, scatter_kwargs
from .sharding import ZeroRedundancyOptimizer
from .skipping import Step
from .sync_batch_norm import SyncBatchNorm, convert_sync_batchnorm
from .testing import check_adjoint
from .verification import assert_same_everywhere, verify

__version__ = "0.1.0"
__all__ = [
    "AllGather",
    "AllReduce",
    "AllToAll",
    "Barrier",
    "Broadcast",
    "Collective",
    "CollectiveError",
    "Communicator",
    "CopyToPlaces",
    "DataParallel",
    "Devices",
    "DistributedDataParallel",
    "DistributedSampler",
    "Gather",
    "GlobalBatchSampler",
    "GradBucket",
    "Handle",
    "Hierarchical",
    "Irecv",
    "Isend",
    "Join",
    "JoinHook",
    "Joinable",
    "Pending",
    "PeriodicModelAverager",
    "Permute",
    "PostLocalSGDOptimizer",
    "RankFailure",
    "Recv",
    "Reduce",
    "ReduceFromPlaces",
    "ReduceScatter",
    "Scan",
    "Scatter",
    "Send",
    "SendRecv",
    "Step",
    "SyncBatchNorm",
    "Wait",
    "ZeroRedundancyOptimizer",
    "all_gather_object",
    "assert_same_everywhere",
    "broadcast",
    "broadcast_coalesced",
    "broadcast_object_list",
    "check_adjoint",
    "choose_allreduce",
    "clip_grad_norm_",
    "convert_sync_batchnorm",
    "data_parallel",
    "distributed",
    "evaluate",
    "from_mpi",
    "gather",
    "gather_object",
    "hooks",
    "join",
    "linear_scaling",
    "metrics",
    "parallel_apply",
    "reduce_add",
    "reduce_add_coalesced",
    "replicate",
    "run_ranks",
    "scatter",
    "scatter_kwargs",
    "scatter_object_list",
    "stall_limit",
    "verify",
    "world",
]
