"""Functions of one float32 number, written so that loops over them become vector instructions.

Polynomials and ranges are those of Moshier's Cephes library, single precision: errors of at most 2 units in the last place.
"""

from ..coefficients import ERF_ABOVE, ERF_BELOW
from .scalars import as_float, as_int32, fabs, fma, int32, polynomial, reals, uint32

LOG2_E, LN2_HIGH, LN2_LOW = 1.44269504088896341, 0.693359375, -2.12194440e-4
# Limits are taken of the bits, as whole numbers: with AVX-512 compilers see no minimum in a choice of floats. Numbers
# below 0 are the largest unsigned ones, numbers above 0 the largest signed ones.
HIGHEST, LOWEST = 0x42B20000, 0xC2AF0000         # 89, -87.5: for these the formula gives inf and 0, and so for all beyond
NOTHING_BELOW = 0xC2B00000                       # -88: 2^-127, of which the formula makes 0
SATURATED = 0x41A00000                           # 20: tanh(10) is 1
# 1.5 2^23: adding it rounds to whole numbers, which are the last bits then; shifted by 23 they are an exponent
WHOLE = 12582912.0
SIGN = -0x80000000
NEARLY_ONE = 3.8325068                           # from here on erf is 1 in single precision
# the highest power first
EXP = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
TANH = (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1)
ARTANH = tuple(1 / (2 * k + 1) for k in range(7, -1, -1))        # of sqrt(u), over sqrt(u)


def power(x: float) -> float:
    """e^x; 0 below 2^-126, the smallest normal number, or a little above. Of nan it is some number."""
    lowest: uint32 = LOWEST
    bits: uint32 = as_int32(x)
    bits = lowest if bits > lowest else bits
    above: int32 = bits
    above = HIGHEST if above > HIGHEST else above
    y = as_float(above)
    shifted = fma(y, LOG2_E, WHOLE + 126)
    k = shifted - (WHOLE + 126)
    return (fraction(y, k) + 1) * as_float(as_int32(shifted) << 23) * 2         # 2^128 does not fit: half of it, twice


def exp(x: float) -> float:
    """power(), and nan of nan."""
    y = power(x)
    return y if x == x else x


def fraction(x: float, k: float) -> float:
    """e^r - 1, r = x - k log(2)."""
    r = fma(k, -LN2_LOW, fma(k, -LN2_HIGH, x))
    return fma(polynomial(r, EXP), r * r, r)


def limited_below(x: float) -> float:
    """x <= 0, not below what power_below() makes 0 of."""
    lowest: uint32 = NOTHING_BELOW
    bits: uint32 = as_int32(x)
    bits = lowest if bits > lowest else bits
    return as_float(bits)


def power_below(x: float) -> float:
    """power() for x <= 0."""
    y = limited_below(x)
    shifted = fma(y, LOG2_E, WHOLE + 127)
    return (fraction(y, shifted - (WHOLE + 127)) + 1) * as_float(as_int32(shifted) << 23)


def exp_below(x: float) -> float:
    """power_below(), and nan of nan."""
    y = power_below(x)
    return y if x == x else x


def expm1_below(x: float) -> float:
    """e^x - 1 for x <= 0, exact near 0 too. Of nan it is some number."""
    y = limited_below(x)
    shifted = fma(y, LOG2_E, WHOLE + 127)
    power = as_float(as_int32(shifted) << 23)
    return fma(fraction(y, shifted - (WHOLE + 127)), power, power - 1)


def log1p_small(x: float) -> float:
    """log(1 + x) for 0 <= x <= 1, by the series of 2 artanh(x / (2 + x)), whose argument is at most 1 / 3."""
    s = x / (2 + x)
    return 2 * s * polynomial(s * s, ARTANH)


def tanh(x: float) -> float:
    """Hyperbolic tangent: a polynomial near 0, else by exponentials."""
    a = fabs(x)
    z = x * x
    near = fma(polynomial(z, TANH) * z, x, x)
    bits: int32 = as_int32(a + a)
    bits = SATURATED if bits > SATURATED else bits
    y = as_float(bits)
    shifted = fma(y, LOG2_E, WHOLE + 127)
    power = (fraction(y, shifted - (WHOLE + 127)) + 1) * as_float(as_int32(shifted) << 23)
    far = as_float(as_int32(1 - 2 / (power + 1)) | as_int32(x) & SIGN)
    return far if a >= 0.625 else near               # near, if x is nan


def sigmoid_of(x: float) -> float:
    """1 / (1 + e^-x)."""
    return 1 / (1 + exp(-x))


def erf(x: float) -> float:
    """The error function, by the quotient of error_functions.py."""
    u = x * x
    y = x * polynomial(u, ERF_ABOVE) / polynomial(u, ERF_BELOW)
    y = -1.0 if x < -NEARLY_ONE else y
    return 1.0 if x > NEARLY_ONE else y


def add(out: reals, x: reals, n: int) -> None:
    """out += x."""
    for j in range(n):
        out[j] += x[j]
