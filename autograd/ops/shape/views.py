"""Other shapes for the same elements: reshape, squeeze and others. Views where the memory allows it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.dtypes import TensorDType
from ...base.types import Array, DTypeLike
from ...core.batching import Level, whole
from ...core.declare import linear
from ...core.graph import shared_counter
from ...core.tensor import Tensor, result
from ...kernels.blocks import owns_memory
from ...kernels.memory_format import channels_last
from ...kernels.onednn.reorder import to_rows
from .dims import either, sizes, wrap_dim, wrap_dims

ndarray = np.ndarray


def _reshaping(name: str) -> Any:
    return linear(name, lambda x, shape: x.reshape(shape), lambda g, was, shape: reshape(g, was), view=True,
                  batched=_batched)


def _batched(level: Level, call: Any, args: Any, settings: Any) -> Any:
    x, shape = args
    return reshape(level.raw(x), (level.size, *checked(tuple(shape), math.prod(x.shape))))


_view, _unsqueeze, _squeeze = _reshaping("View"), _reshaping("Unsqueeze"), _reshaping("Squeeze")
_copied = linear("Clone", to_rows, lambda g, was: g, batched=whole)


def reshape(input: Any, *args: Any, shape: Any = None) -> Any:
    """The elements of input, in order, in another shape; one size may be -1. A view where the memory allows it."""
    if input.__class__ is ndarray:                   # of a rule
        return input.reshape(*args) if shape is None else input.reshape(shape)
    target = sizes(args if shape is None else either(args, shape))
    if not isinstance(input, Tensor):
        return input.reshape(target)
    if not input.array.flags.c_contiguous and not _viewable(input.array, checked(target, input.array.size)):
        input = _copied(input)
    try:
        return _view(input, target if not target or min(target) >= -1 else checked(target, input.array.size))
    except ValueError:
        checked(target, input.array.size)
        raise


def checked(target: tuple[int, ...], size: int) -> tuple[int, ...]:
    """A shape for `size` elements, its -1 worked out. RuntimeError if there is none."""
    known = math.prod([n for n in target if n >= 0])
    free = target.count(-1)
    if free > 1:
        raise RuntimeError("only one dimension can be inferred")
    if any(n < -1 for n in target):
        raise RuntimeError(f"invalid shape dimension {min(target)}")
    if free and known == 0:
        if size == 0:
            raise RuntimeError(f"cannot reshape tensor of 0 elements into shape {list(target)} because the unspecified "
                               "dimension size -1 can be any value and is ambiguous")
        raise RuntimeError(f"shape '{list(target)}' is invalid for input of size {size}")
    if (size % known if free else size - known) != 0:
        raise RuntimeError(f"shape '{list(target)}' is invalid for input of size {size}")
    return tuple([size // known if n == -1 else n for n in target])


def _viewable(a: Array, target: tuple[int, ...]) -> bool:
    """Whether the array can be seen in the shape `target` without a copy.

    Old and new sizes are cut into the shortest stretches of equal product; inside a stretch the old dimensions must follow
    one another in memory."""
    old = [(n, s) for n, s in zip(a.shape, a.strides, strict=True) if n != 1]
    if a.size == 0 or not old:
        return True
    new = [n for n in target if n != 1]
    i = j = 0
    while i < len(old) and j < len(new):
        have, want, first = old[i][0], new[j], i
        while have != want:
            if have < want:
                i += 1
                have *= old[i][0]
            else:
                j += 1
                want *= new[j]
        for (_, outer), (n, inner) in zip(old[first:i], old[first + 1:i + 1], strict=True):
            if outer != n * inner:
                return False
        i, j = i + 1, j + 1
    return True


def view(input: Tensor, *args: Any, size: Any = None, dtype: DTypeLike = None) -> Tensor:
    """reshape() that never copies: RuntimeError where the memory layout does not allow it. view(dtype): the same bytes
    read as another dtype, without a gradient."""
    if dtype is None and len(args) == 1 and isinstance(args[0], (TensorDType, np.dtype, type, str)):
        dtype, args = args[0], ()
    if dtype is not None:
        return _bytes_as(input, np.dtype(dtype))
    target = checked(sizes(either(args, size)), input.array.size if isinstance(input, Tensor) else input.size)
    if isinstance(input, Tensor) and not input.array.flags.c_contiguous and not _viewable(input.array, target):
        input = _by_rows(input)
    return _view(input, target)


def loose(x: Tensor) -> bool:
    """Whether x is channels last in memory, and not as a view of another array."""
    return x.base is None and owns_memory(x.array) and x.array.ndim > 2 and channels_last(x.array)


def _by_rows(x: Tensor) -> Tensor:
    """x, or a copy, with its elements by rows, if they lie channels last: PyTorch's convolutions give rows, and code takes
    view() of them. RuntimeError for other orders.

    x itself is laid out anew, so that writes through its view are seen by x, unless an alias of its memory was ever handed
    out (a view, detach(), data, numpy(), DLPack): each of these gives x a counter of writes. With an alias it is a copy."""
    if not loose(x):
        raise RuntimeError("view size is not compatible with input tensor's size and stride (at least one dimension "
                           "spans across two contiguous subspaces). Use .reshape(...) instead.")
    if x.counter is None:
        x.array = _copied(result(x.array)).array     # by an operation: recorders of operations see the new array
        return x
    return _copied(x)


def _bytes_as(x: Tensor, dtype: np.dtype[Any]) -> Tensor:
    if dtype == x.dtype:
        return _view(x, x.shape)
    if dtype.itemsize != x.array.itemsize and loose(x):
        x = _by_rows(x)
    try:
        out = result(x.array.view(dtype))
    except ValueError as error:
        raise RuntimeError(f"view(dtype): a tensor of {x.dtype}, shape {list(x.shape)}, cannot be read as {dtype}: {error}"
                           ) from None
    out.counter = shared_counter(x)
    return out


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """input seen in the shape of `other`."""
    return view(input, other.shape)


def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """input in the shape of `other`."""
    return reshape(input, other.shape)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions start_dim to end_dim as one."""
    if input.ndim == 0:
        wrap_dim(start_dim, 0), wrap_dim(end_dim, 0)
        return reshape(input, (1,))
    start, end = wrap_dim(start_dim, input.ndim), wrap_dim(end_dim, input.ndim)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end:
        return input
    shape = input.shape
    return reshape(input, (*shape[:start], math.prod(shape[start:end + 1]), *shape[end + 1:]))


def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """One dimension cut into several of the given sizes; one may be -1."""
    dim = wrap_dim(dim, input.ndim)
    parts = tuple(sizes)
    if not parts:
        raise RuntimeError("unflatten: sizes must be non-empty")
    size = input.shape[dim] if input.ndim else 1
    known = math.prod([n for n in parts if n != -1])
    if (size != known) if -1 not in parts else (known == 0 or size % known):
        raise RuntimeError(f"unflatten: Provided sizes {list(parts)} don't multiply up to the size of dim {dim} ({size}) in "
                           "the input tensor")
    full = [size // known if n == -1 else n for n in parts]
    return _view(input, (*input.shape[:dim], *full, *input.shape[dim + 1:]))


def squeeze(input: Tensor, dim: int | tuple[int, ...] | None = None, *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """input without its dimensions of size 1, or without those of `dim` that have size 1. A view."""
    shape = input.array.shape if isinstance(input, Tensor) else input.shape
    dim = dim if axis is None else axis
    if dim.__class__ is int and shape:
        place = wrap_dim(dim, len(shape))  # type: ignore[arg-type]
        return _squeeze(input, shape if shape[place] != 1 else shape[:place] + shape[place + 1:])
    if dim is None:
        return _squeeze(input, tuple([n for n in shape if n != 1]))
    dims = wrap_dims(dim, len(shape))
    return _squeeze(input, tuple([n for i, n in enumerate(shape) if n != 1 or i not in dims]))


def unsqueeze(input: Any, dim: Any = None, *, axis: Any = None) -> Any:
    """input with a dimension of size 1 put in at `dim`. A view."""
    shape = input.array.shape if isinstance(input, Tensor) else input.shape
    place = wrap_dim(dim if axis is None else axis, len(shape) + 1)
    return _unsqueeze(input, (*shape[:place], 1, *shape[place:]))


def _at_least(tensors: tuple[Any, ...], grow: Callable[..., Any]) -> Any:
    many = len(tensors) != 1 or isinstance(tensors[0], (list, tuple))
    given = tensors[0] if len(tensors) == 1 and many else tensors
    return tuple([grow(x) for x in given]) if many else grow(given[0])


def atleast_1d(*tensors: Any) -> Tensor:
    """Each tensor with one dimension or more."""
    return _at_least(tensors, lambda x: reshape(x, 1) if x.ndim == 0 else x)


def atleast_2d(*tensors: Any) -> Any:
    """Each tensor with two dimensions or more: a vector becomes a row."""
    return _at_least(tensors, lambda x: reshape(x, (1, *([-1] if x.ndim else [1]))) if x.ndim == 0 else
                     unsqueeze(x, 0) if x.ndim == 1 else x)


def atleast_3d(*tensors: Any) -> Tensor:
    """Each tensor with three dimensions or more: (n,) becomes (1, n, 1), and (m, n) becomes (m, n, 1)."""
    def grow(x: Tensor) -> Tensor:
        if x.ndim >= 3:
            return x
        return unsqueeze(x, -1) if x.ndim == 2 else _view(x, (1, x.shape[0] if x.ndim else 1, 1))

    return _at_least(tensors, grow)


__all__ = ["atleast_1d", "atleast_2d", "atleast_3d", "flatten", "reshape", "squeeze", "unflatten", "unsqueeze"]
METHODS = ["flatten", "reshape", "reshape_as", "squeeze", "unflatten", "unsqueeze", "view", "view_as"]
