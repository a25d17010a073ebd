"""In-place operations: compute the new value as a new tensor, write it into the old memory, and take over its origin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .function import MSG_LEAF_IN_PLACE
from .graph import shared_counter
from .mode import modes
from .ops.index import IndexPut, plain
from .tensor import Tensor

MSG_VIEW = ("{name}: writing in place into a view of a tensor that requires grad is not implemented while recording; "
            "use the out-of-place form, or write inside no_grad()")


def write(x: Tensor, value: Tensor, name: str) -> Tensor:
    """Put `value` into x's memory; x goes on from value's node."""
    if value.array.shape != x.array.shape:
        raise RuntimeError(f"{name}: output with shape {list(x.shape)} doesn't match the broadcast shape "
                           f"{list(value.shape)}")
    if not np.can_cast(value.array.dtype, x.array.dtype, "same_kind"):
        raise RuntimeError(f"{name}: result type {value.dtype} can't be cast to the desired output type {x.dtype}")
    check_writable(x, value.tracked, name)
    np.copyto(x.array, value.array, casting="same_kind")
    counted(x)
    if value.tracked and value is not x:
        x.edge, x.tracked = value.edge, True
    return x


def check_writable(x: Tensor, tracked: bool, name: str) -> None:
    """Refuse writes that would lose a gradient."""
    if not modes.recording:
        return
    if x.tracked and x.edge is None:
        raise RuntimeError(MSG_LEAF_IN_PLACE)
    if x.base is not None and (tracked or x.tracked):
        if x.base.edge is None and x.base.tracked:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
        raise NotImplementedError(MSG_VIEW.format(name=name))


def counted(x: Tensor) -> None:
    """Count one write to x's memory."""
    shared_counter(x).value += 1


def in_place(operation: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """The in-place form of an operation: x.add_(y) for add(x, y)."""

    def method(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        check_writable(x, False, name)
        value = operation(x, *args, **kwargs)
        if value is NotImplemented:
            raise TypeError(f"{name}: unsupported operand {', '.join(type(a).__name__ for a in args)}")
        return write(x, value, name)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{name[:-1]}, written into this tensor's memory. Returns self."
    return method


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """x[index] = value, recorded if value or x is tracked."""
    index = plain(index)
    tracked = modes.recording and (x.tracked or (isinstance(value, Tensor) and value.tracked))
    check_writable(x, tracked, "index assignment")
    if not tracked:
        x.array[index] = value.array if isinstance(value, Tensor) else value
        counted(x)
        return
    value = value if isinstance(value, Tensor) else np.asarray(value, x.array.dtype)
    write(x, IndexPut.apply(x, value, index=index), "index assignment")


def copy_(x: Tensor, source: Any) -> Tensor:
    """Write `source` (broadcast, cast) into this tensor's memory. Returns self."""
    setitem(x, ..., source)
    return x


def fill_(x: Tensor, value: Any) -> Tensor:
    """Write one number everywhere. Returns self."""
    setitem(x, ..., value)
    return x


def zero_(x: Tensor) -> Tensor:
    """Write zeros. Returns self."""
    return fill_(x, 0)


def detach_(x: Tensor) -> Tensor:
    """Cut this tensor off from its graph. Returns self."""
    if x.base is not None:
        raise RuntimeError("Can't detach views in-place. Use detach() instead")
    x.edge, x.tracked = None, False
    return x
