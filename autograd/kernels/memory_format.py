"""The order of elements in memory.

Arrays lie by rows, PyTorch's order, or, where a convolution made them or what it made went through, with their channels
last: of logical shape (n, c, *plane) over memory (n, *plane, c). NumPy's elementwise operations keep that.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal

import numpy as np

from ..base.types import Array, DTypeLike
from .blocks import empty


def in_rows(array: Array) -> Array:
    """The array, or a copy of it whose elements lie row by row.

    NumPy gives what it computes from transposed inputs in their order; PyTorch gives sums, softmaxes, joins and the like
    row by row, and model code takes view() of them.
    """
    return array if array.flags.c_contiguous else array.copy()


@lru_cache(maxsize=16)
def last_axes(ndim: int) -> tuple[int, ...]:
    """The axes of (n, c, *plane) in the order (n, *plane, c)."""
    return (0, *range(2, ndim), 1)


def channels_last(array: Array) -> bool:
    """Whether array (n, c, *plane) lies densely, its channels last."""
    return array.ndim > 1 and type(array) is np.ndarray and bool(array.transpose(last_axes(array.ndim)).flags.c_contiguous)


def empty_last(shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    """A new array (n, c, *plane) with its channels last. It owns its memory unless it is large: a leaf may adopt it."""
    dtype = np.dtype(dtype)
    return empty(shape, dtype, strides_last(shape, dtype.itemsize))


@lru_cache(maxsize=512)
def strides_last(shape: tuple[int, ...], step: int) -> tuple[int, ...]:
    """The strides of an array (n, c, *plane) of elements of `step` bytes that has its channels last."""
    strides = [0] * len(shape)
    for axis in reversed(last_axes(len(shape))):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def ordered_last(array: Array) -> bool:
    """Whether array (n, c, *plane), or what it is a part of, has its channels last, and not also by rows."""
    if array.ndim < 3 or array.shape[1] < 2 or array.strides[1] != array.itemsize or array.flags.c_contiguous:
        return False
    steps = [array.strides[axis] for axis in last_axes(array.ndim)]
    return all(outer >= inner for outer, inner in pairwise(steps))


def is_channels_last(array: Array) -> bool:
    """Whether PyTorch takes array (n, c, *plane), of four or five dimensions, for one with its channels last."""
    return array.ndim in (4, 5) and ordered_last(array)


def zeros_like_order(shape: Sequence[int], array: Array) -> Array:
    """Zeros of `shape` and of array's dtype, with channels last if array, or what it is a part of, has them so."""
    if len(shape) == array.ndim and ordered_last(array):
        return np.moveaxis(np.zeros((shape[0], *shape[2:], shape[1]), array.dtype), -1, 1)
    return np.zeros(shape, array.dtype)


def order_of(x: Array) -> Literal["C", "K"]:
    """The order for a copy of x: its own; by rows where elements repeat in memory, as after expand(). NumPy would lay such
    dimensions innermost, and view() of the copy would fail."""
    return "C" if 0 in x.strides and any(not s and n > 1 for s, n in zip(x.strides, x.shape, strict=True)) else "K"
