"""Loops over the middle dimension of (blocks, n, inner): sums, logarithms of sums of exponentials. Compiled by numba, sums
in an order that suits vectors (the same each time); arrays come as pointers to objects.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .rows import largest, powers
from .scalar_math import F, exp

DATA = 2
NOTHING = F(-np.inf)


def sums(x_: Any, totals_: Any, out_: Any, blocks: int, n: int, inner: int) -> None:
    """The sums over the middle: of 8 rows at a time, these in float64. totals: memory for `inner` numbers."""
    x, totals, out = x_[DATA], totals_[DATA], out_[DATA]
    if inner == 1:
        for b in range(blocks):
            total = F(0)
            for j in range(b * n, b * n + n):
                total += x[j]
            out[b] = total
        return
    for b in range(blocks):
        for j in range(inner):
            totals[j] = 0.0
        i = 0
        while i + 8 <= n:
            a0 = (b * n + i) * inner
            a1, a2, a3, a4, a5, a6, a7 = (a0 + inner, a0 + 2 * inner, a0 + 3 * inner, a0 + 4 * inner, a0 + 5 * inner,
                                          a0 + 6 * inner, a0 + 7 * inner)
            for j in range(inner):
                totals[j] += (((x[a0 + j] + x[a1 + j]) + (x[a2 + j] + x[a3 + j]))
                              + ((x[a4 + j] + x[a5 + j]) + (x[a6 + j] + x[a7 + j])))
            i += 8
        while i < n:
            at = (b * n + i) * inner
            for j in range(inner):
                totals[j] += x[at + j]
            i += 1
        for j in range(inner):
            out[b * inner + j] = F(totals[j])


def middle_power_sums(x_: Any, memory_: Any, wide_: Any, tops_: Any, sums_: Any, blocks: int, n: int, inner: int) -> None:
    """The largest elements over the middle (0 where that is infinite), and the sums of exp(x - largest). `memory` is for the
    larger of n and inner, `wide` for inner numbers."""
    x, memory, wide, tops, totals = x_[DATA], memory_[DATA], wide_[DATA], tops_[DATA], sums_[DATA]
    for b in range(blocks):
        if inner == 1:
            for i in range(n):
                memory[i] = x[b * n + i]
            top = largest(memory, 0, n)
            top = top if np.abs(top) < F(np.inf) else F(0)
            tops[b] = top
            totals[b] = powers(memory, 0, n, top)
            continue
        to = b * inner
        for j in range(inner):
            tops[to + j] = NOTHING
            wide[j] = 0.0
        for i in range(n):
            at = (b * n + i) * inner
            for j in range(inner):
                top, here = tops[to + j], x[at + j]
                tops[to + j] = here if here > top else top
        for j in range(inner):
            top = tops[to + j]
            tops[to + j] = top if np.abs(top) < F(np.inf) else F(0)
        for i in range(n):
            at = (b * n + i) * inner
            for j in range(inner):
                memory[j] = exp(x[at + j] - tops[to + j])
            for j in range(inner):
                wide[j] += memory[j]
        for j in range(inner):
            totals[to + j] = F(wide[j])


def logsumexp_backward(x_: Any, z_: Any, g_: Any, out_: Any, blocks: int, n: int, inner: int) -> None:
    """g exp(x - z), where z and g lack the middle; z is not -inf."""
    x, z, g, out = x_[DATA], z_[DATA], g_[DATA], out_[DATA]
    for b in range(blocks):
        if inner == 1:
            for i in range(b * n, b * n + n):
                out[i] = exp(x[i] - z[b])
            for i in range(b * n, b * n + n):
                out[i] *= g[b]
            continue
        to = b * inner
        for i in range(n):
            at = (b * n + i) * inner
            for j in range(inner):
                out[at + j] = exp(x[at + j] - z[to + j])
            for j in range(inner):
                out[at + j] *= g[to + j]


def running_sums(x_: Any, totals_: Any, out_: Any, blocks: int, n: int, inner: int, back: int) -> None:
    """The sums, in float64, of the first 1, 2, ... along the middle; of the last ones if `back`. totals: memory for inner
    numbers."""
    x, totals, out = x_[DATA], totals_[DATA], out_[DATA]
    for b in range(blocks):
        first = (b * n + (n - 1 if back else 0)) * inner
        step = -inner if back else inner
        if inner == 1:
            total = 0.0
            for i in range(n):
                total += x[first + i * step]
                out[first + i * step] = F(total)
            continue
        for j in range(inner):
            totals[j] = 0.0
        for i in range(n):
            at = first + i * step
            for j in range(inner):
                totals[j] += x[at + j]
                out[at + j] = F(totals[j])


def extremes(x_: Any, out_: Any, blocks: int, n: int, inner: int, sign: Any) -> None:
    """The largest over the middle, of n > 0; the smallest for sign -1. nan wins."""
    x, out = x_[DATA], out_[DATA]
    for b in range(blocks):
        if inner == 1:
            highest = x[b * n]
            for i in range(b * n + 1, b * n + n):
                highest = highest if sign * x[i] <= sign * highest or highest != highest else x[i]
            out[b] = highest
            continue
        to = b * inner
        for j in range(inner):
            out[to + j] = x[b * n * inner + j]
        for i in range(1, n):
            at = (b * n + i) * inner
            for j in range(inner):
                here, top = x[at + j], out[to + j]
                out[to + j] = top if sign * here <= sign * top or top != top else here
