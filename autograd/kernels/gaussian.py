"""The normal distribution's cumulative function, on arrays.

Rational approximations of W. J. Cody, "Rational Chebyshev approximations for the error function", Mathematics of
Computation 23 (1969): one each for small, middle and large arguments, good to the last digits of double precision.
Single precision takes one formula for all arguments, t exp(-y^2 + polynomial in t) with t = 1 / (1 + y / 2), from Press
et al., "Numerical Recipes" (section on the error function), good to 1.2e-7.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Numerators and denominators, highest power first.
SMALL = ((1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2, 3.77485237685302021e2, 3.20937758913846947e3),
         (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3))
MIDDLE = ((2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1,
           2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
           1.23033935479799725e3),
          (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
           3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3))
LARGE = ((1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
          1.60837851487422766e-2, 6.58749161529837803e-4),
         (1.0, 2.56852019228982242, 1.87295284992346725, 5.27905102951428412e-1, 6.05183413124413191e-2,
          2.33520497626869185e-3))
SINGLE = (0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196, 1.00002368,
          -1.26551223)
BLOCK = 1 << 14                                      # elements that stay in the cache while the polynomial is built up


def ratio(table: tuple[tuple[float, ...], tuple[float, ...]], x: Array) -> Array:
    """The two polynomials at x, by Horner's rule, divided."""
    top, bottom = (_polynomial(coefficients, x) for coefficients in table)
    top /= bottom
    return top


def _polynomial(coefficients: tuple[float, ...], x: Array) -> Array:
    out = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        out *= x
        out += c
    return out


def normal_cdf(x: Array) -> Array:
    """The probability that a standard normal number is below x: erfc(-x / sqrt(2)) / 2."""
    if x.dtype == np.float16:
        return normal_cdf(x.astype(np.float32)).astype(np.float16)
    if x.dtype == np.float32:
        flat = x.reshape(-1)
        out = np.empty_like(flat)
        for start in range(0, flat.size, BLOCK):
            _single(flat[start:start + BLOCK], out[start:start + BLOCK])
        return out.reshape(x.shape)
    y = np.abs(np.atleast_1d(x)) * x.dtype.type(math.sqrt(0.5))
    tail = np.empty_like(y)                          # erfc(|x| / sqrt(2)) / 2
    small = y <= 0.46875
    if small.any():
        s = y[small]
        tail[small] = 0.5 - 0.5 * s * ratio(SMALL, s * s)
    rest = ~small                                    # nan too
    if rest.any():
        tail[rest] = 0.5 * _erfc(y[rest])
    return np.where(np.atleast_1d(x) > 0, 1 - tail, tail).reshape(x.shape)


def _single(x: Array, out: Array) -> None:
    """normal_cdf in single precision, into `out`."""
    y = np.abs(x)
    y *= np.float32(math.sqrt(0.5))
    t = 1 / (1 + np.float32(0.5) * y)
    out.fill(SINGLE[0])
    for c in SINGLE[1:]:
        out *= t
        out += np.float32(c)
    out -= y * y
    np.exp(out, out=out)
    out *= t
    out *= np.float32(0.5)
    np.copysign(out, x, out=out)
    np.subtract(~np.signbit(x), out, out=out)        # 1 - tail above 0, tail below; np.where is slow on random signs


def _erfc(y: Array) -> Array:
    """erfc for y > 0.46875: exp(-y^2) times a rational function; y^2 split in two lest its rounding shows."""
    coarse = np.trunc(y * 16) / 16
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        scale = np.exp(-coarse * coarse) * np.exp(-(y - coarse) * (y + coarse))
        factor = ratio(MIDDLE, np.minimum(y, 4))
        large = y > 4
        if large.any():
            v = np.minimum(y[large], 1e4)
            w = 1 / (v * v)
            factor[large] = (1 / math.sqrt(math.pi) - w * ratio(LARGE, w)) / v
        out = scale * factor
    out[y > 30] = 0
    return out
