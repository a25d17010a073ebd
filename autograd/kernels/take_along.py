"""Reading elements by their places: one of each row of a matrix, or some along a dimension."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ..base.types import Array
from .loops import loops

INT64 = np.dtype(np.int64)
SMALL = 1024                         # elements below which NumPy finds places and adds sooner


@lru_cache(maxsize=64)
def row_numbers(rows: int) -> Array:
    """0 to rows - 1, a constant."""
    made = np.arange(rows)
    made.flags.writeable = False
    return made


def take_per_row(x: Array, index: Array) -> Array:
    """x[i, index[i]] for each row i."""
    return x[row_numbers(len(x)), index]  # type: ignore[no-any-return]


def negative_sum(x: Array, index: Array, divisor: Any) -> Array | None:
    """-sum(x[i, index[i]]) / divisor, by a loop; None if it can't."""
    kernels = loops.library
    if kernels is None:
        return None
    made = kernels.picked_sum_of(x, index, 1, -3, -1 / divisor)
    return kernels.picked_sum_of(x, np.ascontiguousarray(index, np.int64), 1, -3, -1 / divisor) if made is None else made


def subtract_per_row(x: Array, index: Array, share: Array) -> None:
    """x[i, index[i]] -= share[i], or one number for all rows."""
    x[row_numbers(len(x)), index] -= share


def limits(index: Array) -> tuple[Any, Any]:
    """The smallest and the largest number of an index that is not empty. 0.4 us; by min() and max() 1.7."""
    if not index.flags.c_contiguous:
        return index.min(), index.max()
    return index.item(index.argmin()), index.item(index.argmax())


def in_range(index: Array, size: int) -> bool:
    """Whether the numbers of an index that is not empty are places of a dimension of this size."""
    kernels = loops.library
    if kernels is not None and index.dtype is INT64 and type(index) is np.ndarray:
        return not kernels.outside(np.ascontiguousarray(index), index.size, size)
    low, high = limits(index)
    return bool(low >= 0 and high < size)


def check_places(index: Array, dim: int, size: int) -> None:
    """RuntimeError unless the numbers in an index are places of a dimension with this size."""
    if 0 in index.strides:                           # expanded
        index = index[tuple([slice(None) if step else slice(1) for step in index.strides])]
    if index.size and not in_range(index, size):
        low, high = limits(index)
        raise RuntimeError(f"index {low if low < 0 else high} is out of bounds for dimension {dim} with size {size}")


def _starts(index_shape: tuple[int, ...], dim: int, shape: tuple[int, ...]) -> tuple[Any, int]:
    """In the flattened array of `shape`: the place of each element of an index, were its number 0; and what 1 more adds."""
    starts: Any = np.zeros((1,) * len(shape), np.int64)
    for d, n in enumerate(index_shape):
        if d != dim:
            starts = starts + (np.arange(n) * prod(shape[d + 1:])).reshape((-1,) + (1,) * (len(shape) - 1 - d))
    return starts, prod(shape[dim + 1:])


_known_starts = lru_cache(maxsize=256)(_starts)      # of small ones: they take 5 us


def flat_places(index: Array, dim: int, shape: tuple[int, ...]) -> Array:
    """Where an index along `dim` (and in the other dimensions the place itself) leads, as numbers into the flattened array
    of `shape`."""
    starts, step = (_known_starts if index.size < SMALL else _starts)(index.shape, dim, shape)
    return (starts + (index if step == 1 else index.astype(np.int64, copy=False) * step)).reshape(-1)


def repeated(index: Array, dim: int, shape: tuple[int, ...]) -> Array | None:
    """The one vector that an index along `dim` repeats by expand(), if it covers the other sizes of `shape`; else None."""
    if index.size < 2 or (0 not in index.strides and index.ndim > 1):
        return None
    if any(d != dim and (step or index.shape[d] != shape[d]) for d, step in enumerate(index.strides)):
        return None
    return index[tuple([slice(None) if d == dim else 0 for d in range(index.ndim)])]


def gather_along(x: Array, index: Array, dim: int) -> Array:
    """x[index[i, j], j] for dim 0, and so on."""
    rows = None if index.flags.carray else repeated(index, dim, x.shape)
    if rows is None:
        kernels = loops.library
        found = None if kernels is None else kernels.gather_of(x, index, dim)
        if found is None and kernels is not None and x.dtype.kind == "f":
            found = kernels.gather_of(np.ascontiguousarray(x), np.ascontiguousarray(index, np.int64), dim)
        if found is not None:
            return found
    check_places(index, dim, x.shape[dim])
    if rows is not None:
        return x.take(rows, axis=dim)
    return x.take(index) if x.ndim == 1 else x.reshape(-1).take(flat_places(index, dim, x.shape)).reshape(index.shape)
