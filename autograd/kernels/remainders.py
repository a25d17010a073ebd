"""Remainders of divisions. NumPy asks the C library for each: a million float32 numbers take it 20 ms, 1 ms compiled."""

from __future__ import annotations

import numpy as np

from ..base.types import Array
from .loops import kernels_for


def remainder(x: Array, y: Array) -> Array:
    """np.remainder(x, y): its sign is y's."""
    made = _compiled(x, y, True)
    return np.remainder(x, y) if made is None else made


def fmod(x: Array, y: Array) -> Array:
    """np.fmod(x, y): its sign is x's."""
    made = _compiled(x, y, False)
    return np.fmod(x, y) if made is None else made


def _compiled(x: Array, y: Array, floored: bool) -> Array | None:
    """Both, exactly; None for what is not float32, or of two shapes, or with quotients above 2^28, infinities or nan."""
    if type(x) is not np.ndarray or (y.size != 1 and y.shape != x.shape) or y.ndim > x.ndim:
        return None
    kernels = kernels_for(x, y)
    if kernels is None:
        return None
    out, wrong = np.empty_like(x), np.zeros(1, np.int64)
    kernels.remainders(x, y, out, wrong, x.size, int(y.size != 1), int(floored))
    return None if wrong[0] else out
