"""Autocast: while it is enabled in a thread, listed functions cast their floating-point operands first.

`modes.autocast` is the dtype, None while autocast is off; the context managers are in amp/autocast_mode.py. There are two
ways to take part. The decorators `casts_lower` and `casts_float32` cast the operands and run the function with autocast off.
Frequently called functions (linear, matmul, cat, stack), and those that cast only in some cases, test `if casting.used:` and
call lower(), raised() or widest(). Arrays, the arguments of derivative rules, are never cast. Casts are recorded operations,
so derivatives of any order have the operand's own dtype.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from ..base.devices import device
from ..base.dtypes import as_dtype, bfloat16_or_name, category, float16, float32
from .modes import DUAL, GRAD, modes
from .operation import Cast
from .tensor import Parameter, Tensor

F = TypeVar("F", bound=Callable[..., Any])


class Casting:
    """Whether this process has ever used autocast: hot functions test `if casting.used:` before their thread's state."""

    used = False


casting: Casting = Casting()
DEFAULTS: dict[str, Any] = {                         # the dtype of each device type; None: bfloat16
    "cpu": None, "cuda": float16, "mtia": float16, "maia": None, "xpu": float16, "ipu": float16, "hpu": None, "xla": None,
    "privateuseone": float16, "mps": float16}


# --- the state of this thread ----------------------------------------------------------------------------------------

def of_device(device_type: str) -> tuple[bool, Any]:
    """(whether autocast is on, its dtype) for a device type. RuntimeError if the device type has no autocast."""
    name = device(device_type).type
    if name not in DEFAULTS:
        raise RuntimeError(f"device type '{name}' has no autocast; those that have are {', '.join(DEFAULTS)}")
    settings = modes.autocast_settings.get(name)
    return (False, DEFAULTS[name] or bfloat16_or_name()) if settings is None else settings


def set_device(device_type: str, enabled: bool, dtype: Any) -> None:
    """Set both. Only the CPU's setting has an effect."""
    of_device(device_type)
    name = device(device_type).type
    acts = as_dtype(dtype) if enabled and name == "cpu" else None     # without ml_dtypes: the error that names it
    modes.autocast_settings = {**modes.autocast_settings, name: (enabled, dtype)}
    if name == "cpu":
        modes.autocast = acts
        casting.used = casting.used or enabled


def change_depth(change: int) -> int:
    """Enter (1) or leave (-1) a block of this thread. Returns the number of enclosing blocks. Casts of weights are cached
    until the outermost block ends."""
    modes.autocast_depth += change
    if modes.autocast_depth <= 0 or modes.autocast_cache is None:
        modes.autocast_cache = {} if modes.autocast_depth > 0 else None
    return modes.autocast_depth


@contextmanager
def suspended() -> Iterator[None]:
    """A block in which autocast is off in this thread."""
    before, modes.autocast = modes.autocast, None
    try:
        yield
    finally:
        modes.autocast = before


# --- casts --------------------------------------------------------------------------------------------------------------

def eligible(x: Any) -> bool:
    """Whether autocast may cast x: a real floating-point Tensor that is not float64."""
    return isinstance(x, Tensor) and category(x.dtype) == 2 and x.dtype.itemsize < 8


def cast_to(x: Any, dtype: Any) -> Any:
    """Cast x, or the items of a list or tuple x, to `dtype` if they are eligible."""
    if type(x) in (list, tuple):
        return type(x)(cast_to(item, dtype) for item in x)
    return Cast.apply(x, dtype=dtype) if eligible(x) and x.dtype != dtype else x


def lowered(x: Any, dtype: Any) -> Any:
    """cast_to(x, dtype), but a weight (a float32 leaf that requires grad) is cast once in an outermost block.

    A weight that was written to, or got other memory, is cast again. The cast is not cached if later uses need another one:
    without a graph, with tangents, or in a lane, which has its own nodes.
    """
    if type(x) in (list, tuple):
        return type(x)(lowered(item, dtype) for item in x)
    if not eligible(x) or x.dtype == dtype:
        return x
    cache = modes.autocast_cache
    if (cache is None or not modes.autocast_caching or x.edge is not None or x.base is not None or not x.tracked & GRAD
            or x.array.dtype is not float32 or type(x) not in (Tensor, Parameter) or modes.lane is not None
            or modes.recording & (GRAD | DUAL) != GRAD):
        return Cast.apply(x, dtype=dtype)
    version = 0 if x.counter is None else x.counter.saved()
    key = id(x), dtype
    found = cache.get(key)                           # an entry holds its weight, so the id stays unique
    if found is None or found[1] is not x.array or found[2] != version:
        found = cache[key] = x, x.array, version, Cast.apply(x, dtype=dtype)
    return found[3]


def lower(*operands: Any) -> tuple[Any, ...]:
    """Cast the operands of a function that computes in autocast's dtype."""
    dtype = modes.autocast
    return operands if dtype is None else tuple([lowered(x, dtype) for x in operands])


def raised(*operands: Any) -> tuple[Any, ...]:
    """Cast the operands of a function that computes in float32 under autocast."""
    return operands if modes.autocast is None else tuple([cast_to(x, float32) for x in operands])


def widest(operands: Sequence[Any]) -> Sequence[Any]:
    """Cast the operands of a function that requires a common dtype: float32 if an operand has it, else autocast's.
    RuntimeError if two operands have different 16-bit floats."""
    chosen = modes.autocast
    if chosen is None:
        return operands
    for x in operands:
        if eligible(x) and x.dtype != chosen and chosen != float32:
            if x.dtype != float32:
                raise RuntimeError(f"autocast to {chosen} met an operand of {x.dtype}: bring it to {chosen} or float32")
            chosen = float32
    return [cast_to(x, chosen) for x in operands]


def casts_lower(function: F) -> F:
    """Decorate a function whose operands autocast casts to its dtype, unless `out=` is passed."""

    @functools.wraps(function)
    def casting_lower(*args: Any, **kwargs: Any) -> Any:
        if not casting or (dtype := modes.autocast) is None:
            return function(*args, **kwargs)
        if kwargs.get("out") is None:
            args, kwargs = lowered(args, dtype), {name: lowered(value, dtype) for name, value in kwargs.items()}
        with suspended():
            return function(*args, **kwargs)

    return casting_lower  # type: ignore[return-value]


def casts_float32(function: F) -> F:
    """Decorate a function whose operands autocast casts to float32, unless `out=` is passed."""

    @functools.wraps(function)
    def casting_float32(*args: Any, **kwargs: Any) -> Any:
        if not casting.used or modes.autocast is None:
            return function(*args, **kwargs)
        if kwargs.get("out") is None:
            args, kwargs = cast_to(args, float32), {name: cast_to(value, float32) for name, value in kwargs.items()}
        with suspended():
            return function(*args, **kwargs)

    return casting_float32  # type: ignore[return-value]
