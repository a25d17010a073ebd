"""In-place operations: the new value is computed as a new tensor and written into the old memory; views.py moves the
graph on.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .dtypes import can_cast
from .graph import shared_counter
from .mode import GRAD, modes
from .operation import Operation
from .ops.cast import cast
from .ops.index import IndexPut, assign, is_basic
from .ops.index import getitem as look
from .ops.shape import expand
from .tensor import Tensor, result
from .traced import here, tracers
from .views import check_writable, take_over, written


class Written(Operation, name="Copy"):
    """The values written to x, which gets no more gradient: that of what is gone is zero."""

    mixes = True

    @staticmethod
    def forward(ctx: Any, x: Any, value: Any) -> Any:
        """The values."""
        ctx.shape, ctx.dtype = x.shape, x.dtype
        return value

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Zeros for x, all of it for the values."""
        return np.zeros(ctx.shape, ctx.dtype) if g.__class__ is np.ndarray else result(np.zeros(ctx.shape, ctx.dtype)), g


def write(x: Tensor, value: Tensor, name: str, old: Tensor | None = None, passing: bool = False) -> Tensor:
    """Put `value` into x's memory; x goes on from where value comes from. `old` stands for x as it was."""
    if value.array.shape != x.array.shape:
        raise RuntimeError(f"{name}: output with shape {list(x.shape)} doesn't match the broadcast shape "
                           f"{list(value.shape)}")
    if value.array.dtype != x.array.dtype:
        if not can_cast(value.array.dtype, x.array.dtype):
            raise RuntimeError(f"{name}: result type {value.dtype} can't be cast to the desired output type {x.dtype}")
        value = cast(value, x.array.dtype)
    kind = (x.tracked | value.tracked) & modes.recording
    check_writable(x, kind)
    if kind and not value.tracked & kind and not only_base(x):
        value = Written.apply(x if old is None else old, value)
    if tracers and here.tracer is not None:          # before: a trace looks at what was there
        here.tracer.wrote(x.array, value.array)
    np.copyto(x.array, value.array)
    written(x, value if kind else None, passing)
    return x


def only_base(x: Tensor) -> bool:
    """Whether x is a view, and only gradients count: CopySlices says what x was, and that it is gone. To send zeros there by
    way of x as well would take as long as the base is large, for each write."""
    return x.base is not None and modes.recording == GRAD


def in_place(operation: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """The in-place form of an operation: x.add_(y) for add(x, y)."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        check_writable(self, 0)
        if not (self.tracked & modes.recording or any(isinstance(a, Tensor) and a.tracked for a in args)):
            return write(self, computed(operation, self, args, kwargs, name), name)
        old = stand_in(self)
        value = computed(operation, old, args, kwargs, name)
        if old.counter is not None:                  # views of the old memory were made on the way: look at a copy
            old = stand_in(self)
            old.array = self.array.copy()
            value = computed(operation, old, args, kwargs, name)
            return write(self, value, name, old)
        watch = weakref.ref(old)
        del old
        saved = watch()
        if saved is not None:                        # its value is needed for backward, and the memory is not its own
            saved.array = self.array.copy()
        return write(self, value, name, saved)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{name[:-1]}, written into this tensor's memory. Returns self."
    return method


def stand_in(x: Tensor) -> Tensor:
    """x as it is before a write: the same memory (a copy where hooks take what is saved: they may keep it) and origin,
    nobody's view.
    """
    old = result(x.array.copy() if modes.saving else x.array)
    old.edge, old.tracked, old.dual = x.edge, x.tracked, x.dual
    return old


def computed(operation: Callable[..., Any], x: Tensor, args: Any, kwargs: Any, name: str) -> Tensor:
    """What the operation makes of x; TypeError if it does not take the arguments."""
    value = operation(x, *args, **kwargs)
    if value is NotImplemented:
        raise TypeError(f"{name}: unsupported operand {', '.join(type(a).__name__ for a in args)}")
    return value                                     # type: ignore[no-any-return]


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """x[index] = value, recorded if value or x is tracked."""
    kind = modes.recording & (x.tracked | (value.tracked if isinstance(value, Tensor) else 0))
    basic = is_basic(index, x.array.shape)
    check_writable(x, kind, whole=not basic)
    if basic and (kind or 0 in x.array.strides):
        _copy(look(x, index), value, True)
    elif not kind:
        source = value.array if isinstance(value, Tensor) else value
        if tracers and here.tracer is not None:
            here.tracer.assigned(x.array, index, source)
        assign(x.array, index, source)
        written(x, None)
    else:
        value = value if isinstance(value, Tensor) else np.asarray(value, x.array.dtype)
        write(x, IndexPut.apply(stand_in(x), value, index=index), "index assignment")


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write `src` (broadcast, cast) into this tensor's memory. Returns self."""
    return _copy(self, src, False)


def _copy(self: Tensor, src: Any, passing: bool) -> Tensor:
    check_writable(self, src.tracked if isinstance(src, Tensor) else 0)
    if not isinstance(src, Tensor):
        src = result(np.asarray(src, self.array.dtype))
    source = src
    while source.ndim > self.ndim and source.shape[0] == 1:
        source = source[0]
    if source.shape != self.shape:
        source = expand(source, self.shape)
    source = cast(source, self.array.dtype)
    kind = modes.recording & (self.tracked | source.tracked)
    if not kind:
        if tracers and here.tracer is not None:
            here.tracer.wrote(self.array, source.array)
        np.copyto(self.array, source.array)
        written(self, None)
        return self
    return write(self, source if only_base(self) else Written.apply(stand_in(self), source), "copy_", None, passing)


def fill_(self: Tensor, value: Any) -> Tensor:
    """Write one number everywhere. Returns self."""
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    return copy_(self, value)


def zero_(self: Tensor) -> Tensor:
    """Write zeros. Returns self."""
    return copy_(self, 0)


def reshaping(operation: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """The in-place form of an operation that only looks at the memory in another way: x.squeeze_()."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        check_writable(self, 0, whole=False)
        old = stand_in(self)
        looked = operation(old, *args, **kwargs)
        if not np.shares_memory(looked.array, self.array) and self.array.size:
            raise RuntimeError(f"{name}: the result would need other memory")
        if self.base is not None:
            self.array = looked.array
        else:
            counter = shared_counter(self)
            self.array = looked.array
            counter.value += 1
        take_over(self, looked)
        return self

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{name[:-1]}, of this very tensor. Returns self."
    return method


def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Give this tensor another shape; elements are kept in order, new ones are whatever is there. Returns self."""
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    shape = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    count = math.prod(shape)
    if count <= self.array.size and self.array.flags.c_contiguous:
        array = self.array.reshape(-1)[:count]
    else:
        array = np.empty(count, self.array.dtype)
        kept = min(count, self.array.size)
        array[:kept] = self.array.reshape(-1)[:kept]
    self.array = array.reshape(shape)
    shared_counter(self).value += 1
    return self


def resize_as_(self: Tensor, the_template: Tensor, memory_format: Any = None) -> Tensor:
    """resize_ to the shape of another tensor. Returns self."""
    return resize_(self, the_template.array.shape)


def detach_(self: Tensor) -> Tensor:
    """Cut this tensor off from its graph. Returns self."""
    if self.base is not None:
        raise RuntimeError("Can't detach views in-place. Use detach() instead")
    self.edge, self.tracked, self.dual = None, 0, None
    return self


METHODS = ["copy_", "fill_", "zero_", "detach_", "resize_", "resize_as_"]
