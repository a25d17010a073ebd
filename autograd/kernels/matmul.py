"""NumPy's matrix product, in pieces for the thread pool where it is large."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ..base.thread_pool import share
from ..base.types import Array
from .openblas import WHOLE, alone
from .threads import number, thread_settings

NARROW = 1 << 13                     # elements of a matrix below which OpenBLAS uses one thread anyway
PART = 1 << 24                       # multiplications of a piece


def matmul(x: Array, y: Array, out: Array | None = None) -> Array:
    """np.matmul(x, y, out), the result in C order: with one thread of OpenBLAS, large ones in pieces on several threads."""
    if (thread_settings.number or number()) == 1 or x.size + y.size < NARROW:
        return np.matmul(x, y, order="C") if out is None else np.matmul(x, y, out=out)
    with alone():
        parts = _parts(x, y)
        if parts < 2:
            return np.matmul(x, y, order="C") if out is None else np.matmul(x, y, out=out)
        if out is None:
            stack = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
            out = np.empty((*stack, x.shape[-2], y.shape[-1]), x.dtype)
        share([_piece(x, y, out, part, parts) for part in range(parts)], number())
        return out


def _parts(x: Array, y: Array) -> int:
    """Into how many pieces a product is cut."""
    if x.ndim < 2 or y.ndim < 2 or x.dtype.kind not in "fc" or x.dtype != y.dtype or x.dtype.itemsize < 4:
        return 1
    stack = max(prod(x.shape[:-2]), prod(y.shape[:-2]))          # at least so many matrices
    rows, columns, deep = x.shape[-2], y.shape[-1], max(x.ndim, y.ndim)
    length = max(len(z) for z in (x, y) if z.ndim == deep)
    work = stack * rows * x.shape[-1] * columns
    return 1 if work < WHOLE else min(2 * number(), work // PART, max(rows, columns) if stack == 1 else length)


def _piece(x: Array, y: Array, out: Array, part: int, parts: int) -> Callable[[], Any]:
    """One of the pieces: rows of the result, or columns where there are more of these; of a stack a part of its first
    dimension."""
    def part_of(length: int) -> slice:
        return slice(length * part // parts, length * (part + 1) // parts)

    if prod(out.shape[:-2]) != 1:
        some, deep = part_of(len(out)), out.ndim
        return lambda: np.matmul(x[some] if x.ndim == deep and len(x) > 1 else x,
                                 y[some] if y.ndim == deep and len(y) > 1 else y, out=out[some])
    if out.shape[-1] > out.shape[-2]:
        some = part_of(out.shape[-1])
        return lambda: np.matmul(x, y[..., some], out=out[..., some])
    some = part_of(out.shape[-2])
    return lambda: np.matmul(x[..., some, :], y, out=out[..., some, :])
