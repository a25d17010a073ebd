"""Functions of one float32 number, written so that loops over them become vector instructions. Compiled by numba.

Polynomials and ranges are those of Moshier's Cephes library, single precision: errors of at most 2 units in the last place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..error_functions import LOWER, UPPER
from .processor import njit

F, I = np.float32, np.int32
S0, S1, S2, S3, S4 = (F(c) for c in (9.9999999372e-01, 1.3444545234e-01, 3.5716537983e-03,
                                     2.1895571968e-05, 1.5231680928e-08))
R1, R2, R3, R4 = (F(c) for c in (4.6777872598e-01, 2.6164655957e-02, 3.4113828041e-04, 8.5229620893e-07))
LOG2_E, LN2_HIGH, LN2_LOW = F(1.44269504088896341), F(0.693359375), F(-2.12194440e-4)
HIGHEST, LOWEST = F(89), F(-87.5)                # for these the formula gives inf and 0, and so for all beyond
E0, E1, E2, E3, E4, E5 = (F(c) for c in (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
                                         1.6666665459e-1, 5.0000001201e-1))
T0, T1, T2, T3, T4 = (F(c) for c in (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1,
                                     -3.33332819422e-1))
P0, P1, P2, P3, P4, P5, P6 = (F(c) for c in UPPER)
Q0, Q1, Q2, Q3, Q4, Q5 = (F(c) for c in LOWER)
NOTHING_BELOW = F(-88)                          # 2^-127, of which the formula makes 0
L1, L2, L3, L4, L5, L6, L7 = (F(1 / (2 * k + 1)) for k in range(1, 8))
NEARLY_ONE = F(3.8325068)                        # from here on erf is 1 in single precision
ONE, TWO, HALF, EIGHT = F(1), F(2), F(0.5), F(8)

inlined: Any = njit(fastmath={"contract"}, error_model="numpy", forceinline=True)  # a call would be no vector


@inlined
def exp(x: Any) -> Any:
    """e^x; 0 below 2^-126, the smallest normal number, or a little above. With more than two choices loops stay scalar."""
    y = LOWEST if x < LOWEST else x
    y = HIGHEST if y > HIGHEST else y
    k = np.floor(y * LOG2_E + HALF)
    r = y - k * LN2_HIGH - k * LN2_LOW
    p = ((((E0 * r + E1) * r + E2) * r + E3) * r + E4) * r + E5
    p = p * (r * r) + r + ONE
    whole = I(k) - I(1)                          # 2^128 does not fit: half of it, twice
    power = I((whole + I(127)) << I(23)).view(np.float32)
    return p * power * TWO


@inlined
def split_below(x: Any) -> tuple[Any, Any]:
    """(p, 2^k) for x <= 0, so that e^x = (p + 1) 2^k: one choice."""
    y = NOTHING_BELOW if x < NOTHING_BELOW else x
    k = np.floor(y * LOG2_E + HALF)
    r = y - k * LN2_HIGH - k * LN2_LOW
    p = ((((E0 * r + E1) * r + E2) * r + E3) * r + E4) * r + E5
    return p * (r * r) + r, I((I(k) + I(127)) << I(23)).view(np.float32)


@inlined
def power_below(x: Any) -> Any:
    """e^x for x <= 0."""
    p, power = split_below(x)
    return (p + ONE) * power


@inlined
def expm1_below(x: Any) -> Any:
    """e^x - 1 for x <= 0, exact near 0 too."""
    p, power = split_below(x)
    return p * power + (power - ONE)


@inlined
def log1p_small(x: Any) -> Any:
    """log(1 + x) for 0 <= x <= 1, by the series of 2 artanh(x / (2 + x)), whose argument is at most 1 / 3."""
    s = x / (TWO + x)
    u = s * s
    return TWO * s * (((((((L7 * u + L6) * u + L5) * u + L4) * u + L3) * u + L2) * u + L1) * u + ONE)


@inlined
def tanh(x: Any) -> Any:
    """Hyperbolic tangent: a polynomial near 0, else by exp."""
    a = -x if x < F(0) else x
    z = x * x
    near = ((((T0 * z + T1) * z + T2) * z + T3) * z + T4) * z * x + x
    far = ONE - TWO / (exp(a + a) + ONE)
    far = -far if x < F(0) else far
    return near if a < F(0.625) else far


@inlined
def squashed(x: Any) -> Any:
    """tanh for gates, twice as fast: x P(x^2) / Q(x^2) up to 8, constant from there on; within 3e-7. The coefficients are a
    least squares fit of the relative error, 6e-9.
    """
    x = -EIGHT if x < -EIGHT else x
    x = EIGHT if x > EIGHT else x
    u = x * x
    p = (((S4 * u + S3) * u + S2) * u + S1) * u + S0
    q = (((R4 * u + R3) * u + R2) * u + R1) * u + ONE
    return x * p / q


@inlined
def sigmoid(x: Any) -> Any:
    """1 / (1 + e^-x), for gates."""
    return HALF * squashed(HALF * x) + HALF


@inlined
def erf(x: Any) -> Any:
    """The error function, by the quotient of error_functions.py."""
    u = x * x
    p = (((((P0 * u + P1) * u + P2) * u + P3) * u + P4) * u + P5) * u + P6
    q = ((((Q0 * u + Q1) * u + Q2) * u + Q3) * u + Q4) * u + Q5
    y = x * p / q
    y = F(-1) if x < -NEARLY_ONE else y
    return ONE if x > NEARLY_ONE else y
