"""Sums and extremes over dimensions. NumPy's are slow where rows are short, or where what is reduced lies apart: 15,360
numbers in rows of 8 take it 30 us, and 5 compiled.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from math import prod
from operator import itemgetter
from typing import Any

import numpy as np

from ..base.types import Array
from .loops import FLOAT32, kernels_for, loops
from .memory_format import in_rows

accumulate: Any = np.add.reduce
MANY = 1024                          # elements from which passes over dims are sooner than one call of NumPy
ROWS = 16                            # that NumPy adds up one by one
LONG = 96                            # numbers that lie together, from which NumPy is as fast


def total(x: Array, dims: tuple[int, ...], keepdims: bool = False) -> Array:
    """np.add.reduce(x, dims, keepdims=keepdims) in x's dtype. NumPy adds up neighbours in pairs, but rows one by one, which
    loses 3 bits over 4,000 of them."""
    if x.size >= MANY and x.dtype.kind in "fc" and dims:
        if not x.flags.c_contiguous and 0 not in x.strides:
            order = sorted(range(x.ndim), key=x.strides.__getitem__, reverse=True)        # a transpose: as its memory is
            laid = x.transpose(order)
            if laid.flags.c_contiguous:
                moved = total(laid, tuple(sorted([order.index(d) for d in dims])), True)
                x_order = sorted(range(x.ndim), key=order.__getitem__)
                return moved.transpose(x_order).reshape(remaining_shape(x.shape, dims, keepdims))
            x = np.ascontiguousarray(x)
        steps = passes(x.shape, dims, True) if x.flags.c_contiguous else []
        if steps:
            return added_up(x, steps, kernels_for(x)).reshape(remaining_shape(x.shape, dims, keepdims))
    return accumulate(x, axis=dims, dtype=x.dtype, keepdims=keepdims)


def added_up(x: Array, steps: list[tuple[int, int, int]], kernels: Any) -> Array:
    """The sums of x after these passes, as a vector."""
    for blocks, n, inner in steps:
        if inner == 1 and (kernels is None or n >= LONG):
            x = accumulate(x.reshape(blocks, n), -1, dtype=x.dtype)
        elif kernels is not None:
            x, out = np.ascontiguousarray(x), np.empty(blocks * inner, FLOAT32)
            kernels.sums(x, np.empty(inner), out, blocks, n, inner)
            x = out
        else:
            x = x.reshape(blocks, n, inner)
            while n >= 2 * ROWS:                     # sums of some rows, and of those sums
                whole = n // ROWS
                part = accumulate(x[:, :whole * ROWS].reshape(blocks, whole, ROWS, inner), 2, dtype=x.dtype)
                if n % ROWS:
                    part[:, -1] += accumulate(x[:, whole * ROWS:], 1, dtype=x.dtype)
                x, n = part, whole
            x = accumulate(x, 1, dtype=x.dtype)
    return x


def running(x: Array, dim: int, back: bool = False) -> Array | None:
    """The sums of the first 1, 2, ... along dim, of the last ones if `back`; None where NumPy has to make them."""
    kernels = loops.library
    return None if kernels is None else kernels.running_sums_of(x, dim, -1, back)


def running_product(x: Array, dim: int) -> Array | None:
    """The products of the first 1, 2, ... along dim; None where NumPy has to make them, at four times the time."""
    kernels = loops.library
    return None if kernels is None else kernels.running_products_of(x, dim, -1)


def running_places(x: Array, dim: int, reduce: Any) -> tuple[Array, Array]:
    """The extreme of the first 1, 2, ... along dim, and where it is, the last of equal ones, or of nan."""
    kernels = loops.library
    found = None if kernels is None else kernels.running_places_of(x, dim, -1, 1.0 if reduce is np.maximum else -1.0)
    if found is not None:
        return found
    out = reduce.accumulate(x, axis=dim)
    reached = x == out
    if x.dtype.kind in "fV":
        reached |= np.isnan(x)
    places = np.arange(x.shape[dim]).reshape((-1,) + (1,) * (x.ndim - 1 - dim))
    return in_rows(out), in_rows(np.maximum.accumulate(np.where(reached, places, 0), axis=dim))


def quotient_of_sum(x: Array, divisor: Any) -> Array:
    """The sum of all elements over a number, of x's dtype and without dimensions."""
    kernels = loops.library
    made = None if kernels is None else kernels.quotient_of_sum_of(x, 0, -3, divisor)
    if made is not None:
        return made  # type: ignore[no-any-return]
    wide = np.float32 if x.dtype == np.float16 else x.dtype
    return np.asarray(np.add.reduce(x, axis=None, dtype=wide) / divisor).astype(x.dtype, copy=False)


def extremes(x: Array, dims: tuple[int, ...], keepdims: bool, reduce: Any) -> Array:
    """reduce.reduce(x, dims, keepdims=keepdims), of np.maximum or np.minimum."""
    steps = passes(x.shape, dims) if x.size >= MANY and x.dtype is FLOAT32 else []
    kernels = kernels_for(x) if steps else None
    if kernels is None:
        return reduce.reduce(x, axis=dims, keepdims=keepdims)
    sign = 1.0 if reduce is np.maximum else -1.0
    return reduced(kernels.extremes, x, steps, sign).reshape(remaining_shape(x.shape, dims, keepdims))


def remaining_shape(shape: tuple[int, ...], dims: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    """The shape of what is left after a reduction over dims."""
    return tuple([1 if d in dims else n for d, n in enumerate(shape) if keepdims or d not in dims])


@lru_cache(maxsize=512)
def passes(shape: tuple[int, ...], dims: tuple[int, ...], sums: bool = False) -> list[tuple[int, int, int]]:
    """What to reduce, one stretch of dims after the other, the last first: blocks, size, what lies behind. Nothing where
    NumPy is fast, and of `sums` accurate."""
    marked = [(d in dims, n) for d, n in enumerate(shape) if n != 1]
    groups = [(away, prod([n for _, n in group])) for away, group in groupby(marked, key=itemgetter(0))]
    by_rows = sums and any(away for away, _ in groups[:-1])
    if len(groups) < 2 or (len(groups) < 4 and groups[-1][1] >= LONG and not by_rows):
        return []
    found = []
    for place in range(len(groups) - 1, -1, -1):
        if groups[place][0]:
            blocks = prod([n for _, n in groups[:place]])
            found.append((blocks, groups[place][1], prod([n for away, n in groups[place + 1:] if not away])))
    return found


def reduced(kernel: Any, x: Array, steps: list[tuple[int, int, int]], *settings: Any) -> Array:
    """x after these passes, as a vector."""
    for blocks, n, inner in steps:
        out = np.empty(blocks * inner, FLOAT32)
        kernel(x, out, blocks, n, inner, *settings)
        x = out
    return x
