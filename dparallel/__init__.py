"""Data-parallel training on NumPy and MPI. Importing it does not start MPI; world() does, under an MPI launcher."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .autograd import __version__ as __version__  # first of all: it says whose `autograd` is here

# isort: split
from autograd.base.docstrings import attach_to_modules as _attach_to_modules

from . import hooks
from .comm import (
    CollectiveError,
    Communicator,
    Devices,
    Handle,
    Hierarchical,
    RankFailure,
    RankLost,
    choose_allreduce,
    from_mpi,
    graceful_exit,
    report_progress,
    run_ranks,
    stall_limit,
    world,
)
from .consistency.verification import assert_same_everywhere, verify
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
from .functions.replicated import CopyToRanks, ReduceFromRanks
from .hooks.bucket_hook import GradBucket
from .hooks.model_averaging import PeriodicModelAverager, PostLocalSGDOptimizer
from .model.data_parallel import DataParallel
from .model.join import Join, Joinable, JoinHook
from .model.lr_scaling import linear_scaling
from .model.skipping import Step
from .model.sync_batch_norm import SyncBatchNorm, convert_sync_batchnorm
from .pytree.coalesced import broadcast_coalesced, reduce_add, reduce_add_coalesced
from .pytree.objects import all_gather_object, broadcast_object_list, gather_object, scatter_object_list
from .pytree.scatter_gather import broadcast, gather, scatter, scatter_kwargs
from .reduction.clipping import clip_grad_norm_
from .replicas.local import data_parallel
from .replicas.parallel_apply import parallel_apply
from .replicas.replicate import replicate
from .sharding import ZeroRedundancyOptimizer

if TYPE_CHECKING:
    from . import checkpoint, distributed, metrics
    from .checkpoint import load_all, save_all
    from .comm.main_rank import main_process, on_main_process, print_once, rank_zero_only
    from .data.batches import GlobalBatchSampler
    from .data.samplers import DistributedSampler
    from .distributed import DistributedDataParallel
    from .evaluation.evaluate import evaluate
    from .evaluation.gathering import gather_for_metrics
    from .integrations.estimators import NeuralNetClassifier, NeuralNetRegressor
    from .integrations.notebook import notebook_launcher
    from .integrations.trials import DistributedTrial
    from .observe.logs import Logger
    from .observe.prediction.predict import predict
    from .observe.timeline import timeline
    from .survival import survive
    from .testing import check_adjoint

_attach_to_modules(*(f"{__name__}.{room}" for room in (              # rooms that are imported by now
    "comm", "consistency", "functions", "hooks", "model", "pytree", "reduction", "replicas", "sharding")))
LAZY = {
    "DistributedDataParallel": ".distributed", "DistributedSampler": ".data.samplers",
    "DistributedTrial": ".integrations.trials", "GlobalBatchSampler": ".data.batches", "Logger": ".observe.logs",
    "NeuralNetClassifier": ".integrations.estimators", "NeuralNetRegressor": ".integrations.estimators",
    "check_adjoint": ".testing", "evaluate": ".evaluation.evaluate",
    "gather_for_metrics": ".evaluation.gathering", "load_all": ".checkpoint", "main_process": ".comm.main_rank",
    "notebook_launcher": ".integrations.notebook", "on_main_process": ".comm.main_rank", "predict": ".prediction",
    "print_once": ".comm.main_rank", "rank_zero_only": ".comm.main_rank", "save_all": ".checkpoint",
    "survive": ".survival", "timeline": ".observe.timeline",
}
MODULES = {"checkpoint", "data", "distributed", "evaluation", "metrics", "observe", "prediction", "survival", "testing"}


if not TYPE_CHECKING:                                # for checkers a name that is not above is an error
    def __getattr__(name: str) -> Any:
        """Import names that plain training does not need when they are first used."""
        if name in MODULES:
            return import_module(f".{name}", __name__)
        if name in LAZY:
            return getattr(import_module(LAZY[name], __name__), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = [
    "AllGather", "AllReduce", "AllToAll", "Barrier", "Broadcast", "Collective", "CollectiveError", "Communicator",
    "CopyToRanks", "DataParallel", "Devices", "DistributedDataParallel", "DistributedSampler", "DistributedTrial",
    "Gather", "GlobalBatchSampler", "GradBucket", "Handle", "Hierarchical", "Irecv", "Isend", "Join", "JoinHook",
    "Joinable", "Logger", "NeuralNetClassifier", "NeuralNetRegressor", "Pending", "PeriodicModelAverager", "Permute",
    "PostLocalSGDOptimizer", "RankFailure", "RankLost", "Recv", "Reduce", "ReduceFromRanks", "ReduceScatter", "Scan",
    "Scatter", "Send", "SendRecv", "Step", "SyncBatchNorm", "Wait", "ZeroRedundancyOptimizer", "all_gather_object",
    "assert_same_everywhere", "broadcast", "broadcast_coalesced", "broadcast_object_list", "check_adjoint", "checkpoint",
    "choose_allreduce", "clip_grad_norm_", "convert_sync_batchnorm", "data_parallel", "distributed", "evaluate",
    "from_mpi", "gather", "gather_for_metrics", "gather_object", "graceful_exit", "hooks", "join", "linear_scaling",
    "load_all", "main_process", "metrics", "notebook_launcher", "on_main_process", "parallel_apply", "predict",
    "print_once", "rank_zero_only", "reduce_add", "reduce_add_coalesced", "replicate", "report_progress", "run_ranks",
    "save_all", "scatter", "scatter_kwargs", "scatter_object_list", "stall_limit", "survive", "timeline", "verify",
    "world"]
