"""Chebyshev series, and the frame that kernels of special functions share: flat arrays in double precision."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.types import Array
from . import activations

BLOCK = 8192                                        # elements at a time: what is made on the way stays in the cache


def series(coefficients: Array, t: Array) -> Array:
    """The sum of c_n T_n(t), -1 <= t <= 1, by Clenshaw's recurrence (Clenshaw 1955)."""
    twice = t + t
    b, before = np.full_like(t, coefficients[-1]), np.zeros_like(t)
    for c in coefficients[-2:0:-1]:
        following = twice * b
        following -= before
        following += c
        b, before = following, b
    return t * b - before + coefficients[0]


def pieces(x: Array, *parts: tuple[Array, Callable[[Array], Array]]) -> Array:
    """f(x) where its mask holds, for each (mask, f); nan where none does. The first mask that holds decides."""
    out = np.full(x.shape, np.nan)
    open_ = np.ones(x.shape, bool)
    for mask, f in parts:
        mask = mask & open_
        count = np.count_nonzero(mask)
        if count == x.size and count:
            return f(x)
        if count:
            out[mask] = f(x[mask])
            open_ &= ~mask
    return out


def in_double(function: Callable[..., Array], loop: str = "") -> Callable[..., Any]:
    """`function` of flat float64 arrays, for arrays of any floating dtype and shape, and numbers: all broadcast. The result
    has the order of memory of the first array that is not broadcast. `loop` names the compiled loop of one argument that is
    used where there is one."""

    @functools.wraps(function)
    def wrapped(*arrays: Any) -> Array:
        if loop and isinstance(arrays[0], np.ndarray):
            made = activations.forward(loop, arrays[0])
            if made is not None:
                return made
        dtype = next((a.dtype for a in arrays if isinstance(a, (np.ndarray, np.generic))), np.dtype(np.float64))
        same: Any = np.broadcast_arrays(*arrays)
        whole = next((a for a in same if 0 not in a.strides), same[0])
        order = None
        if not whole.flags.c_contiguous and whole.ndim > 1:
            order = sorted(range(whole.ndim), key=whole.strides.__getitem__, reverse=True)
            same = [a.transpose(order) for a in same]
        flat = [a.ravel() for a in same]
        out = np.empty(flat[0].shape, dtype)
        step = BLOCK if type(flat[0]) is np.ndarray else max(1, out.size)      # compile() fuses what is made on the way
        for start in range(0, out.size, step):
            block = slice(start, start + step)
            out[block] = function(*(a[block].astype(np.float64) for a in flat))
        out = out.reshape(same[0].shape)
        return out if order is None else out.transpose(sorted(range(out.ndim), key=order.__getitem__))

    return wrapped
