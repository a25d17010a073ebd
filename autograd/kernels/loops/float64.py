"""Loops over single float64 numbers: gelu."""

import math

from numpy.polynomial.chebyshev import cheb2poly

from ..coefficients import ERFCX
from .scalars import as_double, as_int64, double, doubles, fabs, floor, fma, polynomial

LOG2_E, LN2_HIGH, LN2_LOW = 1.4426950408889634, 6.93145751953125e-1, 1.42860682030941723212e-6
NOTHING_BELOW = -709.0                           # 2^-1023, of which the formula makes 0
FARTHEST = 64.0
WHOLE = 6755399441055744.0                       # 1.5 2^52: see functions.py
DENSITY, ROOT_HALF = 1 / math.sqrt(2 * math.pi), math.sqrt(0.5)
SERIES = tuple(1 / math.factorial(k) for k in range(14, -1, -1))     # |r| < 0.35: exact to 1e-19
TAIL = tuple(cheb2poly(ERFCX)[::-1].tolist())                        # (1 + 2a) erfcx(a), t = (a - 3.75) / (a + 3.75)


def double_power_below(x: double) -> double:
    """e^x for x <= 0."""
    y = NOTHING_BELOW if x < NOTHING_BELOW else x
    shifted = fma(y, LOG2_E, WHOLE + 1023)
    k = shifted - (WHOLE + 1023)
    r = fma(k, -LN2_LOW, fma(k, -LN2_HIGH, y))
    return polynomial(r, SERIES) * as_double(as_int64(shifted) << 52)


def gauss(a: double) -> double:
    """exp(-a^2 / 2), a >= 0: rounding a^2 first would cost digits, so a^2 = h^2 + (a - h)(a + h), with h^2 exact."""
    h = floor(a * 16 + 0.5) * 0.0625
    step = (a - h) * (a + h) * -0.5
    low = double_power_below(-fabs(step))             # for negative steps; its inverse for the others
    return double_power_below(-0.5 * (h * h)) * (low if step < 0 else 1 / low)


def limited(x: double) -> double:
    """|x|, at most 64: beyond 38 all is 0."""
    a = fabs(x)
    return FARTHEST if a > FARTHEST else a


def below(x: double, density: double) -> double:
    """The probability that a standard normal number is below x, given exp(-x^2 / 2): within 7e-16 of it."""
    a = limited(x) * ROOT_HALF
    q = 0.5 * density * polynomial((a - 3.75) / (a + 3.75), TAIL) / (1 + 2 * a)
    return q if x < 0 else 1 - q


def gelu_double(x: doubles, out: doubles, n: int) -> None:
    """x times that probability."""
    for i in range(n):
        out[i] = x[i] * below(x[i], gauss(limited(x[i])))


def gelu_backward_double(g: doubles, x: doubles, out: doubles, n: int) -> None:
    """g times (that probability + x times its density)."""
    for i in range(n):
        density = gauss(limited(x[i]))
        out[i] = g[i] * (below(x[i], density) + x[i] * (DENSITY * density))
