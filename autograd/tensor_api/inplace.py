"""In-place operations: the result is computed as a new tensor and written into the old memory; core/views.py rebases the
graph of the tensor and its views."""

from __future__ import annotations

import inspect
import math
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..base.devices import channels_last, channels_last_3d, contiguous_format, preserve_format
from ..base.dtypes import can_cast
from ..base.types import Array, MemoryFormat
from ..core.casting import casting, suspended
from ..core.graph import shared_counter
from ..core.modes import GRAD, modes
from ..core.operation import Operation
from ..core.primitive import side_effect, spanned, value_written, watchers
from ..core.tensor import Tensor, result
from ..core.types import Context, Gradients, TensorOrArray, TensorOrNumber
from ..core.views import check_writable, overlaps, take_over, written
from ..kernels.halves import array_of
from ..modes.saved_tensor_hooks import hooks_in_use
from ..ops.creation.arguments import storable
from ..ops.index import (
    IndexPut,
    as_strided,
    assign,
    demand_one_dtype,
    getitem,
    index_fill,
    index_put,
    is_basic,
    masked_fill,
    memory_of,
    parts_of,
)
from ..ops.pointwise.cast import cast
from ..ops.pointwise.logic import logical_not
from ..ops.shape import clone, expand, layout_of, reshape, tril, triu
from ..spans.spans import begin, describe, end, operation_number, profilers
from .conversion import is_contiguous
from .storage import TypedStorage, UntypedStorage


class Written(Operation, name="Copy"):
    """y = value, written over x: the gradient goes to value, and x's old contents get zeros."""

    mixes = True

    @staticmethod
    def forward(ctx: Context, x: Array, value: Array) -> Array:
        """x (the tensor written to) and value of one shape -> value."""
        ctx.shape, ctx.dtype = x.shape, x.dtype
        return value

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The gradients of x and value: zeros and g."""
        return np.zeros(ctx.shape, ctx.dtype) if g.__class__ is np.ndarray else result(np.zeros(ctx.shape, ctx.dtype)), g


def write(x: Tensor, value: Tensor, name: str, old: Tensor | None = None, passing: bool = False) -> Tensor:
    """Write `value` into x's memory, and make x a result of what computed it. `old` represents x before the write."""
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
    value_written(x.array, value.array)
    np.copyto(x.array, value.array)
    written(x, value if kind else None, passing)
    return x


def only_base(x: Tensor) -> bool:
    """Whether x is a view and only gradients are recorded: CopySlices, the node of a write to a view, then cuts off x's old
    value by itself. Sending zeros to it through x too would cost as much as the base is large, for each write."""
    return x.base is not None and modes.recording == GRAD


def in_place(operation: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """The in-place form of an operation: x.add_(y) for add(x, y)."""

    repeated = REPEATED.get(name)
    span = operation_number(name)

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if not profilers:
            return overwritten(self, args, kwargs)
        token = begin(span)
        describe(token, span, (self, *args), kwargs or None)
        try:
            return overwritten(self, args, kwargs)
        finally:
            end(token)

    def overwritten(self: Tensor, args: Any, kwargs: dict[str, Any]) -> Tensor:
        if repeated is not None and overlaps(self.array):
            return repeated(self, *args, **kwargs)
        check_writable(self, 0)
        if not (self.tracked & modes.recording or any(isinstance(a, Tensor) and a.tracked for a in args)):
            return write(self, computed(operation, self, args, kwargs, name), name)
        old = before_write(self)
        value = computed(operation, old, args, kwargs, name)
        if old.counter is not None:                  # views of the old memory were made on the way: look at a copy
            old = before_write(self)
            old.array = copied(self.array)
            value = computed(operation, old, args, kwargs, name)
            return write(self, value, name, old)
        watch = weakref.ref(old)
        del old
        saved = watch()
        if saved is not None:                        # its value is needed for backward, and the memory is not its own
            saved.array = copied(self.array)
        return write(self, value, name, saved)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{name[:-1]}, written into this tensor's memory. Returns self."
    return with_arguments_of(operation, method)


def with_arguments_of(operation: Callable[..., Any], method: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The method, whose signature for help() and editors is the operation's, without `out`."""
    first, *others = inspect.signature(operation).parameters.values()
    shown = [first.replace(name="self", annotation="Tensor")] if first.kind is not first.VAR_POSITIONAL else [
        inspect.Parameter("self", first.POSITIONAL_ONLY, annotation="Tensor"), first]
    shown += [p for p in others if p.name != "out"]
    method.__signature__ = inspect.Signature(shown, return_annotation="Tensor")        # type: ignore[attr-defined]
    return method


def before_write(x: Tensor) -> Tensor:
    """x as it is before a write: a tensor with the same origin that is no view, on the same memory (on a copy where
    saved-tensor hooks are in use, which may keep it)."""
    old = result(x.array if hooks_in_use() is None else x.array.copy())
    old.edge, old.tracked, old.dual = x.edge, x.tracked, x.dual
    return old


def copied(array: Array) -> Array:
    """A copy of an array, which recorders see."""
    copy: Array = clone(result(array), memory_format=contiguous_format).array if watchers else array.copy()
    return copy


def computed(operation: Callable[..., Any], x: Tensor, args: Any, kwargs: dict[str, Any], name: str) -> Tensor:
    """The result of the operation on x. TypeError if it does not take the arguments."""
    with suspended() if casting.used else nullcontext():  # autocast leaves writes as they are
        value = operation(x, *args, **kwargs)
    if value is NotImplemented:
        raise TypeError(f"{name}: unsupported operand {', '.join(type(a).__name__ for a in args)}")
    return value                                     # type: ignore[no-any-return]


def first_occurrence(x: Tensor) -> Tensor:
    """A view of x with each element once: index 0 along every dimension of stride 0."""
    first = tuple([slice(0, 1) if stride == 0 and n > 1 else slice(None)
                     for stride, n in zip(x.array.strides, x.array.shape, strict=True)])
    out: Tensor = getitem(x, first)
    return out


def repeated_dims(x: Tensor) -> list[int]:
    """The dimensions of stride 0, along which x repeats its elements."""
    return [d for d, (stride, n) in enumerate(zip(x.array.strides, x.array.shape, strict=True)) if stride == 0 and n > 1]


def fill_where(x: Tensor, mask: Tensor, value: TensorOrNumber) -> Tensor:
    """Write `value` to each element that the mask selects at one or more of its positions in x."""
    if mask.shape != x.shape:
        raise RuntimeError(f"output with shape {list(x.shape)} doesn't match the broadcast shape {list(mask.shape)}")
    check_writable(x, value.tracked if isinstance(value, Tensor) else 0, whole=False)
    for d in repeated_dims(x):
        mask = mask.any(d, True)                     # type: ignore[attr-defined]
    first_occurrence(x).masked_fill_(mask, value)                # type: ignore[attr-defined]
    return x


def empty_mask(x: Tensor) -> Tensor:
    """A mask of x's shape that selects no element."""
    return result(np.zeros(x.array.shape, np.bool_))


def repeated_masked_fill(self: Tensor, mask: Tensor, value: TensorOrNumber) -> Tensor:
    """masked_fill_ of a tensor that shows elements several times."""
    return fill_where(self, masked_fill(empty_mask(self), mask, True), value)


def repeated_index_fill(self: Tensor, dim: int, index: Tensor, value: TensorOrNumber) -> Tensor:
    """index_fill_ of a tensor that shows elements several times."""
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} "
                           "dimension(s).")
    return fill_where(self, index_fill(empty_mask(self), dim, index, True), value)


def repeated_tril(self: Tensor, diagonal: int = 0) -> Tensor:
    """tril_ of a tensor that shows elements several times."""
    return fill_where(self, logical_not(tril(logical_not(empty_mask(self)), diagonal)), 0)


def repeated_triu(self: Tensor, diagonal: int = 0) -> Tensor:
    """triu_ of a tensor that shows elements several times."""
    return fill_where(self, logical_not(triu(logical_not(empty_mask(self)), diagonal)), 0)


def repeated_conj_physical(self: Tensor) -> Tensor:
    """conj_physical_ of a tensor that shows elements several times: real ones stay as they are."""
    check_writable(self, 0, whole=self.array.dtype.kind == "c")
    return self


def repeated_index_put(self: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
    """index_put_ of a tensor that shows elements several times."""
    added = index_put(result(np.zeros(self.array.shape, self.array.dtype)), indices, values, accumulate)
    if not accumulate:
        assign_repeated(self, tuple(indices), values)
        return self
    check_writable(self, values.tracked, whole=False)
    first_occurrence(self).add_(added.sum(repeated_dims(self), keepdim=True))  # type: ignore[attr-defined]
    return self


def assign_repeated(x: Tensor, index: Any, value: TensorOrNumber) -> None:
    """x[index] = value, where x repeats elements: of several values for one element the last counts.

    An assignment of the values' numbers finds out which value that is; the values are written to first_occurrence(x)."""
    kind = modes.recording & (x.tracked | (value.tracked if isinstance(value, Tensor) else 0))
    if isinstance(value, Tensor) and value.array.dtype != x.array.dtype:
        demand_one_dtype(x.array, index, value.array)
    check_writable(x, kind, whole=False)
    if not kind:
        source = value.array if isinstance(value, Tensor) else value
        value_written(x.array, source, index)
        assign(x.array, index, source)
        written(x, None)
        return
    side_effect("an assignment with gradients to a tensor that shows elements several times")
    value = cast(value if isinstance(value, Tensor) else result(np.asarray(value)), x.array.dtype)
    part = first_occurrence(x)
    last = np.full(part.array.shape, -1)
    strides = [0 if n != m else s for n, m, s in zip(x.shape, part.shape, last.strides, strict=True)]
    wide = np.ndarray(x.array.shape, last.dtype, last, 0, strides)
    shape = getitem(result(wide), index).shape
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0]
    assign(wide, index, np.arange(math.prod(shape)).reshape(shape))
    chosen = last >= 0
    part[result(chosen)] = reshape(expand(value, shape), -1)[result(last[chosen])]


# In-place operations that PyTorch lets write to tensors that show elements several times, and how they do it here.
REPEATED: dict[str, Callable[..., Tensor]] = {
    "masked_fill_": repeated_masked_fill, "index_fill_": repeated_index_fill, "index_put_": repeated_index_put,
    "tril_": repeated_tril, "triu_": repeated_triu, "conj_physical_": repeated_conj_physical,
}


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """x[index] = value, recorded if value or x is tracked."""
    kind = modes.recording & (x.tracked | (value.tracked if isinstance(value, Tensor) else 0))
    if index.__class__ is list:
        index = parts_of(index)
    index = None if index is True else index         # x[True] = value is a copy_() to all of x, which converts
    basic = is_basic(index, x.array.shape)
    if not isinstance(value, Tensor):
        value = storable(value, x.array.dtype)
    if index is False:
        return
    if not basic and overlaps(x.array):
        assign_repeated(x, index, value)
        return
    if not basic and isinstance(value, Tensor) and value.array.dtype != x.array.dtype:
        demand_one_dtype(x.array, index, value.array)
    check_writable(x, kind, whole=not basic)
    if basic and (kind or 0 in x.array.strides):
        _copy(getitem(x, index), value, True)
    elif not kind:
        source = value.array if isinstance(value, Tensor) else value
        value_written(x.array, source, index)
        assign(x.array, index, source)
        written(x, None)
    else:
        value = value if isinstance(value, Tensor) else array_of(value, x.array.dtype)
        write(x, IndexPut.apply(before_write(x), value, index=index), "index assignment")


@spanned
def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write `src` (broadcast, cast) into this tensor's memory. Returns self."""
    return _copy(self, src, False)


def _copy(self: Tensor, src: Any, passing: bool) -> Tensor:
    check_writable(self, src.tracked if isinstance(src, Tensor) else 0)
    if not isinstance(src, Tensor):
        src = result(array_of(storable(src, self.array.dtype), self.array.dtype))
    source = src
    while source.ndim > self.ndim and source.shape[0] == 1:
        source = source[0]
    if source.shape != self.shape:
        source = expand(source, self.shape)
    source = cast(source, self.array.dtype)
    kind = modes.recording & (self.tracked | source.tracked)
    if not kind:
        value_written(self.array, source.array)
        np.copyto(self.array, source.array)
        written(self, None)
        return self
    return write(self, source if only_base(self) else Written.apply(before_write(self), source), "copy_", None, passing)


def writer(part: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Any], None]:
    """The setter of a property that is a view: writes a Tensor or a number there, as x.real = value does."""

    def assign_part(self: Tensor, value: Any) -> None:
        if not isinstance(value, (Tensor, bool, int, float, complex, np.generic)):
            raise TypeError(f"{part.__name__} = value: can't assign a {type(value).__name__}, but a Tensor or a number")
        _copy(part(self), value, True)

    return assign_part


@spanned
def fill_(self: Tensor, value: TensorOrNumber | None) -> Tensor:
    """Write one number everywhere. Returns self."""
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    if not isinstance(value, Tensor) and overlaps(self.array):
        check_writable(self, 0, whole=False)
        copy_(first_occurrence(self), value)
        return self
    return copy_(self, value)


def fill_diagonal_(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Write one number to the main diagonal: to the elements whose indices are all equal. Returns self.

    wrap: of a matrix with more rows than columns, begin another diagonal below the last, after an empty row. RuntimeError
    for less than two dimensions, and for more than two that differ in length."""
    if self.ndim < 2:
        raise RuntimeError("fill_diagonal_: dimensions must be larger than 1")
    if self.ndim > 2 and len(set(self.shape)) > 1:
        raise RuntimeError(f"fill_diagonal_: all dimensions of input must be of equal length, not {list(self.shape)}")
    mask = empty_mask(self)
    if self.array.size:
        np.fill_diagonal(mask.array, True, wrap)
    return self.masked_fill_(mask, fill_value)       # type: ignore[attr-defined,no-any-return]


@spanned
def zero_(self: Tensor) -> Tensor:
    """Write zeros. Returns self."""
    return fill_(self, 0)


def reshaping(operation: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """The in-place form of an operation that returns a view, such as x.squeeze_()."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        check_writable(self, 0, whole=False)
        old = before_write(self)
        viewed = operation(old, *args, **kwargs)
        if not np.shares_memory(viewed.array, self.array) and self.array.size:
            raise RuntimeError(f"{name}: the result would need other memory")
        if self.base is not None:
            self.array = viewed.array
        else:
            counter = shared_counter(self)
            self.array = viewed.array
            counter.value += 1
        take_over(self, viewed)
        return self

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{name[:-1]}, of this very tensor. Returns self."
    return with_arguments_of(operation, method)


def resize_(self: Tensor, *sizes: Any, memory_format: MemoryFormat | None = None) -> Tensor:
    """Resize this tensor in place; elements keep their order in memory, further ones are uninitialised. Returns self."""
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    shape = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    if any(n < 0 for n in shape):
        raise RuntimeError(f"Trying to create tensor with negative dimension: {list(shape)}")
    layout = "C" if memory_format is None else layout_of(memory_format, len(shape))
    if layout == "K":
        raise RuntimeError("Unsupported memory format: resize_() takes contiguous_format, channels_last or channels_last_3d")
    if memory_format is None and shape == self.array.shape:
        return self
    count, held = math.prod(shape), in_memory(self.array)
    array = held[:count]
    if count > held.size:
        array = np.empty(count, self.array.dtype)
        array[:held.size] = held
    self.array = array.reshape(shape) if layout == "C" else np.moveaxis(
        array.reshape(shape[0], *shape[2:], shape[1]), -1, 1)
    shared_counter(self).value += 1
    return self


def in_memory(array: Array) -> Array:
    """The elements from the first to the last of an array, in memory's order: a view, of strides that are not negative."""
    if array.flags.c_contiguous or not array.size or min(array.strides) < 0:
        return array.reshape(-1)
    flat, start = memory_of(array)
    last = start + sum((n - 1) * (step // array.itemsize) for n, step in zip(array.shape, array.strides, strict=True))
    found: Array = flat[start:last + 1]
    return found


def resize_as_(self: Tensor, the_template: Tensor, memory_format: MemoryFormat | None = None) -> Tensor:
    """resize_ to the shape of another tensor, and with preserve_format to its memory format. Returns self."""
    shape = the_template.array.shape
    if memory_format is preserve_format:
        formats = (contiguous_format, channels_last, channels_last_3d)
        memory_format = next((f for f in formats if is_contiguous(the_template, f)), contiguous_format)
    return resize_(self, shape, memory_format=memory_format)


def set_(self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Tensor:
    """Let this tensor show the memory of another tensor or of a storage. Returns self.

    Without a source it becomes empty. Of a storage, or with a size, the elements are those from `storage_offset` on, in
    `size` (all, by default) and `stride` (contiguous, by default)."""
    if self.requires_grad and modes.recording & GRAD:
        raise RuntimeError("set_(): the tensor requires grad; call detach() first, or assign to x.data")
    if self.base is not None:
        raise NotImplementedError("set_() of a view: give the view a new name, as in y = source.view(...)")
    if source is None:
        source = np.empty(0, self.array.dtype)
    if isinstance(source, (TypedStorage, UntypedStorage)):
        source = source.elements_as(getattr(source, "dtype", self.array.dtype))
    if not isinstance(source, (Tensor, np.ndarray)):
        raise TypeError(f"set_(): argument 'source' must be Tensor or a storage, not {type(source).__name__}")
    given = source if isinstance(source, Tensor) else result(source)
    if given.array.dtype != self.array.dtype:
        raise RuntimeError(f"Could not set tensor of type {given.dtype} to a tensor of type {self.dtype}")
    if given.requires_grad:
        raise NotImplementedError("set_(): the source requires grad; pass source.detach()")
    array = given.array
    if size is not None or storage_offset:
        flat, _ = memory_of(array)
        shape = (max(flat.size - storage_offset, 0),) if size is None else tuple(size)
        steps = tuple([math.prod(shape[place + 1:]) for place in range(len(shape))]) if stride is None else tuple(stride)
        array = as_strided(given, shape, steps, storage_offset).array
    counter = shared_counter(given)
    self.array, self.counter = array, counter
    counter.value += 1
    return self


def detach_(self: Tensor) -> Tensor:
    """Detach this tensor from its graph, in place. Returns self."""
    if self.base is not None and not modes.inference:
        raise RuntimeError("Can't detach views in-place. Use detach() instead")
    self.edge, self.dual, self.collects = None, None, False
    self.tracked = 0 if self.made_at is None else self.base.tracked & GRAD
    return self


METHODS = ["copy_", "fill_", "fill_diagonal_", "zero_", "detach_", "resize_", "resize_as_", "set_"]
