"""Tensors cut up: narrow, select, split, chunk, unbind. All views.

First the operations with their adjoints, then the functions. split and unbind have many outputs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ...base.hidden import Hidden
from ...base.types import Array, SizeLike
from ...core.batching import along
from ...core.graph import join_views
from ...core.operation import Operation
from ...core.tensor import Tensor, result
from ...core.types import Context, Gradients, Operand, TensorOrArray
from .._names import also
from .dims import wrap_dim
from .slicing import Select, Slice, before


class Split(Operation):
    """Stretches of one dimension, of the lengths given: all of it."""

    batched = along("dim")

    @staticmethod
    def forward(ctx: Context, x: Array, *, dim: int, lengths: tuple[int, ...]) -> tuple[Array, ...]:
        ctx.dim, ctx.shape, ctx.lengths = dim, x.shape, lengths
        colons = before(dim)
        return tuple([x[colons + (slice(a, b),)] for a, b in pairwise(accumulate(lengths, initial=0))])

    @staticmethod
    def backward(ctx: Context, *gs: Any) -> Gradients:
        """The gradients concatenated, zeros where a part has none."""
        left, right = ctx.shape[:ctx.dim], ctx.shape[ctx.dim + 1:]
        full = with_zeros(gs, lambda number: (*left, ctx.lengths[number], *right))
        return SplitBackward.apply(*full, dim=ctx.dim, lengths=ctx.lengths)


class SplitBackward(Operation):
    """The adjoint of Split."""

    batched = along("dim")

    @staticmethod
    def forward(ctx: Context, *gs: Any, dim: int, lengths: tuple[int, ...]) -> Array:
        ctx.dim, ctx.lengths = dim, lengths
        return np.concatenate(gs, axis=dim)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        return Split.apply(g, dim=ctx.dim, lengths=ctx.lengths)


class Unbind(Operation):
    """All slices along one dimension."""

    batched = along("dim")

    @staticmethod
    def forward(ctx: Context, x: Array, *, dim: int) -> tuple[Array, ...]:
        """x[i] for each i of that dimension, in views."""
        ctx.dim, ctx.shape = dim, x.shape
        if x.ndim == 1:
            return tuple([x[i, ...] for i in range(len(x))])         # of which x[i] would be no arrays
        return tuple(x if not dim else x.transpose(dim, *range(dim), *range(dim + 1, x.ndim)))

    @staticmethod
    def backward(ctx: Context, *gs: Any) -> Gradients:
        """The gradients stacked, zeros where a slice has none."""
        full = with_zeros(gs, lambda number: (*ctx.shape[:ctx.dim], *ctx.shape[ctx.dim + 1:]))
        return UnbindBackward.apply(*full, dim=ctx.dim)


class UnbindBackward(Operation):
    """The adjoint of Unbind."""

    batched = along("dim")

    @staticmethod
    def forward(ctx: Context, *gs: Any, dim: int) -> Array:
        ctx.dim = dim
        return stacked(gs, dim, gs[0].dtype)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        return Unbind.apply(g, dim=ctx.dim)


def stacked(arrays: Any, dim: int, dtype: np.dtype[Any]) -> Array:
    """np.stack() of arrays of one shape, at a third of its overhead."""
    place = (*before(dim), None)
    return np.concatenate([x[place] for x in arrays], axis=dim, dtype=dtype)


def with_zeros(gs: tuple[Any, ...], shape_of: Callable[[int], tuple[int, ...]]) -> Sequence[Any]:
    """Gradients of several outputs, with zeros for those that got none; shape_of(its number) is an output's shape."""
    if all(g is not None for g in gs):
        return gs
    dtype = next(g.dtype for g in gs if g is not None)
    return [np.zeros(shape_of(number), dtype) if g is None else g for number, g in enumerate(gs)]


def views_of(x: Tensor, parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Let the parts know that they share x's memory."""
    if isinstance(x, Tensor):
        for part in parts:
            join_views(part, x)
    return parts


ndarray = np.ndarray


def _stretch(x: Any, dim: int, start: int, length: int) -> Tensor:
    """Elements start to start + length of dimension `dim`, arguments that fit."""
    return Slice.apply(x, index=before(dim) + (slice(start, start + length), ...))


def narrow(input: Any, dim: int, start: Any, length: int) -> Any:
    """Elements start to start + length of dimension `dim`, a view. start may be a 0-d integer Tensor."""
    if (dim.__class__ is int and start.__class__ is int and 0 <= dim < input.ndim
            and 0 <= start <= start + length <= input.shape[dim]):
        if input.__class__ is ndarray:               # of a rule
            return input[before(dim) + (slice(start, start + length),)]
        return _stretch(input, dim, start, operator.index(length))
    if not input.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, input.ndim)
    if isinstance(start, Tensor) and (start.ndim or start.dtype.kind not in "iu"):
        raise RuntimeError(f"start must be an 0-dim integral Tensor, not {start.dtype} of shape {list(start.shape)}.")
    begin, size = operator.index(start), input.shape[dim]
    if length < 0:
        raise RuntimeError(f"narrow(): length must be non-negative, not {length}.")
    if not -size <= begin <= size:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-size}, {size}], but got {begin})")
    begin = begin + size if begin < 0 else begin
    if begin + length > size:
        raise RuntimeError(f"start ({begin}) + length ({length}) exceeds dimension size ({size}).")
    return _stretch(input, dim, begin, operator.index(length))


def select(input: Operand, dim: int, index: int) -> Operand:
    """The slice number `index` of dimension `dim`, which is removed. A view."""
    if not input.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, input.ndim)
    if not -input.shape[dim] <= index < input.shape[dim]:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {dim}")
    return Select.apply(input, dim=dim, index=operator.index(index))


@also(axis="dim", split_size="split_size_or_sections")
def split(tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """The tensor cut along `dim` in pieces of one size (the last may be smaller), or of the sizes given."""
    if not isinstance(split_size_or_sections, int) and not hasattr(split_size_or_sections, "__index__"):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    if not tensor.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    return _pieces(tensor, operator.index(split_size_or_sections), wrap_dim(dim, tensor.ndim))


def _pieces(tensor: Tensor, step: int, dim: int) -> tuple[Any, ...]:
    size = tensor.shape[dim]
    if step < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step}")
    if step == 0 and size:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}")
    lengths = tuple([min(step, size - i) for i in range(0, size, step)]) if size else (0,)
    return views_of(tensor, Split.apply(tensor, dim=dim, lengths=lengths))


def split_method(self: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """split(), whose argument the method calls otherwise."""
    return split(self, split_size, dim)


def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """input cut along `dim` in pieces of the sizes given."""
    if not input.ndim:
        raise RuntimeError("split_with_sizes expects at least a 1-dimensional tensor")
    dim = wrap_dim(dim, input.ndim)
    lengths = tuple([operator.index(n) for n in split_sizes])
    if any(n < 0 for n in lengths):
        raise RuntimeError(f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes="
                           f"{list(lengths)}")
    if sum(lengths) != input.shape[dim]:
        raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {input.shape[dim]} (input tensor's size "
                           f"at dimension {dim}), but got split_sizes={list(lengths)}")
    return views_of(input, Split.apply(input, dim=dim, lengths=lengths))


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """input cut along `dim` in at most `chunks` pieces of equal size, the last smaller."""
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    dim = wrap_dim(dim, input.ndim)
    size = input.shape[dim]
    return _pieces(input, -(-size // chunks), dim) if size else split_with_sizes(input, [0] * chunks, dim)


def _unshared(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """The parts as tensors without a shared version counter: each may be written to, and neither input nor another part
    counts the write."""
    separate = []
    for part in parts:
        if type(part.array) is Hidden:               # inside vmap()
            separate.append(part.array.level.wrapped(_unshared((part.array.value,))[0]))
            continue
        separate.append(result(part.array))
        separate[-1].edge, separate[-1].tracked, separate[-1].dual = part.edge, part.tracked, part.dual
    return tuple(separate)


def unsafe_split(tensor: Tensor, split_size: SizeLike, dim: int = 0) -> tuple[Any, ...]:
    """split(), whose results may be written to; writes reach the tensor's memory, and its graph knows nothing of them."""
    return _unshared(split(tensor, split_size, dim))


def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """split_with_sizes(), whose results may be written to, as unsafe_split's."""
    return _unshared(split_with_sizes(input, split_sizes, dim))


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """chunk(), whose results may be written to, as unsafe_split's."""
    return _unshared(chunk(input, chunks, dim))


@also(axis="dim")
def unbind(input: Any, dim: int = 0) -> tuple[Any, ...]:
    """The slices of input along `dim`, views."""
    if not input.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return views_of(input, Unbind.apply(input, dim=wrap_dim(dim, input.ndim)))


def tensor_split(input: Any, indices_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
    """input cut along `dim` in that many pieces, the first ones longer by one; or before each of the indices."""
    if not input.ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    dim = wrap_dim(dim, input.ndim)
    given = indices_or_sections
    if isinstance(given, Tensor):
        if given.dtype != np.int64:
            raise RuntimeError("tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                               f"{given.dtype}")
        if given.ndim > 1:
            raise RuntimeError("tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                               f"one-dimensional tensor, but got a tensor with {given.ndim} dims")
        given = given.tolist()
    size = input.shape[dim]
    if isinstance(given, (list, tuple)):
        ends = [0, *[slice(None, n).indices(size)[1] for n in given], size]
        pairs = [(a, max(b, a)) for a, b in pairwise(ends)]
    else:
        if given <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {given}")
        small, more = divmod(size, given)
        pairs = list(pairwise(accumulate([small + (i < more) for i in range(given)], initial=0)))
    return tuple([_stretch(input, dim, a, b - a) for a, b in pairs])


def _along(x: Tensor, given: SizeLike, dim: int, name: str, least: int) -> tuple[Any, ...]:
    if x.ndim < least:
        raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {x.ndim} "
                           "dimensions!")
    if isinstance(given, int) and (given <= 0 or x.shape[dim] % given):
        raise RuntimeError(f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
                           f"{x.shape[dim]} is not divisible by the split_size {given}!")
    return tensor_split(x, given, dim)


def hsplit(input: Tensor, indices_or_sections: SizeLike) -> tuple[Any, ...]:
    """tensor_split() along the second dimension (of vectors the first), in equal parts."""
    return _along(input, indices_or_sections, 0 if input.ndim == 1 else 1, "hsplit", 1)


def vsplit(input: Tensor, indices_or_sections: SizeLike) -> tuple[Any, ...]:
    """tensor_split() along the first dimension, in equal parts."""
    return _along(input, indices_or_sections, 0, "vsplit", 2)


def dsplit(input: Tensor, indices_or_sections: SizeLike) -> tuple[Any, ...]:
    """tensor_split() along the third dimension, in equal parts."""
    return _along(input, indices_or_sections, 2, "dsplit", 3)

__all__ = ["chunk", "dsplit", "hsplit", "narrow", "select", "split", "split_with_sizes", "tensor_split", "unbind",
           "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes", "vsplit"]
METHODS = __all__
