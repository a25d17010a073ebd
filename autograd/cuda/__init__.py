"""CUDA, which is not here: what scripts ask before they use it, and the names of its tensors' types.

May import: base, tensor_api, amp. Read first: this page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..base import docstrings as _docstrings
from ..base.types import DeviceLike
from ..tensor_api.tensor_types import TensorType, types
from . import amp


class OutOfMemoryError(RuntimeError):
    """What scripts catch to try again with a smaller batch. Never raised: where memory ends, Python raises MemoryError."""


def is_available() -> bool:
    """False: tensors live in the CPU's memory."""
    return False


def is_initialized() -> bool:
    """False: there is no CUDA context."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: there is no GPU that could."""
    return False


def is_current_stream_capturing() -> bool:
    """False: nothing is captured into a CUDA graph."""
    return False


def device_count() -> int:
    """0, since there is no GPU."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing to seed; accepted, as PyTorch does where there is no GPU."""


def manual_seed_all(seed: int) -> None:
    """Nothing to seed; accepted."""


def empty_cache() -> None:
    """Nothing to empty; accepted."""


def memory_allocated(device: DeviceLike = None) -> int:
    """0 bytes: nothing is allocated on a GPU."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


if not TYPE_CHECKING:                                # for checkers a name that is not there is an error
    def __getattr__(name: str) -> Any:
        """The types, such as cuda.FloatTensor, which can be named only; and what needs a GPU: AssertionError when called."""
        if name in TYPES:
            return TYPES[name]
        if name not in ABSENT:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

        def absent(*args: Any, **kwargs: Any) -> None:
            raise AssertionError(f"cuda.{name}(): there is no GPU; tensors live in the CPU's memory")

        value = type(name, (), {"__new__": absent, "__module__": __name__}) if name[0].isupper() else absent
        return globals().setdefault(name, value)     # one class for isinstance() and annotations


TYPES = types("torch.cuda")
ABSENT = ("CUDAGraph", "Event", "ExternalStream", "Stream", "StreamContext", "can_device_access_peer",
          "current_blas_handle", "current_device", "current_stream", "default_stream", "device", "device_of",
          "get_arch_list", "get_device_capability", "get_device_name", "get_device_properties", "get_rng_state",
          "graph", "init", "ipc_collect", "list_gpu_processes", "max_memory_cached", "mem_get_info", "memory_cached",
          "memory_snapshot", "memory_stats", "memory_summary", "reset_accumulated_memory_stats",
          "reset_max_memory_allocated", "reset_max_memory_cached", "reset_peak_memory_stats", "seed", "seed_all",
          "set_device", "set_per_process_memory_fraction", "set_rng_state", "stream", "synchronize", "utilization")
if TYPE_CHECKING:
    CUDAGraph: type[Any]
    Event: type[Any]
    ExternalStream: type[Any]
    Stream: type[Any]
    StreamContext: type[Any]
    can_device_access_peer: Callable[..., Any]
    current_blas_handle: Callable[..., Any]
    current_device: Callable[..., Any]
    current_stream: Callable[..., Any]
    default_stream: Callable[..., Any]
    device: Callable[..., Any]
    device_of: Callable[..., Any]
    get_arch_list: Callable[..., Any]
    get_device_capability: Callable[..., Any]
    get_device_name: Callable[..., Any]
    get_device_properties: Callable[..., Any]
    get_rng_state: Callable[..., Any]
    graph: Callable[..., Any]
    init: Callable[..., Any]
    ipc_collect: Callable[..., Any]
    list_gpu_processes: Callable[..., Any]
    max_memory_cached: Callable[..., Any]
    mem_get_info: Callable[..., Any]
    memory_cached: Callable[..., Any]
    memory_snapshot: Callable[..., Any]
    memory_stats: Callable[..., Any]
    memory_summary: Callable[..., Any]
    reset_accumulated_memory_stats: Callable[..., Any]
    reset_max_memory_allocated: Callable[..., Any]
    reset_max_memory_cached: Callable[..., Any]
    reset_peak_memory_stats: Callable[..., Any]
    seed: Callable[..., Any]
    seed_all: Callable[..., Any]
    set_device: Callable[..., Any]
    set_per_process_memory_fraction: Callable[..., Any]
    set_rng_state: Callable[..., Any]
    stream: Callable[..., Any]
    synchronize: Callable[..., Any]
    utilization: Callable[..., Any]
    BoolTensor: TensorType
    ByteTensor: TensorType
    CharTensor: TensorType
    DoubleTensor: TensorType
    FloatTensor: TensorType
    HalfTensor: TensorType
    IntTensor: TensorType
    LongTensor: TensorType
    ShortTensor: TensorType
__all__ = ["OutOfMemoryError", "amp", "device_count", "empty_cache", "is_available", "is_bf16_supported",
           "is_current_stream_capturing", "is_initialized", "manual_seed", "manual_seed_all", "max_memory_allocated",
           "max_memory_reserved", "memory_allocated", "memory_reserved"]

_docstrings.complete(globals(), "backends", "cuda.")
