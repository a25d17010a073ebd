"""Indices as results: nonzero, unravel_index, one_hot. They have no derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.types import SizeLike
from ...core.batching import maps, whole
from ...core.out import into, takes_out
from ...core.primitive import data_dependent, primitive, spanned, value_read
from ...core.tensor import Tensor, result
from ...kernels.take_along import limits


@data_dependent
@spanned
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """The indices of elements that are not 0: a row for each, or with `as_tuple` a vector for each dimension."""
    array = input.array if isinstance(input, Tensor) else input
    if as_tuple:
        return tuple([result(i) for i in np.nonzero(np.atleast_1d(array))])
    found = result(np.argwhere(array))
    return found if out is None else into(out, found)


def argwhere(input: Tensor) -> Tensor:
    """The indices of elements that are not 0, a row for each."""
    return nonzero(input)


@data_dependent
@takes_out
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """nonzero() with `size` rows: cut off, or filled up with fill_value."""
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, not {size}")
    found = np.argwhere(input.array)
    out = np.full((size, input.ndim), fill_value, np.int64)
    out[:len(found)] = found[:size]
    return result(out)


@data_dependent
def unravel_index(indices: Tensor, shape: SizeLike) -> tuple[Any, ...]:
    """Indices into a flattened tensor of `shape`, converted to one index for each dimension."""
    if indices.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if isinstance(shape, Tensor):
        shape = shape.tolist()
    dims = (shape,) if isinstance(shape, int) else tuple(shape)
    for n in dims:
        if not isinstance(n, (int, np.integer)):
            raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {shape!r}")
        if n < 0:
            raise ValueError(f"'shape' cannot have negative values, but got {dims}")
    rest, out = indices.array, []
    for n in reversed(dims):
        out.append(result(rest % n if n else rest))
        rest = rest // n if n else rest
    return tuple(reversed(out))


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """For each class number a row of num_classes (-1: the largest number + 1) zeros, with a one at that number."""
    if num_classes == -1:
        value_read("one_hot() with as many classes as there happen to be")
    return _one_hot(tensor, num_classes)


@primitive
@maps(whole)
def _one_hot(tensor: Tensor, num_classes: int) -> Tensor:
    array = tensor.array
    if array.dtype != np.int64:
        raise RuntimeError(f"one_hot is only applicable to index tensor of type LongTensor, not {array.dtype}.")
    if not array.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return result(np.zeros((*array.shape, num_classes), np.int64))
    low, high = limits(array)
    if low < 0:
        raise RuntimeError(f"Class values must be non-negative, not {low}.")
    if num_classes == -1:
        num_classes = int(high) + 1
    elif num_classes < 1:
        raise RuntimeError(f"num_classes should be positive, not {num_classes}")
    elif high >= num_classes:
        raise RuntimeError(f"Class values must be smaller than num_classes: {high} of {num_classes}.")
    return result((array[..., None] == np.arange(num_classes)).astype(np.int64))


__all__ = ["argwhere", "nonzero", "nonzero_static", "unravel_index"]
METHODS = ["argwhere", "nonzero", "nonzero_static"]
