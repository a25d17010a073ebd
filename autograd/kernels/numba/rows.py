"""Loops over rows: softmax and its kin, layer norm. Compiled by numba, sums in an order that suits vectors (the same each
time); arrays come as pointers to objects.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .processor import njit
from .scalar_math import F, exp
from .signatures import CENTRED, OF_BIAS, OF_WEIGHT, OF_X, SHIFTED, WEIGHTED

DATA = 2
ONE, NOTHING = F(1), F(-np.inf)
SIGN, ALL = np.int32(31), np.int32(0x7fffffff)
LEAST = np.int32(np.array(-np.inf, np.float32).view(np.int32) ^ ALL)


@njit(error_model="numpy", forceinline=True)
def largest(x: Any, start: int, n: int) -> Any:
    """The largest of x[start:start + n], -inf of none. By their bits, which as integers are in the same order once those of
    negative numbers are turned round: floating point maxima are not made into vectors unless nan is ruled out. A nan wins.
    """
    top = LEAST
    for j in range(n):
        bits = np.float32(x[start + j]).view(np.int32)
        key = np.int32(bits ^ ((bits >> SIGN) & ALL))
        top = key if key > top else top
    return np.int32(top ^ ((top >> SIGN) & ALL)).view(np.float32)


# in place, and in two loops: from one array to another vectors would depend on a check that they differ, and together with
# the sum exponentials stay scalar
@njit(fastmath={"contract", "reassoc"}, error_model="numpy", forceinline=True)
def powers(x: Any, start: int, n: int, top: Any) -> Any:
    """Elements become exp(x - top); their sum."""
    for j in range(n):
        x[start + j] = exp(x[start + j] - top)
    total = F(0)
    for j in range(n):
        total += x[start + j]
    return total


def softmax(x_: Any, out_: Any, rows: int, n: int) -> None:
    """exp(x) over its sum, row by row."""
    x, out = x_[DATA], out_[DATA]
    for r in range(rows):
        at = r * n
        for j in range(n):
            out[at + j] = x[at + j]
        total = ONE / powers(out, at, n, largest(out, at, n))
        for j in range(n):
            out[at + j] *= total


def softmax_backward(z_: Any, g_: Any, out_: Any, rows: int, n: int) -> None:
    """z * (g - sum(g * z))."""
    z, g, out = z_[DATA], g_[DATA], out_[DATA]
    for r in range(rows):
        total = F(0)
        for j in range(n):
            total += z[r * n + j] * g[r * n + j]
        for j in range(n):
            out[r * n + j] = z[r * n + j] * (g[r * n + j] - total)


def power_sums(x_: Any, row_: Any, tops_: Any, sums_: Any, rows: int, n: int) -> None:
    """Each row's largest element, and the sum of exp(x - largest). `row` is memory for n numbers."""
    x, row, tops, sums = x_[DATA], row_[DATA], tops_[DATA], sums_[DATA]
    for r in range(rows):
        for j in range(n):
            row[j] = x[r * n + j]
        top = largest(row, 0, n)
        tops[r] = top
        sums[r] = powers(row, 0, n, top)


def log_softmax_backward(z_: Any, g_: Any, out_: Any, rows: int, n: int) -> None:
    """g - exp(z) * sum(g)."""
    z, g, out = z_[DATA], g_[DATA], out_[DATA]
    for r in range(rows):
        total = F(0)
        for j in range(n):
            total += g[r * n + j]
        for j in range(n):
            out[r * n + j] = g[r * n + j] - exp(z[r * n + j]) * total


def cross_entropy_backward(x_: Any, tops_: Any, factor_: Any, share_: Any, target_: Any, out_: Any, rows: int,
                           n: int) -> None:
    """exp(x - top) * factor - one hot * share."""
    x, tops, factor, share, target, out = x_[DATA], tops_[DATA], factor_[DATA], share_[DATA], target_[DATA], out_[DATA]
    for r in range(rows):
        for j in range(n):
            out[r * n + j] = exp(x[r * n + j] - tops[r]) * factor[r]
        out[r * n + target[r]] -= share[r]


# --- attention: the first columns of a row count, those of keys not after the query; the loops go over all, for vectors ---

@njit(error_model="numpy", forceinline=True)
def limit_of(row: int, n: int, first: int) -> Any:
    """How many columns count; all, if first is -1."""
    return n if first < 0 or first + row + 1 > n else first + row + 1


def attention_softmax(s_: Any, tops_: Any, sums_: Any, matrices: int, rows: int, n: int, first: int, scale: Any) -> None:
    """Scores become probabilities, in place; a row without any stays 0."""
    s, tops, sums = s_[DATA], tops_[DATA], sums_[DATA]
    for r in range(matrices * rows):
        m = limit_of(r % rows, n, first)
        for j in range(n):
            y = s[r * n + j] * scale
            s[r * n + j] = y if j < m else NOTHING
        top = largest(s, r * n, n)
        top = F(0) if top == NOTHING else top
        total = powers(s, r * n, n, top)
        total = ONE if total == F(0) else total
        tops[r] = top
        sums[r] = total
        total = ONE / total
        for j in range(n):
            s[r * n + j] *= total


def attention_again(s_: Any, tops_: Any, sums_: Any, matrices: int, rows: int, n: int, first: int, scale: Any) -> None:
    """The same from tops and sums that are known."""
    s, tops, sums = s_[DATA], tops_[DATA], sums_[DATA]
    for r in range(matrices * rows):
        m = limit_of(r % rows, n, first)
        share = ONE / sums[r]
        top = tops[r]
        for j in range(n):
            y = exp(s[r * n + j] * scale - top) * share
            s[r * n + j] = y if j < m else F(0)


def attention_backward(p_: Any, g_: Any, rows: int, n: int, scale: Any) -> None:
    """The gradient g of the probabilities becomes that of the scores, in place; where a probability is 0, 0."""
    p, g = p_[DATA], g_[DATA]
    for r in range(rows):
        total = F(0)
        for j in range(n):
            total += p[r * n + j] * g[r * n + j]
        for j in range(n):
            g[r * n + j] = p[r * n + j] * (g[r * n + j] - total) * scale


# --- layer norm ---------------------------------------------------------------------------------------------------------

def layer_norm(x_: Any, weight_: Any, bias_: Any, out_: Any, means_: Any, scales_: Any, rows: int, n: int, parts: int,
               eps: Any) -> None:
    """(x - mean) / sqrt(variance + eps) * weight + bias, row by row."""
    x, weight, bias, out, means, scales = x_[DATA], weight_[DATA], bias_[DATA], out_[DATA], means_[DATA], scales_[DATA]
    for r in range(rows):
        at = r * n
        mean = F(0)
        if parts & CENTRED:
            for j in range(n):
                mean += x[at + j]
            mean /= F(n)
        square = F(0)
        for j in range(n):
            y = x[at + j] - mean
            square += y * y
        scale = ONE / math.sqrt(square / F(n) + eps)
        means[r] = mean
        scales[r] = scale
        if parts & WEIGHTED and parts & SHIFTED:
            for j in range(n):
                out[at + j] = (x[at + j] - mean) * scale * weight[j] + bias[j]
        elif parts & WEIGHTED:
            for j in range(n):
                out[at + j] = (x[at + j] - mean) * scale * weight[j]
        else:
            for j in range(n):
                out[at + j] = (x[at + j] - mean) * scale


def layer_norm_backward(g_: Any, x_: Any, weight_: Any, means_: Any, scales_: Any, gx_: Any, gw_: Any, gb_: Any,
                        totals_: Any, rows: int, n: int, parts: int) -> None:
    """With h = g * weight and z the standardized x: gx = (h - mean(h) - z mean(h z)) * scale; gw and gb, which are zeros,
    add up, 16 rows at a time in float32, these in float64. totals: zeros for 2 rows."""
    g, x, weight, means, scales = g_[DATA], x_[DATA], weight_[DATA], means_[DATA], scales_[DATA]
    gx, gw, gb, totals = gx_[DATA], gw_[DATA], gb_[DATA], totals_[DATA]
    for r in range(rows):
        at, mean, scale = r * n, means[r], scales[r]
        if parts & OF_WEIGHT:
            for j in range(n):
                gw[j] += g[at + j] * ((x[at + j] - mean) * scale)
            if r % 16 == 15 or r == rows - 1:
                for j in range(n):
                    totals[j] += gw[j]
                    gw[j] = F(totals[j]) if r == rows - 1 else F(0)
        if parts & OF_BIAS:
            for j in range(n):
                gb[j] += g[at + j]
            if r % 16 == 15 or r == rows - 1:
                for j in range(n):
                    totals[n + j] += gb[j]
                    gb[j] = F(totals[n + j]) if r == rows - 1 else F(0)
        if not parts & OF_X:
            continue
        whole, along = F(0), F(0)
        if parts & WEIGHTED:
            for j in range(n):
                h = g[at + j] * weight[j]
                gx[at + j] = h
                whole += h
                along += h * ((x[at + j] - mean) * scale)
        else:
            for j in range(n):
                h = g[at + j]
                gx[at + j] = h
                whole += h
                along += h * ((x[at + j] - mean) * scale)
        whole = whole / F(n) if parts & CENTRED else F(0)
        along /= F(n)
        for j in range(n):
            gx[at + j] = (gx[at + j] - whole - (x[at + j] - mean) * scale * along) * scale
