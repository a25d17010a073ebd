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

from .compiled import FLOAT32, WORTH, kernels_for

Array = np.ndarray[Any, Any]
accumulate: Any = np.add.reduce
LONG = 96                            # numbers that lie together, from which NumPy is as fast


def total(x: Array, dims: tuple[int, ...], keepdims: bool = False) -> Any:
    """np.add.reduce(x, dims, keepdims=keepdims) in x's dtype."""
    if x.size >= WORTH and x.dtype is FLOAT32 and dims:
        groups = grouped(x.shape, dims)
        if groups:
            kernels = kernels_for(x)
            if kernels is not None:
                shape = tuple([1 if d in dims else n for d, n in enumerate(x.shape) if keepdims or d not in dims])
                return by_groups(kernels.sums, x, groups).reshape(shape)
    return accumulate(x, axis=dims, dtype=x.dtype, keepdims=keepdims)


def running(x: Array, dim: int, back: bool = False) -> Array | None:
    """The sums of the first 1, 2, ... along dim, of the last ones if `back`; None where NumPy has to make them."""
    kernels = kernels_for(x)
    if kernels is None:
        return None
    out = np.empty_like(x)
    kernels.running_sums(x, out, prod(x.shape[:dim]), x.shape[dim], prod(x.shape[dim + 1:]), back)
    return out


def extremes(x: Array, dims: tuple[int, ...], keepdims: bool, reduce: Any) -> Any:
    """reduce.reduce(x, dims, keepdims=keepdims), of np.maximum or np.minimum."""
    groups = grouped(x.shape, dims) if x.size >= WORTH and x.dtype is FLOAT32 else []
    kernels = kernels_for(x) if groups else None
    if kernels is None:
        return reduce.reduce(x, axis=dims, keepdims=keepdims)
    shape = tuple([1 if d in dims else n for d, n in enumerate(x.shape) if keepdims or d not in dims])
    return by_groups(kernels.extremes, x, groups, 1.0 if reduce is np.maximum else -1.0).reshape(shape)


@lru_cache(maxsize=512)
def grouped(shape: tuple[int, ...], dims: tuple[int, ...]) -> list[tuple[bool, int]]:
    """Neighbouring dimensions that are added up, or not, as one: which it is, and their size. None where NumPy is fast."""
    marked = [(d in dims, n) for d, n in enumerate(shape) if n != 1]
    groups = [(away, prod([n for _, n in group])) for away, group in groupby(marked, key=itemgetter(0))]
    return groups if len(groups) > 3 or (len(groups) > 1 and groups[-1][1] < LONG) else []


def by_groups(kernel: Any, x: Array, groups: list[tuple[bool, int]], *settings: Any) -> Array:
    """One group after the other is reduced, the last first."""
    for place in range(len(groups) - 1, -1, -1):
        away, n = groups[place]
        if away:
            blocks = prod([size for _, size in groups[:place]])
            inner = prod([size for kept, size in groups[place + 1:] if not kept])
            out = np.empty(blocks * inner, FLOAT32)
            kernel(x, out, blocks, n, inner, *settings)
            x = out
    return x
