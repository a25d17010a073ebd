"""torch.distributed's names over MPI: `import dparallel.distributed as dist`, docs/distributed.md.

Importing it does not start MPI; init_process_group() does, where there are several ranks.

May import: comm, functions, hooks, model, pytree, replicas, sharding. Read first: groups.py.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from autograd.base.docstrings import attach_to_modules

from ..comm.environment import environment
from ..hooks.bucket_hook import GradBucket
from . import algorithms, elastic, nn, optim
from .arguments import PremulSum, ReduceOp, reduce_op
from .barriers import barrier, coalescing_manager, monitored_barrier
from .collectives import (
    all_gather,
    all_gather_coalesced,
    all_gather_into_tensor,
    all_reduce,
    all_reduce_coalesced,
    all_to_all,
    all_to_all_single,
    broadcast,
    gather,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
)
from .groups import (
    Backend,
    GroupMember,
    ProcessGroup,
    default_group,
    default_pg_timeout,
    destroy_process_group,
    get_backend,
    get_backend_config,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_pg_count,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_available,
    is_initialized,
)
from .parallel import DistributedDataParallel
from .point_to_point import (
    P2POp,
    all_gather_object,
    batch_isend_irecv,
    broadcast_object_list,
    gather_object,
    irecv,
    isend,
    recv,
    recv_object_list,
    scatter_object_list,
    send,
    send_object_list,
)
from .stores import (
    DistBackendError,
    DistError,
    DistNetworkError,
    DistStoreError,
    FileStore,
    HashStore,
    PrefixStore,
    Store,
)
from .subgroups import new_group, new_subgroups, new_subgroups_by_enumeration, split_group
from .tcp_store import TCPStore
from .work import Future, Work

if TYPE_CHECKING:
    from types import ModuleType

_make_nccl_premul_sum, _coalescing_manager = PremulSum, coalescing_manager       # PyTorch's names
_get_default_group = default_group
all_gather_single, reduce_scatter_single = all_gather_into_tensor, reduce_scatter_tensor        # PyTorch 2.13's

distributed_c10d: ModuleType = sys.modules[__name__]  # the module of PyTorch's in which these names are defined
sys.modules[f"{__name__}.distributed_c10d"] = distributed_c10d


def is_mpi_available() -> bool:
    """True: all communication uses MPI."""
    return True


def is_gloo_available() -> bool:
    """True: init_process_group("gloo") works, with MPI."""
    return True


def is_nccl_available() -> bool:
    """False: there are no GPUs. init_process_group("nccl") nevertheless works, with MPI."""
    return False


is_ucc_available = is_xccl_available = is_nccl_available


def is_backend_available(backend: str) -> bool:
    """Whether a backend is available: "mpi" and "gloo" are."""
    return str(backend).lower() in ("mpi", "gloo")


def get_default_backend_for_device(device: Any) -> str:
    """The backend that PyTorch's init_process_group() would choose: "gloo" for the CPU. Here every backend uses MPI."""
    if device is not None and str(device).split(":")[0] != "cpu":
        raise ValueError(f"Default backend not registered for device: {device}")
    return "gloo"


def is_torchelastic_launched() -> bool:
    """Whether torchrun has started this process: TORCHELASTIC_RUN_ID is in the environment."""
    return "TORCHELASTIC_RUN_ID" in environment


def supports_complex(reduceOp: ReduceOp) -> bool:
    """Whether complex numbers can be reduced by this operation: SUM, AVG, PRODUCT and PREMUL_SUM."""
    return reduceOp in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT, ReduceOp.PREMUL_SUM)


attach_to_modules(__name__)
__all__ = [
    "Backend", "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "DistributedDataParallel",
    "FileStore", "Future", "GradBucket", "GroupMember", "HashStore", "P2POp", "PrefixStore", "ProcessGroup",
    "ReduceOp", "Store", "TCPStore", "Work", "_coalescing_manager", "_get_default_group", "_make_nccl_premul_sum",
    "algorithms", "all_gather", "all_gather_coalesced", "all_gather_into_tensor", "all_gather_object",
    "all_gather_single", "all_reduce", "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier",
    "batch_isend_irecv", "broadcast", "broadcast_object_list", "default_pg_timeout", "destroy_process_group",
    "distributed_c10d", "elastic", "gather", "gather_object", "get_backend", "get_backend_config",
    "get_default_backend_for_device", "get_global_rank",
    "get_group_rank", "get_node_local_rank", "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size",
    "group", "init_process_group", "irecv", "is_available", "is_backend_available", "is_gloo_available",
    "is_initialized", "is_mpi_available", "is_nccl_available", "is_torchelastic_launched", "is_ucc_available",
    "is_xccl_available", "isend", "monitored_barrier", "new_group", "new_subgroups", "new_subgroups_by_enumeration",
    "nn", "optim", "recv", "recv_object_list", "reduce", "reduce_op", "reduce_scatter", "reduce_scatter_single",
    "reduce_scatter_tensor", "scatter", "scatter_object_list", "send", "send_object_list", "split_group",
    "supports_complex"]
