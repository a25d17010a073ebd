"""autocast as users call it: the block, the state of each type of device, and decorators for a Function's two passes."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from ..base import docstrings as _docstrings
from ..base.devices import device
from ..base.dtypes import Absent, TensorDType, of_tensors
from ..base.types import DTypeLike
from ..core.casting import DEFAULTS, cast_to, change_depth, of_device, set_device
from ..core.modes import Modal, modes
from ..core.tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])

MSG_DTYPE = ("In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
             "CPU Autocast only supports dtypes of bfloat16, float16 currently.")


class autocast(Modal):
    """A block, or a decorated function, in which matrix products, convolutions and related operations compute in a lower
    precision.

    device_type: "cpu". Another known one warns that it is off, as in PyTorch on a machine without the device. dtype:
    bfloat16 (the default) or float16; for any other the block warns and is off. enabled=False switches autocast off inside
    a block. cache_enabled: a float32 parameter is cast once in the outermost block, not at each use. What is cast, and
    what to float32, docs/mixed_precision.md lists. Backward passes belong outside: they compute in the dtypes that the
    forward pass recorded, and each parameter's gradient has the parameter's dtype."""

    def __init__(self, device_type: str, dtype: DTypeLike = None, enabled: bool = True,
                 cache_enabled: bool | None = None) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        _, lower = of_device(device_type)
        self.device: str = device(device_type).type
        self.fast_dtype: Any = lower if dtype is None else dtype
        self._cache_enabled = modes.autocast_caching if cache_enabled is None else bool(cache_enabled)
        if enabled and self.device != "cpu":
            warnings.warn(f"User provided device_type of '{self.device}', but {self.device.upper()} is not available. "
                          "Disabling autocast.", UserWarning, stacklevel=_level(self))
            enabled = False
        elif enabled and getattr(self.fast_dtype, "name", None) not in ("bfloat16", "float16"):
            warnings.warn(MSG_DTYPE, UserWarning, stacklevel=_level(self))
            enabled = False
        self._enabled = bool(enabled)
        self._before: list[Any] = []                 # a stack: one object may be entered again inside itself

    def clone(self) -> autocast:
        """Another block with the same settings, which warns no second time."""
        other = autocast(self.device, self.fast_dtype, False, self._cache_enabled)
        other._enabled = self._enabled
        return other

    def __enter__(self) -> autocast:
        before = of_device(self.device), modes.autocast_caching
        set_autocast_dtype(self.device, self.fast_dtype)
        set_device(self.device, self._enabled, self.fast_dtype)
        self._before.append(before)
        modes.autocast_caching = self._cache_enabled
        change_depth(1)
        return self

    def __exit__(self, *exception: object) -> None:
        change_depth(-1)
        (enabled, dtype), modes.autocast_caching = self._before.pop()
        set_device(self.device, enabled, dtype)

    def __call__(self, function: F) -> F:
        """As a decorator."""
        if not callable(function):
            raise TypeError(f"autocast()(func) requires a callable, but got {type(function).__name__}. Did you mean to use "
                            "autocast as a context manager: `with autocast(device_type=...):`?")
        return super().__call__(function)


def _level(block: autocast) -> int:
    """The stacklevel of the constructor's warnings: its caller, also for a subclass within this package."""
    return 2 if type(block) is autocast else 3


# --- the state of this thread ----------------------------------------------------------------------------------------

def is_autocast_available(device_type: str) -> bool:
    """Whether autocast knows this type of device; on the CPU alone it does something here."""
    return device(device_type).type in DEFAULTS


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether this thread has autocast on, for a type of device."""
    return of_device(device_type)[0]


def set_autocast_enabled(*arguments: Any) -> None:
    """set_autocast_enabled(device_type, enabled): switch autocast of this thread on or off; without a device that of "cuda".

    An `autocast` block does this and restores what was before, also after an error.

    Args:
        device_type (str): Such as "cpu". Default: 'cuda'.
        enabled (bool): Whether it is on.

    Raises:
        TypeError: set_autocast_enabled(): argument 'enabled' must be bool, not {type}.

    Example:
        >>> ag.set_autocast_enabled("cpu", True)
        >>> ag.ones(2, 2).mm(ag.ones(2, 2)).dtype
        torch.bfloat16
        >>> ag.set_autocast_enabled("cpu", False)
    """
    device_type, enabled = arguments if len(arguments) == 2 else ("cuda", *arguments)
    if not isinstance(enabled, bool):
        raise TypeError(f"set_autocast_enabled(): argument 'enabled' must be bool, not {type(enabled).__name__}")
    set_device(device_type, enabled, of_device(device_type)[1])


def get_autocast_dtype(device_type: str) -> TensorDType:
    """The dtype that autocast of this thread casts to, on a type of device, or would if it were on."""
    return of_tensors[of_device(device_type)[1]]


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Choose the dtype that autocast of this thread casts to, on a type of device. It does not switch autocast on."""
    if not isinstance(dtype, (TensorDType, np.dtype, Absent)):
        raise TypeError(f"set_autocast_dtype(): argument 'dtype' must be a dtype, not {type(dtype).__name__}")
    set_device(device_type, of_device(device_type)[0], dtype)


def is_autocast_cache_enabled() -> bool:
    """Whether casts of weights are cached within a block."""
    return modes.autocast_caching


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Switch the cache of weights' casts within a block on or off. Without it each use of a weight casts it again."""
    modes.autocast_caching = bool(enabled)


def clear_autocast_cache() -> None:
    """Drop the casts of weights cached so far in this block, and with them their memory; the next use casts again.

    Results are the same with it and without: a weight that was written to is cast again anyway."""
    if modes.autocast_cache is not None:
        modes.autocast_cache.clear()


def autocast_increment_nesting() -> int:
    """Enter a block by hand; the depth that this thread is at then. Casts of weights are cached while it is above 0."""
    return change_depth(1)


def autocast_decrement_nesting() -> int:
    """Leave a block by hand; the depth that this thread is at then. At 0 the cached casts of weights are dropped."""
    return change_depth(-1)


def _of(device_type: str) -> tuple[Any, ...]:
    """The older forms of four functions, with the device in their names."""
    return (functools.partial(is_autocast_enabled, device_type), functools.partial(set_autocast_enabled, device_type),
            functools.partial(get_autocast_dtype, device_type), functools.partial(set_autocast_dtype, device_type))


set_autocast_cpu_dtype: Callable[..., Any]
get_autocast_cpu_dtype: Callable[..., Any]
set_autocast_cpu_enabled: Callable[..., Any]
is_autocast_cpu_enabled: Callable[..., Any]
is_autocast_cpu_enabled, set_autocast_cpu_enabled, get_autocast_cpu_dtype, set_autocast_cpu_dtype = _of("cpu")
set_autocast_ipu_dtype: Callable[..., Any]
get_autocast_ipu_dtype: Callable[..., Any]
set_autocast_ipu_enabled: Callable[..., Any]
is_autocast_ipu_enabled: Callable[..., Any]
is_autocast_ipu_enabled, set_autocast_ipu_enabled, get_autocast_ipu_dtype, set_autocast_ipu_dtype = _of("ipu")
set_autocast_xla_dtype: Callable[..., Any]
get_autocast_xla_dtype: Callable[..., Any]
set_autocast_xla_enabled: Callable[..., Any]
is_autocast_xla_enabled: Callable[..., Any]
is_autocast_xla_enabled, set_autocast_xla_enabled, get_autocast_xla_dtype, set_autocast_xla_dtype = _of("xla")
set_autocast_gpu_dtype: Callable[..., Any]
get_autocast_gpu_dtype: Callable[..., Any]
_, _, get_autocast_gpu_dtype, set_autocast_gpu_dtype = _of("cuda")


# --- a Function of the user's ------------------------------------------------------------------------------------------

def custom_fwd(fwd: Callable[..., Any] | None = None, *, device_type: str,
               cast_inputs: np.dtype[Any] | None = None) -> Callable[..., Any]:
    """Decorates a Function's forward, whose first argument is ctx: its backward, under custom_bwd, has forward's autocast.
    """
    _check_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(*args: Any, **kwargs: Any) -> Any:
        on, args[0]._dtype = of_device(device_type)
        args[0]._fwd_used_autocast = on and cast_inputs is None
        if not on or cast_inputs is None:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(*(_deeply(a, cast_inputs) for a in args), **{k: _deeply(v, cast_inputs) for k, v in kwargs.items()})

    return forward


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Callable[..., Any]:
    """Decorates a Function's backward: it runs with the autocast that forward, under custom_fwd, ran with."""
    _check_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(*args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return backward


def _check_type(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def _deeply(value: Any, dtype: np.dtype[Any]) -> Any:
    """cast_to(), in mappings and nested sequences too."""
    if isinstance(value, Tensor):
        return cast_to(value, dtype)
    if isinstance(value, Mapping):
        return {_deeply(k, dtype): _deeply(v, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_deeply(item, dtype) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


__all__ = ["autocast", "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache", "custom_bwd",
           "custom_fwd", "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype", "get_autocast_ipu_dtype",
           "get_autocast_xla_dtype", "is_autocast_available", "is_autocast_cache_enabled", "is_autocast_cpu_enabled",
           "is_autocast_enabled", "is_autocast_ipu_enabled", "is_autocast_xla_enabled", "set_autocast_cache_enabled",
           "set_autocast_cpu_dtype", "set_autocast_cpu_enabled", "set_autocast_dtype", "set_autocast_enabled",
           "set_autocast_gpu_dtype", "set_autocast_ipu_dtype", "set_autocast_ipu_enabled", "set_autocast_xla_dtype",
           "set_autocast_xla_enabled"]

_docstrings.complete(globals(), "amp", "amp.autocast_mode.")
