"""What each collective is, in NumPy: the arrays of all places in, the array of one place out.

Local devices and ranks as threads compute with this; the tests compare MPI with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
UFUNCS: dict[str, Any] = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def empty_like_part(x: Array) -> Array:
    """What a place without a part holds."""
    return np.empty(0, x.dtype)


def reduce(xs: Sequence[Array], op: str) -> Array:
    """The arrays combined in place order, float16 in float32 and rounded once."""
    dtype = xs[0].dtype
    half = dtype == np.float16
    total = np.array(xs[0], np.float32 if half else dtype)
    for x in xs[1:]:
        UFUNCS[op](total, x, out=total)
    return total.astype(np.float16) if half else total


def join(xs: Sequence[Array]) -> Array:
    """The rows of all places, one after the other; 0-d arrays are one element each."""
    full = [x.reshape(1) if x.ndim == 0 else x for x in xs if x.shape != (0,)]
    return np.concatenate(full) if full else np.empty(0, xs[0].dtype)


def bounds(sizes: Sequence[int], place: int) -> slice:
    """The rows of one place."""
    start = sum(sizes[:place])
    return slice(start, start + sizes[place])


def exchange(xs: Sequence[Array], sizes: Sequence[Sequence[int]], place: int) -> Array:
    """What one place gets of an all-to-all: from each place the rows meant for it."""
    parts = [x[bounds(sizes[source], place)] for source, x in enumerate(xs)]
    full = [part for part, x in zip(parts, xs, strict=True) if x.shape != (0,)]
    return np.concatenate(full) if full else np.empty(0, xs[0].dtype)
