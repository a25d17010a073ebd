"""The error function and related functions, for real arguments, to a few units in the last place of double precision.

erfcx(x) = exp(x^2) erfc(x) is smooth and tame on [0, inf): one Chebyshev series in t = (x - k) / (x + k) after division by
its asymptote (Shepherd and Laframboise, Math. Comp. 36, 1981). The others follow. Inverses: a start from Abramowitz and
Stegun 26.2.23, then Halley's iteration.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .chebyshev import Array, in_double, pieces, series
from .coefficients import ERF, ERF_ABOVE, ERF_BELOW, ERFCX
from .loops import FLOAT32, FLOAT64

ROOT_PI = float(np.sqrt(np.pi))
ROOT_2 = float(np.sqrt(2))


def gauss(x: Array, factor: float = -1) -> Array:
    """exp(factor * x^2), where rounding x^2 first would cost digits: x^2 = h^2 + (x - h)(x + h), with h^2 exact."""
    x = np.minimum(np.abs(x), 64)
    h = np.rint(x * 16) / 16
    return np.exp(factor * h * h) * np.exp(factor * (x - h) * (x + h))


def _erfcx_right(x: Array) -> Array:
    return series(ERFCX, 1 - 7.5 / (x + 3.75)) / (1 + 2 * x)


def _erf_near(x: Array) -> Array:
    return x * series(ERF, 2 * (x * x) - 1)


def _erfc_right(x: Array) -> Array:
    return gauss(x) * _erfcx_right(x)


def _erf(x: Array) -> Array:
    return pieces(x, (np.abs(x) <= 1, _erf_near), (x > 0, lambda x: 1 - _erfc_right(x)),
                  (x < 0, lambda x: _erfc_right(-x) - 1))


def _erf_single(x: Array) -> Array:
    x = np.clip(x, -4, 4)
    u = x * x
    p, q = ERF_ABOVE[0] * u, ERF_BELOW[0] * u
    for c in ERF_ABOVE[1:-1]:
        p += c
        p *= u
    for c in ERF_BELOW[1:-1]:
        q += c
        q *= u
    p += ERF_ABOVE[-1]
    q += ERF_BELOW[-1]
    p *= x
    p /= q
    return np.clip(p, -1, 1, out=p)


def _erfc(x: Array) -> Array:
    return pieces(x, (np.abs(x) <= 0.5, lambda x: 1 - _erf_near(x)), (x > 0, _erfc_right),
                  (x < 0, lambda x: 2 - _erfc_right(-x)))


def _erfcx(x: Array) -> Array:
    return pieces(x, (x >= 0, _erfcx_right), (x < 0, lambda x: 2 * gauss(x, 1) - _erfcx_right(-x)))


def _ndtr_left(x: Array) -> Array:
    return gauss(x, -0.5) * _erfcx_right(x / -ROOT_2) / 2


def _ndtr(x: Array) -> Array:
    return pieces(x, (np.abs(x) < 1, lambda x: 0.5 + _erf_near(x / ROOT_2) / 2), (x < 0, _ndtr_left),
                  (x > 0, lambda x: 1 - _ndtr_left(-x)))


def _log_ndtr(x: Array) -> Array:
    return pieces(x, (x < -1, lambda x: np.log(_erfcx(x / -ROOT_2) / 2) - x * x / 2),
                  (x >= -1, lambda x: np.log1p(-_ndtr(-x))))


def _inverse_near(y: Array) -> Array:
    """erfinv(y) for |y| <= 1/2: Taylor's series, then Halley's steps on erf."""
    w = np.pi / 4 * (y * y)
    x = ROOT_PI / 2 * y * (1 + w * (1 / 3 + w * (7 / 30 + w * (127 / 630 + w * 4369 / 22680))))
    for _ in range(2):
        step = (_erf_near(x) - y) * (ROOT_PI / 2) * np.exp(x * x)
        x = x - step / (1 + x * step)
    return x


def _inverse_tail(q: Array) -> Array:
    """x > 0 with erfc(x) = q, for 0 < q <= 1/2: Halley's steps on erfc, scaled by exp(x^2) so that nothing underflows."""
    t = np.sqrt(-2 * np.log(q / 2))
    x = (t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))) / ROOT_2
    log_q = np.log(q)
    for _ in range(3):
        step = (np.exp(x * x + log_q) - _erfcx_right(x)) * (ROOT_PI / 2)
        x = x - step / (1 + x * step)
    return x


def _erfinv(y: Array) -> Array:
    return pieces(y, (np.abs(y) <= 0.5, _inverse_near), (np.abs(y) == 1, lambda y: y * np.inf),
                  (np.abs(y) < 1, lambda y: np.copysign(_inverse_tail(1 - np.abs(y)), y)))


def _ndtri(p: Array) -> Array:
    return pieces(p, (np.abs(p - 0.5) <= 0.25, lambda p: ROOT_2 * _inverse_near(2 * p - 1)),
                  (p == 0, lambda p: p - np.inf), (p == 1, lambda p: p + np.inf),
                  ((p > 0) & (p < 0.5), lambda p: -ROOT_2 * _inverse_tail(2 * p)),
                  ((p > 0.5) & (p < 1), lambda p: ROOT_2 * _inverse_tail(2 * (1 - p))))


_in_single, _in_full = in_double(_erf_single, "error_function"), in_double(_erf, "error_function")


def erf(x: Array) -> Array:
    """The error function."""
    dtype = getattr(x, "dtype", FLOAT64)
    return _in_single(x) if dtype is FLOAT32 or dtype != FLOAT64 else _in_full(x)


erfc: Any = in_double(_erfc, "complementary_error_function")
erfcx: Any = in_double(_erfcx)
erfinv: Any = in_double(_erfinv, "inverse_error_function")
ndtr: Any = in_double(_ndtr)
ndtri: Any = in_double(_ndtri)
log_ndtr: Any = in_double(_log_ndtr)


def normal_cdf(x: Array) -> Array:
    """ndtr; below double precision as (1 + erf(x / sqrt(2))) / 2, which is faster, and has fewer digits far to the left."""
    if x.dtype == np.float64:
        return ndtr(x)
    out = np.asarray(erf(x * x.dtype.type(1 / ROOT_2)))
    out += 1
    out *= x.dtype.type(0.5)
    return out
