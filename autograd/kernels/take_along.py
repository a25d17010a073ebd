"""Elements of rows, by their places: one of each row of a matrix, or some along a dimension."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..base.types import Array
from .scatter import added, flat_places, take_unchecked


@lru_cache(maxsize=64)
def row_numbers(rows: int) -> Array:
    """0 to rows - 1, a constant."""
    made = np.arange(rows)
    made.flags.writeable = False
    return made


def take_per_row(x: Array, index: Array) -> Array:
    """x[i, index[i]] for each row i."""
    return x[row_numbers(len(x)), index]  # type: ignore[no-any-return]


def subtract_per_row(x: Array, index: Array, share: Array) -> None:
    """x[i, index[i]] -= share[i], or one number for all rows."""
    x[row_numbers(len(x)), index] -= share


def take_along(x: Array, places: Array, dim: int) -> Array:
    """np.take_along_axis(x, places, dim), where places are in range; 15 us less, and a million in a third of its time."""
    return take_unchecked(x, places, dim)  # type: ignore[no-any-return]


def put_along(g: Array, places: Array, dim: int, n: int, distinct: bool) -> Array:
    """Zeros of size n along dim with g added at these places: the adjoint of take_along()."""
    shape = (*g.shape[:dim], n, *g.shape[dim + 1:])
    if not distinct and places.shape[dim] != 1:
        return added(None, places, g, dim, shape)  # type: ignore[no-any-return]
    out = np.zeros(shape, g.dtype)
    out.reshape(-1)[flat_places(places, dim, shape)] = g.reshape(-1)
    return out
