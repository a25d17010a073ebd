"""Norms of arrays, right wherever the result is representable.

A sum of powers that overflows, or that comes near the subnormal numbers, is computed again from elements divided by a
power of two near the largest one: the norm of (3e30, 4e30) in float32 is 5e30, although 9e60 overflows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.types import Array
from .halves import FLOAT32, converted
from .openblas import alone

accumulate: Any = np.add.reduce                      # half the overhead of np.sum()


def norm(x: Array, order: float, dims: tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    """The norm of x over dims (None: all), in x's real dtype; half precision gives float32. 0 for an infinite norm of no
    elements."""
    if x.dtype.itemsize == 2:
        x = converted(x, FLOAT32)
    settings: dict[str, Any] = {"axis": dims, "keepdims": keepdims}
    if order == 2 and x.dtype.kind == "f":
        if dims is None and not keepdims:
            flat = x.ravel()
            with alone():
                total = np.dot(flat, flat)
        else:
            total = accumulate(np.square(x), dtype=x.dtype, **settings)
        return np.sqrt(total) if exact(total) else _scaled(np.abs(x), 2, settings)
    size = np.abs(x)
    if order == math.inf:
        return np.max(size, initial=0, **settings)
    if order == -math.inf:
        return np.min(size, **settings)
    if order == 0:
        return np.sum(size != 0, dtype=size.dtype, **settings)
    if order == 1:
        return accumulate(size, dtype=size.dtype, **settings)
    with np.errstate(all="ignore"):
        total = accumulate(size ** order, dtype=size.dtype, **settings)
        return total ** size.dtype.type(1 / order) if exact(total) else _scaled(size, order, settings)


def safe_range(dtype: np.dtype[Any]) -> tuple[float, float]:
    """Between these, a sum of powers has not overflowed, and elements that became subnormal do not count."""
    limits = np.finfo(dtype)
    return float(limits.tiny) / float(limits.eps), float(limits.max)


RANGES = {np.dtype(dtype): safe_range(np.dtype(dtype)) for dtype in (np.float32, np.float64)}


def exact(total: Array) -> bool:
    """Whether all sums of powers lie in the safe range."""
    low, high = RANGES.get(total.dtype) or safe_range(total.dtype)
    if not total.ndim:
        return bool(low <= total <= high)
    return not total.size or bool(total.min() >= low and total.max() <= high)


def power_of_two(size: Array) -> Array:
    """For each element the power of two by which to divide it so that it lies in [0.5, 1); 1 for 0, inf and nan."""
    exponent = np.frexp(size)[1]
    limits = np.finfo(size.dtype)
    exponent = np.clip(exponent, limits.minexp + 1, limits.maxexp - 1)     # so that the inverse is finite
    return np.ldexp(np.ones((), size.dtype), np.where(np.isfinite(size) & (size != 0), exponent, 0))


def _scaled(size: Array, order: float, settings: dict[str, Any]) -> Array:
    """The norm of magnitudes by way of a power of two near the element that decides: the largest, or the smallest for a
    negative order."""
    if not size.size:
        return accumulate(size, **settings)
    dims = settings["axis"]
    scale = power_of_two((np.max if order > 0 else np.min)(size, axis=dims, keepdims=True))
    with np.errstate(all="ignore"):
        size = size / scale
        total = accumulate(np.square(size) if order == 2 else size ** order, dtype=size.dtype, **settings)
        root = np.sqrt(total) if order == 2 else total ** size.dtype.type(1 / order)
        return root * scale.reshape(np.shape(root))


__all__ = ["exact", "norm", "power_of_two"]
