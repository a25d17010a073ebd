"""Loops over single float64 numbers: gelu. Compiled by numba; arrays come as pointers to objects."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import cheb2poly

from ..coefficients import ERFCX
from .processor import njit

DATA = 2
LOG2_E, LN2_HIGH, LN2_LOW = 1.4426950408889634, 6.93145751953125e-1, 1.42860682030941723212e-6
NOTHING_BELOW = -709.0                           # 2^-1023, of which the formula makes 0
FARTHEST = 64.0
DENSITY, ROOT_HALF = 1 / math.sqrt(2 * math.pi), math.sqrt(0.5)

inlined: Any = njit(fastmath={"contract"}, error_model="numpy", forceinline=True)


def horner(coefficients: Sequence[float]) -> Callable[[Any], Any]:
    """The polynomial of these coefficients, the constant first, 5 to a function: a loop would not be made into vectors, and
    each function takes 50 ms to compile."""
    a, b, c, d, e = (float(v) for v in coefficients[:5])
    if len(coefficients) == 5:
        return inlined(lambda t: (((e * t + d) * t + c) * t + b) * t + a)  # type: ignore[no-any-return]
    rest = horner(coefficients[5:])
    return inlined(lambda t: ((((rest(t) * t + e) * t + d) * t + c) * t + b) * t + a)  # type: ignore[no-any-return]


series: Any = horner([1 / math.factorial(k) for k in range(15)])      # |r| < 0.35: exact to 1e-19
tail: Any = horner(list(cheb2poly(ERFCX)))                            # (1 + 2a) erfcx(a), t = (a - 3.75) / (a + 3.75)


@inlined
def power_below(x: Any) -> Any:
    """e^x for x <= 0."""
    y = NOTHING_BELOW if x < NOTHING_BELOW else x
    k = np.floor(y * LOG2_E + 0.5)
    r = y - k * LN2_HIGH - k * LN2_LOW
    return series(r) * np.int64((np.int64(k) + 1023) << 52).view(np.float64)


@inlined
def gauss(a: Any) -> Any:
    """exp(-a^2 / 2), a >= 0: rounding a^2 first would cost digits, so a^2 = h^2 + (a - h)(a + h), with h^2 exact."""
    h = np.floor(a * 16 + 0.5) * 0.0625
    step = (a - h) * (a + h) * -0.5
    low = power_below(-abs(step))                    # for negative steps; its inverse for the others
    return power_below(-0.5 * (h * h)) * (low if step < 0 else 1 / low)


@inlined
def size(x: Any) -> Any:
    """|x|, at most 64: beyond 38 all is 0."""
    a = abs(x)
    return FARTHEST if a > FARTHEST else a


@inlined
def below(x: Any, density: Any) -> Any:
    """The probability that a standard normal number is below x, given exp(-x^2 / 2): within 7e-16 of it."""
    a = size(x) * ROOT_HALF
    q = 0.5 * density * tail((a - 3.75) / (a + 3.75)) / (1 + 2 * a)
    return q if x < 0 else 1 - q


def gelu_double(x_: Any, out_: Any, n: int) -> None:
    """x times that probability."""
    x, out = x_[DATA], out_[DATA]
    for i in range(n):
        out[i] = x[i] * below(x[i], gauss(size(x[i])))


def gelu_backward_double(g_: Any, x_: Any, out_: Any, n: int) -> None:
    """g times (that probability + x times its density)."""
    g, x, out = g_[DATA], x_[DATA], out_[DATA]
    for i in range(n):
        density = gauss(size(x[i]))
        out[i] = g[i] * (below(x[i], density) + x[i] * (DENSITY * density))
