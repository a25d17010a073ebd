"""Functions of one float32 number, written so that loops over them become vector instructions.

Polynomials and ranges are those of Moshier's Cephes library, single precision: errors of at most 2 units in the last place.
"""

from ..coefficients import ERF_ABOVE, ERF_BELOW
from .scalars import as_float, floor, fma, i32, polynomial

LOG2_E, LN2_HIGH, LN2_LOW = 1.44269504088896341, 0.693359375, -2.12194440e-4
HIGHEST, LOWEST = 89.0, -87.5                    # for these the formula gives inf and 0, and so for all beyond
NOTHING_BELOW = -88.0                            # 2^-127, of which the formula makes 0
NEARLY_ONE = 3.8325068                           # from here on erf is 1 in single precision
# the highest power first
EXP = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
TANH = (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1)
ARTANH = tuple(1 / (2 * k + 1) for k in range(7, -1, -1))        # of sqrt(u), over sqrt(u)
# a least squares fit of tanh(x) / x in x^2, up to 8: its relative error is 6e-9
SQUASHED_ABOVE = (1.5231680928e-08, 2.1895571968e-05, 3.5716537983e-03, 1.3444545234e-01, 9.9999999372e-01)
SQUASHED_BELOW = (8.5229620893e-07, 3.4113828041e-04, 2.6164655957e-02, 4.6777872598e-01, 1.0)


def exp(x: float) -> float:
    """e^x; 0 below 2^-126, the smallest normal number, or a little above. With more than two choices loops stay scalar."""
    y = LOWEST if x < LOWEST else x
    y = HIGHEST if y > HIGHEST else y
    k = floor(fma(y, LOG2_E, 0.5))
    r = fma(k, -LN2_LOW, fma(k, -LN2_HIGH, y))
    p = fma(polynomial(r, EXP), r * r, r) + 1
    whole = i32(k)
    return p * as_float((whole + 126) << 23) * 2         # 2^128 does not fit: half of it, twice


def exponent_below(x: float) -> float:
    """k of x = k log(2) + r for x <= 0: one choice."""
    y = NOTHING_BELOW if x < NOTHING_BELOW else x
    return floor(fma(y, LOG2_E, 0.5))


def fraction_below(x: float, k: float) -> float:
    """e^r - 1."""
    y = NOTHING_BELOW if x < NOTHING_BELOW else x
    r = fma(k, -LN2_LOW, fma(k, -LN2_HIGH, y))
    return fma(polynomial(r, EXP), r * r, r)


def power_of_two(k: float) -> float:
    """2^k for whole k from -127 (0 is what comes out) to 127."""
    whole = i32(k)
    return as_float((whole + 127) << 23)


def power_below(x: float) -> float:
    """e^x for x <= 0."""
    k = exponent_below(x)
    return (fraction_below(x, k) + 1) * power_of_two(k)


def expm1_below(x: float) -> float:
    """e^x - 1 for x <= 0, exact near 0 too."""
    k = exponent_below(x)
    power = power_of_two(k)
    return fma(fraction_below(x, k), power, power - 1)


def log1p_small(x: float) -> float:
    """log(1 + x) for 0 <= x <= 1, by the series of 2 artanh(x / (2 + x)), whose argument is at most 1 / 3."""
    s = x / (2 + x)
    return 2 * s * polynomial(s * s, ARTANH)


def tanh(x: float) -> float:
    """Hyperbolic tangent: a polynomial near 0, else by exp."""
    a = -x if x < 0 else x
    z = x * x
    near = fma(polynomial(z, TANH) * z, x, x)
    far = 1 - 2 / (exp(a + a) + 1)
    far = -far if x < 0 else far
    return near if a < 0.625 else far


def squashed(x: float) -> float:
    """tanh for gates, twice as fast: x P(x^2) / Q(x^2) up to 8, constant from there on; within 3e-7."""
    x = -8.0 if x < -8.0 else x
    x = 8.0 if x > 8.0 else x
    u = x * x
    return x * polynomial(u, SQUASHED_ABOVE) / polynomial(u, SQUASHED_BELOW)


def sigmoid_of(x: float) -> float:
    """1 / (1 + e^-x), for gates."""
    return fma(0.5, squashed(0.5 * x), 0.5)


def erf(x: float) -> float:
    """The error function, by the quotient of error_functions.py."""
    u = x * x
    y = x * polynomial(u, ERF_ABOVE) / polynomial(u, ERF_BELOW)
    y = -1.0 if x < -NEARLY_ONE else y
    return 1.0 if x > NEARLY_ONE else y
