"""Scaled dot product attention, float32, no mask but the causal one: softmax of the scores in place, by compiled loops.

Small problems go in one piece, and their probabilities are kept. Large ones go by blocks of rows of one matrix at a time;
two numbers a row are kept, from which the backward pass has the probabilities again, and causal blocks leave out the keys
that none of their queries sees. Without compiled loops forward() gives None, and the rule of ops/nn/attention.py works.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.types import Array
from .loops import FLOAT32, loops
from .matmul import matmul
from .products import product

WHOLE = 1 << 20                      # scores up to which they are kept: 4 MB
BLOCK = 1 << 18                      # scores at a time otherwise: with what they are made of they stay within the cache


def forward(q: Array, k: Array, v: Array, causal: bool, scale: float) -> tuple[Array, Any] | None:
    """q (..., l, e), k (..., s, e), v (..., s, d) -> (..., l, d), and the values that backward() needs."""
    size = math.prod(q.shape[:-1]) * k.shape[-2]
    if not size or q.shape[:-2] != k.shape[:-2] or k.shape[:-1] != v.shape[:-1] or not min(q.shape[-1], v.shape[-1]):
        return None
    if not (q.dtype is FLOAT32 and k.dtype is FLOAT32 and v.dtype is FLOAT32) or loops.library is None:
        return None
    return _all_rows(q, k, v, causal, scale) if size <= WHOLE else _blocked(q, k, v, causal, scale)


def backward(g: Array, q: Array, k: Array, v: Array, kept: Any, causal: bool, scale: float) -> tuple[Array, Array, Array]:
    """The gradients of q, k and v."""
    p, tops, sums = kept
    if p is None:
        return _blocked_backward(g, q, k, v, tops, sums, causal, scale)
    gp = matmul(g, v.swapaxes(-1, -2))
    loops.for_size(p.size).attention_backward(p, gp, p.size // p.shape[-1], p.shape[-1], scale)
    return (matmul(gp, k, out=_heads_inside(q.shape)),
            matmul(gp.swapaxes(-1, -2), q, out=_heads_inside(k.shape)),
            matmul(p.swapaxes(-1, -2), g, out=_heads_inside(v.shape)))


def _heads_inside(shape: tuple[int, ...]) -> Array:
    """Memory for (batch, heads, length, size), laid out as (batch, length, heads, size): what models make of it next is then
    no copy.
    """
    if len(shape) != 4:
        return np.empty(shape, FLOAT32)
    return np.empty((shape[0], shape[2], shape[1], shape[3]), FLOAT32).transpose(0, 2, 1, 3)


def _all_rows(q: Array, k: Array, v: Array, causal: bool, scale: float) -> tuple[Array, Any]:
    p = matmul(q, k.swapaxes(-1, -2))
    rows, columns = p.shape[-2:]
    sums = np.empty(p.size // columns, FLOAT32)
    loops.for_size(p.size).attention_softmax(p, np.empty_like(sums), sums, p.size // (rows * columns), rows, columns,
                                             0 if causal else -1, scale)
    return matmul(p, v, out=_heads_inside((*q.shape[:-1], v.shape[-1]))), (p, None, None)


def _row_blocks(rows: int, columns: int, causal: bool) -> list[tuple[int, int, int, int]]:
    """(first row, row after the last, columns that they see, first row or -1) of blocks."""
    step = max(BLOCK // columns, 16)
    return [(i, min(i + step, rows), min(i + step, rows, columns) if causal else columns, i if causal else -1)
            for i in range(0, rows, step)]


def _blocked(q: Array, k: Array, v: Array, causal: bool, scale: float) -> tuple[Array, Any]:
    out = np.empty((*q.shape[:-1], v.shape[-1]), FLOAT32)
    tops, sums = np.empty((2, *q.shape[:-1]), FLOAT32)
    blocks = _row_blocks(q.shape[-2], k.shape[-2], causal)
    for at in np.ndindex(q.shape[:-2]):
        for i, j, n, first in blocks:
            p = product(q[at][i:j], k[at][:n].T)
            loops.for_size(p.size).attention_softmax(p, tops[at][i:j], sums[at][i:j], 1, j - i, n, first, scale)
            product(p, v[at][:n], out[at][i:j])
    return out, (None, tops, sums)


def _blocked_backward(g: Array, q: Array, k: Array, v: Array, tops: Array, sums: Array, causal: bool,
                      scale: float) -> tuple[Array, Array, Array]:
    gq, gk, gv = np.empty(q.shape, FLOAT32), np.zeros(k.shape, FLOAT32), np.zeros(v.shape, FLOAT32)
    blocks = _row_blocks(q.shape[-2], k.shape[-2], causal)
    for at in np.ndindex(q.shape[:-2]):
        for i, j, n, first in blocks:
            rows, keys, go = q[at][i:j], k[at][:n], g[at][i:j]
            p = product(rows, keys.T)
            kernels = loops.for_size(p.size)
            kernels.attention_again(p, tops[at][i:j], sums[at][i:j], 1, j - i, n, first, scale)
            product(p.T, go, gv[at][:n], add=True)
            gp = product(go, v[at][:n].T)
            kernels.attention_backward(p, gp, j - i, n, scale)
            product(gp, keys, gq[at][i:j])
            product(gp.T, rows, gk[at][:n], add=True)
    return gq, gk, gv
