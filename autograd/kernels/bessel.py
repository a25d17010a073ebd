"""Bessel functions of orders 0 and 1, modified ones, and Airy's Ai, for real arguments.

Near 0 a Chebyshev series of what is left without the logarithm; far out the asymptotic form (exponential, or modulus and
phase: Abramowitz and Stegun 9.2, 9.7, 10.4) times Chebyshev series. Errors are a few 1e-16 of the local amplitude, so
relative accuracy is lost right at the zeros of J, Y and Ai.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import coefficients as co
from .chebyshev import Array, in_double, pieces, series


def _scaled_i(near: Array, far: Array, odd: bool) -> Callable[[Array], Array]:
    """exp(-|x|) I(x)."""
    def scaled(x: Array) -> Array:
        a = np.abs(x)
        value = pieces(a, (a <= 8, lambda a: series(near, a / 4 - 1) * (a if odd else 1)),
                       (a > 8, lambda a: series(far, 16 / a - 1) / np.sqrt(a)))
        return np.copysign(value, x) if odd else value

    return scaled


_i0e = _scaled_i(co.I0E, co.I0E_FAR, False)
_i1e = _scaled_i(co.I1E, co.I1E_FAR, True)


def _grown(scaled: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """scaled(x) exp(|x|), in two steps, since the exponential overflows before the product does."""
    def grown(x: Array) -> Array:
        half, value = np.exp(np.abs(x) / 2), scaled(x)
        return np.where(np.isinf(x), np.copysign(np.inf, value), value * half * half)

    return grown


_i0, _i1 = _grown(_i0e), _grown(_i1e)


def _k0_near(x: Array) -> Array:
    return series(co.K0, x * x / 2 - 1) - np.log(x / 2) * _i0(x)


def _k1_near(x: Array) -> Array:
    return series(co.K1, x * x / 2 - 1) / x + np.log(x / 2) * _i1(x)


def _modified_k(near: Callable[[Array], Array], far: Array, scaled: bool) -> Callable[[Array], Array]:
    """K(x), or exp(x) K(x) if `scaled`; inf at 0, nan to the left."""
    def decay(x: Array) -> Array:
        return np.exp(x if scaled else -x)

    return lambda x: pieces(
        x, (x == 0, lambda x: x + np.inf), ((x > 0) & (x <= 2), lambda x: near(x) * decay(x) if scaled else near(x)),
        (x > 2, lambda x: series(far, 4 / x - 1) / np.sqrt(x) * (1 if scaled else decay(x))))


# --- J and Y ---------------------------------------------------------------------------------------------------------------

def _wave(p: Array, q: Array, order: int, which: str) -> Callable[[Array], Array]:
    """J or Y for x > 8: sqrt(2 / (pi x)) (P cos(chi) - Q sin(chi)), chi = x - (2 order + 1) pi / 4."""
    def far(x: Array) -> Array:
        t = 128 / (x * x) - 1
        even, odd = series(p, t), series(q, t) * 8 / x
        sin, cos = np.sin(x), np.cos(x)
        # sin and cos of x - pi / 4, times sqrt(2); another quarter turn for order 1
        cos, sin = cos + sin, sin - cos
        if order:
            cos, sin = sin, -cos
        return (even * cos - odd * sin if which == "J" else even * sin + odd * cos) / np.sqrt(np.pi * x)

    return lambda x: np.where(np.isinf(x), 0.0, far(x))


def _j0(x: Array) -> Array:
    a = np.abs(x)
    return pieces(a, (a <= 8, lambda a: series(co.J0, a * a / 32 - 1)), (a > 8, _wave(co.P0, co.Q0, 0, "J")))


def _j1(x: Array) -> Array:
    a = np.abs(x)
    value = pieces(a, (a <= 8, lambda a: a * series(co.J1, a * a / 32 - 1)), (a > 8, _wave(co.P1, co.Q1, 1, "J")))
    return np.where(x < 0, -value, value)


def _y0_near(x: Array) -> Array:
    return series(co.Y0, x * x / 32 - 1) + 2 / np.pi * np.log(x) * _j0(x)


def _y1_near(x: Array) -> Array:
    return x * series(co.Y1, x * x / 32 - 1) + 2 / np.pi * (np.log(x) * _j1(x) - 1 / x)


def _second_kind(near: Callable[[Array], Array], far: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: pieces(x, (x == 0, lambda x: x - np.inf), ((x > 0) & (x <= 8), near), (x > 8, far))


# --- Ai --------------------------------------------------------------------------------------------------------------------

def _ai_right(x: Array) -> Array:
    zeta = 2 / 3 * x * np.sqrt(x)
    scaled = series(co.AI_FAR, 2 * (4 * np.sqrt(2) / 3) / zeta - 1)
    return np.exp(-zeta) * scaled / (2 * np.sqrt(np.pi) * np.sqrt(np.sqrt(x)))


def _ai_left(x: Array) -> Array:
    z = -x
    zeta = 2 / 3 * z * np.sqrt(z)
    t = 2 * (16 / 3 / zeta) ** 2 - 1
    sin, cos = np.sin(zeta), np.cos(zeta)
    value = (sin + cos) * series(co.AI_P, t) - (cos - sin) * series(co.AI_Q, t) / zeta
    return value / np.sqrt(2 * np.pi * np.sqrt(z))


def _airy_ai(x: Array) -> Array:
    return pieces(x, (np.isinf(x), lambda x: np.where(x > 0, 0.0, np.nan)), (x > 2, _ai_right), (x < -4, _ai_left),
                  (x <= 2, lambda x: series(co.AI, (x + 1) / 3)))


def _spherical_j0(x: Array) -> Array:
    return pieces(x, (np.isinf(x), np.zeros_like), (x == 0, np.ones_like), (x == x, lambda x: np.sin(x) / x))


i0: Any = in_double(_i0)
i0e: Any = in_double(_i0e)
i1: Any = in_double(_i1)
i1e: Any = in_double(_i1e)
k0: Any = in_double(_modified_k(_k0_near, co.K0E_FAR, False))
k1: Any = in_double(_modified_k(_k1_near, co.K1E_FAR, False))
k0e: Any = in_double(_modified_k(_k0_near, co.K0E_FAR, True))
k1e: Any = in_double(_modified_k(_k1_near, co.K1E_FAR, True))
j0: Any = in_double(_j0)
j1: Any = in_double(_j1)
y0: Any = in_double(_second_kind(_y0_near, _wave(co.P0, co.Q0, 0, "Y")))
y1: Any = in_double(_second_kind(_y1_near, _wave(co.P1, co.Q1, 1, "Y")))
airy_ai: Any = in_double(_airy_ai)
spherical_j0: Any = in_double(_spherical_j0)
