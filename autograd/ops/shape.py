"""Operations that move elements without changing them: all linear, most of them views."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..operation import Expand
from ..tensor import Tensor
from ._declare import Operation, linear

_reshape = linear("View", lambda x, shape: np.reshape(x, shape), lambda g, was, shape: reshape(g, was), view="if possible")
_swap = linear("Transpose", lambda x, i, j: np.swapaxes(x, i, j), lambda g, was, i, j: transpose(g, i, j), view=True)
_permute: Any = linear("Permute", lambda x, dims: np.transpose(x, dims),
                  lambda g, was, dims: _permute(g, tuple(np.argsort(dims).tolist())), view=True)
_flip = linear("Flip", lambda x, dims: np.flip(x, dims).copy(), lambda g, was, dims: flip(g, dims))
_clone = linear("Clone", lambda x: np.array(x), lambda g, was: g)
pad_constant = linear("ConstantPadNd", lambda x, widths: np.pad(x, widths), lambda g, was, widths: _crop(g, widths))
_crop: Any = linear("Slice", lambda x, widths: x[tuple(slice(a, n - b) for (a, b), n in zip(widths, x.shape, strict=True))],
               lambda g, was, widths: pad_constant(g, widths), view=True)


def sizes(args: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape given as one sequence or as several integers."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = tuple(args[0])
    return tuple(operator.index(n) for n in args)


def wrap_dim(dim: int, ndim: int) -> int:
    """dim counted from the front. IndexError if out of range."""
    limit = max(ndim, 1)
    if not -limit <= dim < limit:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {dim})")
    return dim % limit


def reshape(x: Any, *shape: Any) -> Any:
    """The elements of x, in order, in another shape; one size may be -1. A view where possible."""
    target = sizes(shape)
    known = 1
    for n in target:
        known *= n if n >= 0 else 1
    size = x.array.size if isinstance(x, Tensor) else x.size
    free = sum(n == -1 for n in target)
    if free > 1:
        raise RuntimeError("only one dimension can be inferred")
    if any(n < -1 for n in target):
        raise RuntimeError(f"invalid shape dimension {min(target)}")
    if free and known == 0:
        raise RuntimeError(f"cannot reshape tensor of 0 elements into shape {list(target)} because the unspecified "
                           "dimension size -1 can be any value and is ambiguous")
    if (known != size) if not free else (size % known != 0):
        raise RuntimeError(f"shape '{list(target)}' is invalid for input of size {size}")
    return _reshape(x, target)


def view(x: Any, *shape: Any) -> Any:
    """reshape() that never copies: RuntimeError where the memory layout does not allow it. A dtype is refused."""
    if len(shape) == 1 and isinstance(shape[0], (np.dtype, type, str)):
        raise NotImplementedError("view(dtype) is not implemented; use x.to(dtype)")
    out = reshape(x, *shape)
    if x.array.size and not np.shares_memory(out.array, x.array):
        raise RuntimeError("view size is not compatible with input tensor's size and stride (at least one dimension "
                           "spans across two contiguous subspaces). Use .reshape(...) instead.")
    return out


def transpose(x: Any, dim0: int, dim1: int) -> Any:
    """x with two dimensions exchanged, a view."""
    return _swap(x, wrap_dim(dim0, x.ndim), wrap_dim(dim1, x.ndim)) if x.ndim else x


def t(x: Any) -> Any:
    """The transpose of a matrix; vectors and scalars as they are."""
    if x.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {x.ndim}D")
    return transpose(x, 0, 1) if x.ndim == 2 else x


def mT(x: Any) -> Any:
    """x with its last two dimensions exchanged, a view."""
    return _swap(x, x.ndim - 2, x.ndim - 1)


def permute(x: Any, *dims: Any) -> Any:
    """x with its dimensions in the order `dims`, a view."""
    order = tuple(wrap_dim(d, x.ndim) for d in sizes(dims))
    if sorted(order) != list(range(x.ndim)):
        raise RuntimeError(f"permute: dims {list(order)} do not name each of the {x.ndim} dimensions once")
    return _permute(x, order)


def movedim(x: Any, source: int, destination: int) -> Any:
    """x with one dimension moved to another place, the others in order."""
    order = [d for d in range(x.ndim) if d != wrap_dim(source, x.ndim)]
    order.insert(wrap_dim(destination, x.ndim), wrap_dim(source, x.ndim))
    return _permute(x, tuple(order))


def flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Dimensions start_dim to end_dim as one."""
    start, end = wrap_dim(start_dim, x.ndim), wrap_dim(end_dim, x.ndim)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    shape = x.shape
    count = int(np.prod(shape[start:end + 1], dtype=int))
    return reshape(x, (*shape[:start], count, *shape[end + 1:]))


def squeeze(x: Any, dim: int | tuple[int, ...] | None = None) -> Any:
    """x without its dimensions of size 1, or without `dim` if that has size 1."""
    dims = range(x.ndim) if dim is None else [wrap_dim(d, x.ndim) for d in ((dim,) if isinstance(dim, int) else dim)]
    return reshape(x, tuple(n for i, n in enumerate(x.shape) if not (n == 1 and i in dims)))


def unsqueeze(x: Any, dim: int) -> Any:
    """x with a dimension of size 1 put in at `dim`."""
    place = wrap_dim(dim, x.ndim + 1)
    return reshape(x, (*x.shape[:place], 1, *x.shape[place:]))


def expand(x: Any, *shape: Any) -> Any:
    """x repeated along dimensions of size 1 to `shape` (-1: as it is), a view."""
    target = sizes(shape)
    added = len(target) - x.ndim
    if added < 0:
        raise RuntimeError(f"expand: the number of sizes provided ({len(target)}) must be greater or equal to the "
                           f"number of dimensions in the tensor ({x.ndim})")
    full = tuple(x.shape[i - added] if n == -1 and i >= added else n for i, n in enumerate(target))
    for have, want in zip(x.shape, full[added:], strict=True):
        if have not in (1, want):
            raise RuntimeError(f"The expanded size of the tensor ({want}) must match the existing size ({have}). "
                               f"Target sizes: {list(full)}.  Tensor sizes: {list(x.shape)}")
    return Expand.apply(x, shape=full)


def expand_as(x: Any, other: Any) -> Any:
    """x repeated to the shape of `other`."""
    return expand(x, other.shape)


def flip(x: Any, *dims: Any) -> Any:
    """x reversed along dims."""
    return _flip(x, tuple(wrap_dim(d, x.ndim) for d in sizes(dims)))


def clone(x: Any) -> Any:
    """A copy of x that gradients flow through."""
    return _clone(x)


def contiguous(x: Any) -> Any:
    """x itself if its memory is in C order, else a copy."""
    return x if x.array.flags.c_contiguous else _clone(x)


class Cat(Operation):
    """Tensors joined along a dimension they have."""

    mixes = True

    @staticmethod
    def forward(ctx: Any, *xs: Any, dim: int) -> Any:
        """NumPy's concatenate, without legacy empty vectors."""
        full = [x for x in xs if x.shape != (0,)] or xs[:1]
        ctx.dim, ctx.lengths = dim, [x.shape[dim] if x.ndim == full[0].ndim else None for x in xs]
        return np.concatenate(full, axis=dim)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Each input gets its part."""
        start = 0
        parts: list[Any] = []
        for number, length in enumerate(ctx.lengths):
            if not ctx.needs(number):
                parts.append(None)
            else:
                parts.append(narrow(g, ctx.dim, start, length) if length is not None else reshape(narrow(g, 0, 0, 0), 0))
            start += length or 0
        return tuple(parts)


def cat(tensors: Sequence[Any], dim: int = 0) -> Any:
    """Tensors put end to end along `dim`; their other sizes agree. Legacy empty vectors, shape (0,), are left out."""
    xs = list(tensors)
    if not xs:
        raise RuntimeError("cat(): expected a non-empty list of Tensors")
    full = [x for x in xs if x.shape != (0,)] or xs[:1]
    ndim = full[0].ndim
    if ndim == 0:
        raise RuntimeError("zero-dimensional tensor (at position 0) cannot be concatenated")
    dim = wrap_dim(dim, ndim)
    for number, x in enumerate(full):
        if x.ndim != ndim or any(a != b for i, (a, b) in enumerate(zip(x.shape, full[0].shape, strict=False)) if i != dim):
            raise RuntimeError(f"Sizes of tensors must match except in dimension {dim}. Expected size "
                               f"{list(full[0].shape)} but got size {list(x.shape)} for tensor number {number} in the list.")
    return Cat.apply(*xs, dim=dim)


def stack(tensors: Sequence[Any], dim: int = 0) -> Any:
    """Tensors of one shape side by side along a new dimension."""
    xs = list(tensors)
    if not xs:
        raise RuntimeError("stack expects a non-empty TensorList")
    for number, x in enumerate(xs):
        if x.shape != xs[0].shape:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(xs[0].shape)} at entry 0 "
                               f"and {list(x.shape)} at entry {number}")
    return cat([unsqueeze(x, dim) for x in xs], dim if dim >= 0 else dim + xs[0].ndim + 1)


class Narrow(Operation, name="Slice"):
    """A stretch of one dimension, a view."""

    view = True

    @staticmethod
    def forward(ctx: Any, x: Any, *, dim: int, start: int, length: int) -> Any:
        """A slice."""
        ctx.dim, ctx.before, ctx.after = dim, start, x.shape[dim] - start - length
        ctx.ndim = x.ndim
        return x[(slice(None),) * dim + (slice(start, start + length),)]

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Zeros on both sides."""
        return pad_constant(g, ((0, 0),) * ctx.dim + ((ctx.before, ctx.after),) + ((0, 0),) * (ctx.ndim - ctx.dim - 1))


def narrow(x: Any, dim: int, start: int, length: int) -> Any:
    """Elements start to start + length of dimension `dim`, a view."""
    dim = wrap_dim(dim, x.ndim)
    size = x.shape[dim]
    start = start + size if start < 0 else start
    if length < 0 or start < 0 or start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return Narrow.apply(x, dim=dim, start=start, length=length)


def split(x: Any, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """x cut along `dim` in pieces of one size (the last may be smaller), or of the sizes given."""
    dim = wrap_dim(dim, x.ndim)
    size = x.shape[dim]
    if isinstance(split_size_or_sections, int):
        step = split_size_or_sections
        if step <= 0 and not (step == 0 and size == 0):
            raise RuntimeError(f"split expects split_size be positive, but got split_size={step}")
        lengths = [min(step, size - i) for i in range(0, size, step)] if size else [0]
    else:
        lengths = list(split_size_or_sections)
        if sum(lengths) != size:
            raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at "
                               f"dimension {dim}), but got split_sizes={lengths}")
    starts = np.cumsum([0, *lengths]).tolist()
    return tuple(narrow(x, dim, a, n) for a, n in zip(starts, lengths, strict=False))


def chunk(x: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """x cut along `dim` in at most `chunks` pieces of equal size, the last smaller."""
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = x.shape[wrap_dim(dim, x.ndim)]
    return split(x, max(1, -(-size // chunks)), dim)


def unbind(x: Any, dim: int = 0) -> tuple[Any, ...]:
    """The slices of x along `dim`."""
    dim = wrap_dim(dim, x.ndim)
    rest = (*x.shape[:dim], *x.shape[dim + 1:])
    return tuple(reshape(narrow(x, dim, i, 1), rest) for i in range(x.shape[dim]))


concat = cat

__all__ = ["cat", "chunk", "clone", "concat", "flatten", "flip", "movedim", "narrow", "permute", "reshape", "split",
           "squeeze", "stack", "t", "transpose", "unbind", "unsqueeze"]
METHODS = ["reshape", "view", "transpose", "t", "permute", "movedim", "flatten", "squeeze", "unsqueeze", "expand",
           "expand_as", "flip", "clone", "contiguous", "narrow", "split", "chunk", "unbind"]
