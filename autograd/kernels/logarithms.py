"""Logarithms of sums of two exponentials. logaddexp of NumPy goes number by number: 300 to 900 us for 16,000, these 40."""

from __future__ import annotations

import numpy as np

from ..base.types import Array
from .loops import loops


def softplus(x: Array) -> Array:
    """log(1 + exp(x)), without overflow."""
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, np.zeros((), x.dtype))


def logaddexp(x: Array, y: Array) -> Array:
    """log(exp(x) + exp(y)), without overflow."""
    if np.result_type(x, y).kind == "c":
        return _complex_logaddexp(x, y)
    top, low = np.maximum(x, y), np.minimum(x, y)
    with np.errstate(invalid="ignore"):              # equal infinities have no difference
        below = np.where(top == low, np.zeros((), top.dtype), low - top)
    return top + np.log1p(np.exp(below))


def _complex_logaddexp(x: Array, y: Array) -> Array:
    """The principal value, with an imaginary part from -pi to pi. A part whose exponential is 0 does not count."""
    first = np.real(x) >= np.real(y)
    top, low = np.where(first, x, y), np.where(first, y, x)
    with np.errstate(all="ignore"):
        height = np.where(np.isfinite(top.real), top.real, 0)                  # of two infinities: as they are
        turned = np.exp(low - height)
        turned = np.exp(top - height) + np.where(low.real == -np.inf, 0, turned)
        turned = np.where(top.real == -np.inf, 0, turned)
        alone = np.isposinf(top.real) & ~np.isposinf(low.real)
        out = height + np.log(turned)
    unknown = np.isnan(x) | np.isnan(y)
    return np.where(unknown, complex(np.nan, np.nan), np.where(alone, top, out)).astype(np.result_type(x, y), copy=False)


def logcumsumexp(x: Array, dim: int) -> Array:
    """The logarithms of the running sums of exponentials along dim."""
    kernels = loops.library
    made = None if kernels is None else kernels.logcumsumexp_of(x, dim, -1)
    if made is not None:
        return made  # type: ignore[no-any-return]
    if x.dtype.kind != "c":
        wide = x.astype(np.float64) if x.dtype == np.float32 else x
        return np.logaddexp.accumulate(wide, axis=dim, dtype=wide.dtype).astype(x.dtype, copy=False)
    out = np.array(x)
    rows = np.moveaxis(out, dim, 0)
    for i in range(1, len(rows)):
        rows[i] = _complex_logaddexp(rows[i - 1], rows[i])
    return out
