"""Copies from one order of memory into another, by oneDNN where that is worth it: NumPy takes 3 times as long."""

from __future__ import annotations

import numpy as np

from ..addresses import address
from ..choose import COPY
from ..memory_format import channels_last, empty_last, is_channels_last, strides_last
from ..windows import Array
from . import primitives as dnn
from .library import supported


def to_channels_last(x: Array) -> Array:
    """x (n, c, *plane), or a copy of it, with its channels last."""
    if channels_last(x):
        return x
    out = empty_last(x.shape, x.dtype)
    if not (x.flags.c_contiguous and x.size >= COPY and supported(x) and _copied(x, out, "rows", "last")):
        out[...] = x
    return out


def match_strides(x: Array, other: Array) -> Array:
    """x, or a copy of it in the order of memory of `other`, of the same shape: NumPy is 5 times slower on mixed orders."""
    if x.strides == other.strides or x.shape != other.shape or x.ndim < 3 or not channels_last(other):
        return x
    return to_channels_last(x)


def like_order(x: Array, other: Array) -> Array:
    """x, or a copy of it with its channels last if `other`, of as many dimensions, has them so."""
    return to_channels_last(x) if is_channels_last(other) and x.ndim == other.ndim else x


def to_suggested_format(x: Array, other: Array) -> Array:
    """x, or a copy of it, in the order of memory that PyTorch gives to what is made of `other`: channels last where those of
    `other` (n, c, *plane) are, by rows otherwise. The strides of `other` decide, also along dimensions of size 1.
    """
    if not other.flags.c_contiguous and other.strides == strides_last(other.shape, other.itemsize):
        return to_channels_last(x)
    return x if x.flags.c_contiguous else to_rows(x)


def to_rows(x: Array) -> Array:
    """A copy of x that lies by rows."""
    if x.ndim > 2 and x.size >= COPY and channels_last(x) and supported(x):
        out = np.empty(x.shape, x.dtype)
        if _copied(x, out, "last", "rows"):
            return out
    return np.array(x, order="C")


def _copied(x: Array, out: Array, source: str, target: str) -> bool:
    try:
        copying = dnn.reorder(x.shape, source, target)
    except dnn.Refused:
        return False
    with dnn.scratch(copying.room) as (room,):
        copying.run(room, address(x), address(out))
    return True
