"""Loops over rows that are given by number, in range. Compiled by numba; arrays come as pointers to objects."""

from __future__ import annotations

from typing import Any

DATA = 2


def add_rows(out_: Any, index_: Any, values_: Any, count: int, n: int) -> None:
    """out[index[i]] += values[i], rows of n numbers."""
    out, index, values = out_[DATA], index_[DATA], values_[DATA]
    if n == 1:
        for i in range(count):
            out[index[i]] += values[i]
        return
    for i in range(count):
        to, at = index[i] * n, i * n
        for j in range(n):
            out[to + j] += values[at + j]


def extreme_rows(out_: Any, index_: Any, values_: Any, count: int, n: int, sign: Any) -> None:
    """out[index[i]] becomes the larger of itself and values[i], by element; the smaller one for sign -1. nan wins."""
    out, index, values = out_[DATA], index_[DATA], values_[DATA]
    for i in range(count):
        to, at = index[i] * n, i * n
        for j in range(n):
            a, b = out[to + j], values[at + j]
            out[to + j] = a if sign * b <= sign * a or a != a else b


def gather(x_: Any, index_: Any, out_: Any, blocks: int, n: int, count: int, inner: int) -> None:
    """out[b, i, j] = x[b, index[b, i, j], j], where x has n elements along its middle, the index `count`."""
    x, index, out = x_[DATA], index_[DATA], out_[DATA]
    if inner == 1:
        for b in range(blocks):
            for i in range(b * count, b * count + count):
                out[i] = x[b * n + index[i]]
        return
    for b in range(blocks):
        for i in range(count):
            at = (b * count + i) * inner
            for j in range(inner):
                out[at + j] = x[(b * n + index[at + j]) * inner + j]


def scatter_add(out_: Any, index_: Any, src_: Any, blocks: int, n: int, count: int, inner: int) -> None:
    """out[b, index[b, i, j], j] += src[b, i, j]."""
    out, index, src = out_[DATA], index_[DATA], src_[DATA]
    if inner == 1:
        for b in range(blocks):
            for i in range(b * count, b * count + count):
                out[b * n + index[i]] += src[i]
        return
    for b in range(blocks):
        for i in range(count):
            at = (b * count + i) * inner
            for j in range(inner):
                out[(b * n + index[at + j]) * inner + j] += src[at + j]
