"""Loops over single float64 numbers: gelu, and activations whose formula in activations.py is of float32 alone.

A function name_double() is what loops of both precisions call for name().
"""

import math

from numpy.polynomial.chebyshev import cheb2poly

from ..coefficients import ERFCX
from .scalars import as_double, as_int64, double, doubles, fabs, floor, fma, polynomial

LOG2_E, LN2_HIGH, LN2_LOW = 1.4426950408889634, 6.93145751953125e-1, 1.42860682030941723212e-6
NOTHING_BELOW = -709.0                           # 2^-1023, of which the formula makes 0
HIGHEST, LOWEST = 710.0, -708.3                  # for these exp_double() gives inf and 0, and so for all beyond
FARTHEST = 37.66
WHOLE = 6755399441055744.0                       # 1.5 2^52: see functions.py
TANH_SCALE, TANH_CUBE, TANH_SLOPE = math.sqrt(2 / math.pi), 0.044715, 0.134145
DENSITY, ROOT_HALF = 1 / math.sqrt(2 * math.pi), math.sqrt(0.5)
SERIES = tuple(1 / math.factorial(k) for k in range(14, -1, -1))     # |r| < 0.35: exact to 1e-19
SERIES_OF_EXPM1 = SERIES[:-1]                                         # (e^r - 1) / r
ARTANH = tuple(1 / (2 * k + 1) for k in range(15, -1, -1))            # of sqrt(u), over sqrt(u), u <= 1 / 9: exact to 1e-17
TAIL = tuple(cheb2poly(ERFCX)[::-1].tolist())                        # (1 + 2a) erfcx(a), t = (a - 3.75) / (a + 3.75)


def power_below_double(x: double) -> double:
    """e^x for x <= 0."""
    y = NOTHING_BELOW if x < NOTHING_BELOW else x
    shifted = fma(y, LOG2_E, WHOLE + 1023)
    k = shifted - (WHOLE + 1023)
    r = fma(k, -LN2_LOW, fma(k, -LN2_HIGH, y))
    return polynomial(r, SERIES) * as_double(as_int64(shifted) << 52)


def exp_below_double(x: double) -> double:
    """The same, of which nan of nan is true already."""
    return power_below_double(x)


def exp_double(x: double) -> double:
    """e^x; 0 below 2^-1022, the smallest normal number, or a little above."""
    y = LOWEST if x < LOWEST else x
    y = HIGHEST if y > HIGHEST else y
    shifted = fma(y, LOG2_E, WHOLE + 1022)
    k = shifted - (WHOLE + 1022)
    r = fma(k, -LN2_LOW, fma(k, -LN2_HIGH, y))
    return polynomial(r, SERIES) * as_double(as_int64(shifted) << 52) * 2            # 2^1024 does not fit: half of it, twice


def expm1_below_double(x: double) -> double:
    """e^x - 1 for x <= 0, exact near 0 too."""
    y = NOTHING_BELOW if x < NOTHING_BELOW else x
    shifted = fma(y, LOG2_E, WHOLE + 1023)
    k = shifted - (WHOLE + 1023)
    r = fma(k, -LN2_LOW, fma(k, -LN2_HIGH, y))
    power = as_double(as_int64(shifted) << 52)
    return fma(r * polynomial(r, SERIES_OF_EXPM1), power, power - 1)


def log1p_small_double(x: double) -> double:
    """log(1 + x) for 0 <= x <= 1, by the series of 2 artanh(x / (2 + x)), whose argument is at most 1 / 3."""
    s = x / (2 + x)
    return 2 * s * polynomial(s * s, ARTANH)


def double_sigmoid(x: double) -> double:
    """1 / (1 + e^-x), without overflow."""
    e = power_below_double(-fabs(x))
    return (e if x < 0 else 1.0) / (1 + e)


def power_in_parts(high: double, low: double) -> double:
    """e^(high + low), not below 2^-1023, for high a multiple of 2^-16: of their sum no digit is lost. 0 for 2^-1023."""
    shifted = fma(high + low, LOG2_E, WHOLE + 1023)
    k = shifted - (WHOLE + 1023)
    r = fma(k, -LN2_LOW, fma(k, -LN2_HIGH, high)) + low
    return polynomial(r, SERIES) * as_double(as_int64(shifted) << 52)


def scaled_erfc(a: double) -> double:
    """erfc(a) / exp(-a^2), a >= 0; with one division for t and 1 / (1 + 2a)."""
    whole = 1 / ((a + 3.75) * (1 + 2 * a))
    return polynomial((a - 3.75) * (1 + 2 * a) * whole, TAIL) * ((a + 3.75) * whole)


def gauss(a: double) -> double:
    """exp(-a^2 / 2), a >= 0: rounding a^2 first would cost digits, so a^2 = h^2 + (a - h)(a + h), with h^2 exact."""
    h = floor(a * 16 + 0.5) * 0.0625
    return power_in_parts(-0.5 * (h * h), (h - a) * (h + a) * 0.5)


def limited(x: double) -> double:
    """|x|, at most 37.66, from where on gauss() is 0."""
    a = fabs(x)
    return FARTHEST if a > FARTHEST else a


def below(x: double, density: double) -> double:
    """The probability that a standard normal number is below x, given exp(-x^2 / 2): within 7e-16 of it."""
    q = 0.5 * density * scaled_erfc(limited(x) * ROOT_HALF)
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


def gelu_tanh_double(x: doubles, out: doubles, n: int) -> None:
    """gelu with tanh for the probability, (1 + tanh(u)) / 2 = sigmoid(2 u)."""
    for i in range(n):
        out[i] = x[i] * double_sigmoid(2 * TANH_SCALE * (x[i] + TANH_CUBE * (x[i] * x[i] * x[i])))


def gelu_tanh_backward_double(g: doubles, x: doubles, out: doubles, n: int) -> None:
    """g times its derivative."""
    for i in range(n):
        u = 2 * TANH_SCALE * (x[i] + TANH_CUBE * (x[i] * x[i] * x[i]))
        e = power_below_double(-fabs(u))
        s = (e if u < 0 else 1.0) / (1 + e)
        rest = (1.0 if u < 0 else e) / (1 + e)
        out[i] = g[i] * (s + x[i] * s * rest * (2 * TANH_SCALE * (1 + TANH_SLOPE * (x[i] * x[i]))))


def sigmoid_double(x: doubles, out: doubles, n: int) -> None:
    """1 / (1 + e^-x)."""
    for i in range(n):
        out[i] = double_sigmoid(x[i])


def silu_double(x: doubles, out: doubles, n: int) -> None:
    """x times sigmoid(x)."""
    for i in range(n):
        out[i] = x[i] * double_sigmoid(x[i])


def silu_backward_double(g: doubles, x: doubles, out: doubles, n: int) -> None:
    """g s (1 + x (1 - s)), s = sigmoid(x)."""
    for i in range(n):
        e = power_below_double(-fabs(x[i]))
        s = (e if x[i] < 0 else 1.0) / (1 + e)
        rest = (1.0 if x[i] < 0 else e) / (1 + e)
        out[i] = g[i] * (s * (1 + x[i] * rest))


def softplus_backward_double(g: doubles, x: doubles, out: doubles, n: int, beta: double, threshold: double) -> None:
    """g sigmoid(beta x); g where beta x is above the threshold."""
    for i in range(n):
        y = x[i] * beta
        z = g[i] * double_sigmoid(y)
        out[i] = g[i] if y > threshold else z


def hardswish_double(x: doubles, out: doubles, n: int) -> None:
    """x (x + 3, limited to [0, 6]) / 6."""
    for i in range(n):
        y = x[i] + 3
        y = 0.0 if y < 0 else y
        y = 6.0 if y > 6 else y
        out[i] = x[i] * y / 6
