"""Tensors cut up: narrow, select, split, chunk, unbind. All views."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ...core.tensor import Tensor, result
from .._names import also
from .dims import wrap_dim
from .slices import Narrow, Split, Take, Unbind, before, views_of

ndarray = np.ndarray


def narrow(input: Any, dim: int, start: Any, length: int) -> Any:
    """Elements start to start + length of dimension `dim`, a view. start may be a 0-d integer Tensor."""
    if (dim.__class__ is int and start.__class__ is int and 0 <= dim < input.ndim
            and 0 <= start <= start + length <= input.shape[dim]):
        if input.__class__ is ndarray:               # of a rule
            return input[before(dim) + (slice(start, start + length),)]
        return Narrow.apply(input, dim=dim, start=start, length=operator.index(length))
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
    return Narrow.apply(input, dim=dim, start=begin, length=operator.index(length))


def select(input: Any, dim: int, index: int) -> Any:
    """The slice number `index` of dimension `dim`, which goes. A view."""
    if not input.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, input.ndim)
    if not -input.shape[dim] <= index < input.shape[dim]:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {dim}")
    return Take.apply(input, dim=dim, index=operator.index(index))


@also(axis="dim", split_size="split_size_or_sections")
def split(tensor: Any, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """The tensor cut along `dim` in pieces of one size (the last may be smaller), or of the sizes given."""
    if not isinstance(split_size_or_sections, int) and not hasattr(split_size_or_sections, "__index__"):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    if not tensor.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    return _pieces(tensor, operator.index(split_size_or_sections), wrap_dim(dim, tensor.ndim))


def _pieces(tensor: Any, step: int, dim: int) -> tuple[Any, ...]:
    size = tensor.shape[dim]
    if step < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step}")
    if step == 0 and size:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}")
    lengths = tuple([min(step, size - i) for i in range(0, size, step)]) if size else (0,)
    return views_of(tensor, Split.apply(tensor, dim=dim, lengths=lengths))


def split_method(self: Any, split_size: int | Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """split(), whose argument the method calls otherwise."""
    return split(self, split_size, dim)


def split_with_sizes(input: Any, split_sizes: Sequence[int], dim: int = 0) -> tuple[Any, ...]:
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


def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """input cut along `dim` in at most `chunks` pieces of equal size, the last smaller."""
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    dim = wrap_dim(dim, input.ndim)
    size = input.shape[dim]
    return _pieces(input, -(-size // chunks), dim) if size else split_with_sizes(input, [0] * chunks, dim)


def _apart(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """The parts as tensors that no write to input or to another part is told of: so they may be written to one by one, as
    long as nobody looks at input, or at what a write has changed behind its back."""
    alone = []
    for part in parts:
        alone.append(result(part.array))
        alone[-1].edge, alone[-1].tracked, alone[-1].dual = part.edge, part.tracked, part.dual
    return tuple(alone)


def unsafe_split(tensor: Any, split_size: Any, dim: int = 0) -> tuple[Any, ...]:
    """split(), whose results may be written to; writes reach the tensor's memory, and its graph knows nothing of them."""
    return _apart(split(tensor, split_size, dim))


def unsafe_split_with_sizes(input: Any, split_sizes: Any, dim: int = 0) -> tuple[Any, ...]:
    """split_with_sizes(), whose results may be written to, as unsafe_split's."""
    return _apart(split_with_sizes(input, split_sizes, dim))


def unsafe_chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """chunk(), whose results may be written to, as unsafe_split's."""
    return _apart(chunk(input, chunks, dim))


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
        if given.dtype != np.int64 or given.ndim > 1:
            raise RuntimeError(f"tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                               f"one-dimensional long tensor, but got {given.dtype} with {given.ndim} dims")
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
    return tuple([Narrow.apply(input, dim=dim, start=a, length=b - a) for a, b in pairs])


def _along(x: Any, given: Any, dim: int, name: str, least: int) -> tuple[Any, ...]:
    if x.ndim < least:
        raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {x.ndim} "
                           "dimensions!")
    if isinstance(given, int) and (given <= 0 or x.shape[dim] % given):
        raise RuntimeError(f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
                           f"{x.shape[dim]} is not divisible by the split_size {given}!")
    return tensor_split(x, given, dim)


def hsplit(input: Any, indices_or_sections: Any) -> tuple[Any, ...]:
    """tensor_split() along the second dimension (of vectors the first), in equal parts."""
    return _along(input, indices_or_sections, 0 if input.ndim == 1 else 1, "hsplit", 1)


def vsplit(input: Any, indices_or_sections: Any) -> tuple[Any, ...]:
    """tensor_split() along the first dimension, in equal parts."""
    return _along(input, indices_or_sections, 0, "vsplit", 2)


def dsplit(input: Any, indices_or_sections: Any) -> tuple[Any, ...]:
    """tensor_split() along the third dimension, in equal parts."""
    return _along(input, indices_or_sections, 2, "dsplit", 3)


__all__ = ["chunk", "dsplit", "hsplit", "narrow", "select", "split", "split_with_sizes", "tensor_split", "unbind",
           "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes", "vsplit"]
METHODS = __all__
