"""Loops over single numbers: the error function and its inverse, the gamma function's logarithm and its derivative.

Computed in float64 for both precisions, but float32's error function; of float32 with shorter series, to 6e-9, a tenth of a
unit in the last place. Formulas: error_functions.py, gamma_functions.py.
"""

import math

import numpy
from numpy.polynomial import Chebyshev, Polynomial
from numpy.polynomial.chebyshev import cheb2poly, chebval

from ..coefficients import ERF, ERFCX, ERFINV_FAR, ERFINV_FARTHEST, ERFINV_NEAR, LGAMMA
from .float64 import power_below_double, power_in_parts, scaled_erfc
from .functions import erf
from .scalars import (
    as_double,
    as_int64,
    chosen,
    double,
    doubles,
    f32,
    fabs,
    floats,
    floor,
    fma,
    inf,
    ints,
    memory,
    polynomial,
    reals,
    sqrt,
    uint64,
)

BLOCK = 64                           # numbers that memory() has room for
NOT_FAR = 0.999                      # w is below 6.25 there
FARTHEST, FARTHEST_SINGLE = 26.63, 10.1                    # erfc is 0 from there on
NAN = float("nan")
MANTISSA, ROOT_HALF_BITS, TO_ROOT_HALF = (1 << 52) - 1, 0x3FE6A09E667F3BCD, 0x3FF0000000000000 - 0x3FE6A09E667F3BCD
WHOLE_BITS, WHOLE = 0x4330000000000000, 2.0 ** 52          # its last bits are a whole number
THIRDS, TWENTIETHS = 4 / 3, 20 / 21
TINY, UP = 2.0 ** -1022, 2.0 ** 54                         # below, numbers are subnormal
LN2_TOP, LN2_REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10       # the first has 32 bits
LOGARITHM = tuple(2 / (2 * k + 3) for k in range(9, -1, -1))                      # |s| < 0.172: exact to 1e-18
SINE = tuple((-1) ** k * math.pi ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(11, -1, -1))
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
STIRLING = tuple(b / ((2 * k + 1) * (2 * k + 2)) for k, b in enumerate(BERNOULLI))[::-1]
SLOPE = tuple(b / (2 * k + 2) for k, b in enumerate(BERNOULLI))[::-1]
HALF_LOG_2PI, LOG_PI, PI = math.log(2 * math.pi) / 2, math.log(math.pi), math.pi
NEAR_ERF, NEAR_GAMMA, NEAR_GAMMA_SHORT = (tuple(cheb2poly(c)[::-1].tolist()) for c in (ERF, LGAMMA, LGAMMA[:11]))
INVERSE_NEAR, INVERSE_FAR, INVERSE_FARTHEST = (tuple(cheb2poly(c)[::-1].tolist())
                                               for c in (ERFINV_NEAR, ERFINV_FAR, ERFINV_FARTHEST))
INVERSE_FAR_SHORT = tuple(cheb2poly(ERFINV_FAR[:10])[::-1].tolist())
# of -w; of u = 1 / (a + 3): erfc(a) exp(a^2) / u; e^-r, |r| < 0.35; the first terms
INVERSE_NEAR_SHORT, TAIL_SHORT, EXP_SHORT = (tuple(series.convert(kind=Polynomial).coef[::-1].tolist()) for series in (
    Chebyshev(ERFINV_NEAR[:13] * (-1.0) ** numpy.arange(13), [-6.25, 0]),
    Chebyshev.interpolate(lambda u: chebval(1 - 7.5 / (1 / u + 0.75), ERFCX) / (2 - 5 * u), 9, [1 / 13.1, 1 / 3]),
    Chebyshev.interpolate(lambda r: numpy.exp(-r), 6, [-0.3466, 0.3466])))
LOGARITHM_SHORT, STIRLING_SHORT, SINE_SHORT = LOGARITHM[-5:], STIRLING[-5:], SINE[-8:]
LN2, LOG2_E, SHIFT = math.log(2), 1 / math.log(2), 1.5 * 2.0 ** 52 + 1023          # as in float64.py
PRODUCT = tuple(numpy.poly(range(-9, 0)).tolist())                                # (y + 1) ... (y + 9)
ABOVE = tuple((10 - k) * c for k, c in enumerate(PRODUCT))                        # the derivative of y times it


def log_of_double(x: double) -> double:
    """log(x) of a finite number above 0: of 2^k (1 + f), 1 + f from sqrt(1/2) to sqrt(2), as in fdlibm."""
    small = x < TINY
    up: uint64 = TO_ROOT_HALF
    root: uint64 = ROOT_HALF_BITS
    last: uint64 = MANTISSA
    above: uint64 = WHOLE_BITS
    moved: uint64 = as_int64(x * UP if small else x)
    moved = moved + up
    k = as_double(moved >> 52 | above) - (WHOLE + 1023.0)
    k = k - 54.0 if small else k
    f = as_double((moved & last) + root) - 1.0
    half = 0.5 * f * f
    s = f / (2.0 + f)
    rest = s * s * polynomial(s * s, LOGARITHM)
    return k * LN2_TOP - ((half - fma(k, LN2_REST, s * (half + rest))) - f)


def logarithm_double(x: double) -> double:
    """log(x) of a finite number above 0; nan of nan."""
    return log_of_double(x) if x == x else x


def log_of(x: double) -> double:
    """log(x) of a float32 above 0, or of a product of few, to 1e-10."""
    up: uint64 = TO_ROOT_HALF
    root: uint64 = ROOT_HALF_BITS
    last: uint64 = MANTISSA
    above: uint64 = WHOLE_BITS
    moved: uint64 = as_int64(x)
    moved = moved + up
    k = as_double(moved >> 52 | above) - (WHOLE + 1023.0)
    f = as_double((moved & last) + root) - 1.0
    s = f / (2.0 + f)
    return fma(k, LN2, s * (2.0 + s * s * polynomial(s * s, LOGARITHM_SHORT)))


def logarithm(x: float) -> float:
    """log(x) of a float32 above 0; nan of nan."""
    y: double = x
    y = log_of(y)
    return y if x == x else x


def sine_double(r: double) -> double:
    """sin(pi r), |r| <= 1/2."""
    return r * polynomial(r * r, SINE)


def sine(r: double) -> double:
    """The same for float32, to 6e-12."""
    return r * polynomial(r * r, SINE_SHORT)


# --- the error function ---------------------------------------------------------------------------------------------------

def erf_of(x: double) -> double:
    """Near 0 by a series, else 1 - erfc; 1 from 6 on."""
    a = fabs(x)
    a = 6.0 if a > 6.0 else a
    near = x * polynomial(2.0 * (x * x) - 1.0, NEAR_ERF)
    far = 1.0 - power_below_double(-(a * a)) * scaled_erfc(a)
    far = -far if x < 0 else far
    return near if fabs(x) <= 1.0 else far


def error_function(x: floats, out: floats, n: int) -> None:
    """erf(x) of n numbers."""
    for i in range(n):
        out[i] = erf(x[i])


def error_function_double(x: doubles, out: doubles, n: int) -> None:
    """erf(x) of n numbers."""
    for i in range(n):
        out[i] = erf_of(x[i])


def complementary_error_function(x: floats, out: floats, n: int) -> None:
    """erfc(x) of n numbers: a quotient's series, times e^(-a^2)."""
    a: double
    for i in range(n):
        a = x[i]
        a = fabs(a)
        a = FARTHEST_SINGLE if a > FARTHEST_SINGLE else a
        u = 1.0 / (a + 3.0)
        shifted = fma(a * a, -LOG2_E, SHIFT)                     # no sign changes: a nan has the same bits on all levels
        r = fma(shifted - SHIFT, LN2, a * a)
        a = polynomial(u, TAIL_SHORT) * u * (polynomial(r, EXP_SHORT) * as_double(as_int64(shifted) << 52))
        out[i] = 2.0 - a if x[i] < 0 else a


def complementary_error_function_double(x: doubles, out: doubles, n: int) -> None:
    """erfc(x) of n numbers. Rounding a^2 first would cost digits, so a^2 = h^2 + (a - h)(a + h), with h^2 exact."""
    for i in range(n):
        a = fabs(x[i])
        a = FARTHEST if a > FARTHEST else a
        h = floor(a * 16.0 + 0.5) * 0.0625
        y = power_in_parts(-(h * h), (h - a) * (h + a)) * scaled_erfc(a)
        out[i] = 2.0 - y if x[i] < 0 else y


def at_ends(x: double, y: double) -> double:
    """y, but infinite for x = 1 and -1, and nan beyond."""
    y = x * inf if fabs(x) == 1.0 else y
    return y if fabs(x) <= 1.0 else NAN


def inverse(x: double) -> double:
    """y with erf(y) = x: x times a smooth function of w = -log(1 - x^2)."""
    w = -log_of_double((1.0 - x) * (1.0 + x))
    root = sqrt(w)
    near = polynomial((w - 3.125) * 0.32, INVERSE_NEAR)
    far = polynomial((root - 3.25) * THIRDS, INVERSE_FAR)
    farthest = polynomial((root - 5.05) * TWENTIETHS, INVERSE_FARTHEST)
    return at_ends(x, x * chosen(w > 6.25, chosen(w > 16.0, farthest, far), near))


def inverse_of_single(x: double) -> double:
    """The same of a float32, to 1e-9: 1 - |x| is 2^-24 at least, and series may be short."""
    w = log_of((1.0 - x) * (1.0 + x))
    near = polynomial(w, INVERSE_NEAR_SHORT)
    far = polynomial((sqrt(-w) - 3.25) * THIRDS, INVERSE_FAR_SHORT)
    return at_ends(x, x * (far if w < -6.25 else near))


def near_zero(x: double) -> double:
    """inverse(x) for |x| <= NOT_FAR."""
    return x * polynomial((-log_of_double((1.0 - x) * (1.0 + x)) - 3.125) * 0.32, INVERSE_NEAR)


def near_zero_of_single(x: double) -> double:
    """inverse_of_single(x) for |x| <= NOT_FAR."""
    return x * polynomial(log_of((1.0 - x) * (1.0 + x)), INVERSE_NEAR_SHORT)


def inverse_error_function(x: floats, out: floats, n: int) -> None:
    """erfinv(x); nan outside of [-1, 1]. 64 numbers of which none is far from 0 require one series of two."""
    a: double
    for start in range(0, n, 64):
        stop, far = min(start + 64, n), 0
        for i in range(start, stop):
            far = far | (x[i] > f32(NOT_FAR)) | (x[i] < f32(-NOT_FAR))
        if far:
            for i in range(start, stop):
                a = x[i]
                out[i] = inverse_of_single(a)
        else:
            for i in range(start, stop):
                a = x[i]
                out[i] = near_zero_of_single(a)


def inverse_error_function_double(x: doubles, out: doubles, n: int) -> None:
    """erfinv(x); nan outside of [-1, 1]. 64 numbers of which none is far from 0 require one series of three."""
    for start in range(0, n, 64):
        stop, far = min(start + 64, n), 0
        for i in range(start, stop):
            far = far | (fabs(x[i]) > NOT_FAR)
        if far:
            for i in range(start, stop):
                out[i] = inverse(x[i])
        else:
            for i in range(start, stop):
                out[i] = near_zero(x[i])


# --- the gamma function ------------------------------------------------------------------------------------------------

def factor(y: double, k: double) -> double:
    """y - k, if gamma(y) has that factor once it is brought to [1, 2]."""
    return y - k if y > k + 1.0 else 1.0


def log_gamma_right_double(y: double) -> double:
    """lgamma(y) for y > 0: Stirling's series from 10 on, else from [1, 2] by recurrence. One logarithm serves both."""
    product = (factor(y, 1.0) * factor(y, 2.0) * factor(y, 3.0) * factor(y, 4.0) * factor(y, 5.0) * factor(y, 6.0)
               * factor(y, 7.0) * factor(y, 8.0))
    steps = -floor(2.0 - y)
    down = y - (steps if y > 2.0 else 0.0)
    down = y + 1.0 if y < 1.0 else down
    middle = (down - 1.0) * (down - 2.0) * polynomial(2.0 * down - 3.0, NEAR_GAMMA)
    of = product if y >= 1.0 else y
    of = y if y >= 10.0 else of
    logarithm = log_of_double(of)
    near = middle + (logarithm if y >= 1.0 else -logarithm)
    u = 1.0 / y
    far = (y - 0.5) * (logarithm - 1.0) - 0.5 + HALF_LOG_2PI + polynomial(u * u, STIRLING) * u
    return near if y < 10.0 else far


def log_gamma_right(y: double) -> double:
    """The same of a float32: Stirling's series from 4 on."""
    steps = -floor(2.0 - y)
    down = y - (steps if y > 2.0 else 0.0)
    down = y + 1.0 if y < 1.0 else down
    middle = (down - 1.0) * (down - 2.0) * polynomial(2.0 * down - 3.0, NEAR_GAMMA_SHORT)
    of = factor(y, 1.0) * factor(y, 2.0) if y >= 1.0 else y
    of = y if y >= 4.0 else of
    logarithm = log_of(of)
    near = middle + (logarithm if y >= 1.0 else -logarithm)
    u = 1.0 / y
    far = (y - 0.5) * (logarithm - 1.0) - 0.5 + HALF_LOG_2PI + polynomial(u * u, STIRLING_SHORT) * u
    return near if y < 4.0 else far


def log_gamma(x: reals, out: reals, n: int) -> None:
    """log|gamma(x)|, in blocks: left of 0 by reflection, where a block has such numbers."""
    a: double
    z: double
    right: ints = memory()
    first = 0
    while first < n:
        last, left = min(first + BLOCK, n), 0
        for i in range(first, last):
            a = x[i]
            left = left | (0 if a > 0.0 else 1)
            z = log_gamma_right(a if a > 0.0 else 1.0 - a)
            right[i - first] = as_int64(z)
            out[i] = z
        if left:
            for i in range(first, last):
                a = x[i]
                z = LOG_PI - log_of(fabs(sine(a - floor(a + 0.5)))) - as_double(right[i - first])
                z = inf if a == floor(a) else z
                out[i] = as_double(right[i - first]) if a > 0.0 else z
        first = last


def digamma_right(y: double) -> double:
    """digamma(y) for y > 0: the asymptotic series from 10 on; below at y + 10, less 1 / y + ... + 1 / (y + 9), which is a
    quotient of polynomials."""
    below = polynomial(y, ABOVE) / (y * polynomial(y, PRODUCT))
    z = y if y >= 10.0 else y + 10.0
    u = 1.0 / z
    value = log_of_double(z) - 0.5 * u - polynomial(u * u, SLOPE) * (u * u) - (0.0 if y >= 10.0 else below)
    return value if y < inf else y


def digamma(x: reals, out: reals, n: int) -> None:
    """The derivative of log_gamma()."""
    a: double
    z: double
    r: double
    right: ints = memory()
    first = 0
    while first < n:
        last, left = min(first + BLOCK, n), 0
        for i in range(first, last):
            a = x[i]
            left = left | (0 if a > 0.0 else 1)
            z = digamma_right(a if a > 0.0 else 1.0 - a)
            right[i - first] = as_int64(z)
            out[i] = z
        if left:
            for i in range(first, last):
                a = x[i]
                r = a - floor(a + 0.5)
                z = as_double(right[i - first]) - PI * sine(0.5 - fabs(r)) / sine(r)
                z = NAN if (a == floor(a)) & (a < 0.0) else z
                out[i] = as_double(right[i - first]) if a > 0.0 else z
        first = last
