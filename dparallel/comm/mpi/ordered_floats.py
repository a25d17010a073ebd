"""Floats as integers of the same order, so that max and min over ranks are exact and independent of the order.

MPI's max of floats is `a > b ? a : b`: with a nan, ranks that combine in another order get another result. As integers, nan
is above all for max and below all for min (as in np.maximum and np.minimum: nan wins), and -0 is below +0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
INTEGERS: dict[int, Any] = {2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: np.dtype(np.int64)}


def encoded(x: Array, op: str) -> Array:
    """x (float16, float32 or float64, contiguous) as integers of the same width, for integer max or min."""
    info = np.iinfo(INTEGERS[x.dtype.itemsize])
    keys = _flipped(x.view(info.dtype))
    keys[np.isnan(x)] = info.max if op == "max" else info.min
    return keys


def decoded(keys: Array, dtype: np.dtype[Any]) -> Array:
    """The floats that were encoded."""
    return _flipped(keys).view(dtype)


def _flipped(bits: Array) -> Array:
    """Flip all bits but the sign of negative floats, whose bits order in reverse. Its own inverse."""
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)
