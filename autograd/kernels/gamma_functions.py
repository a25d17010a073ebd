"""The gamma function's logarithm, its derivatives, Hurwitz' zeta function, and incomplete gamma functions.

Far from 0 by asymptotic series (Stirling; Euler and Maclaurin), nearer by recurrence, to the left of 0 by reflection:
Abramowitz and Stegun 6.1, 6.3, 6.4, 23.2. Near its zeros 1 and 2, lgamma is a Chebyshev series times (x - 1)(x - 2).
Incomplete gamma functions: power series and continued fraction (Gautschi, ACM TOMS 5, 1979), for huge parameters Temme's
uniform expansion (SIAM J. Math. Anal. 10, 1979).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial
from typing import Any

import numpy as np

from .chebyshev import Array, in_double, pieces, series
from .coefficients import LGAMMA
from .error_functions import erfc

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330,
             854513 / 138, -236364091 / 2730)                                                   # B_2, B_4, ...
HALF_LOG_2PI = float(np.log(2 * np.pi) / 2)


def _horner(coefficients: Sequence[float], x: Array) -> Array:
    out = np.zeros_like(x)
    for c in reversed(coefficients):
        out = out * x + c
    return out


STIRLING = [b / ((2 * k + 1) * (2 * k + 2)) for k, b in enumerate(BERNOULLI[:10])]
DIGAMMA = [b / (2 * k + 2) for k, b in enumerate(BERNOULLI[:10])]


def stirling_rest(x: Array) -> Array:
    """log of gamma(x) over Stirling's sqrt(2 pi / x) (x / e)^x, for x >= 10."""
    return _horner(STIRLING, 1 / (x * x)) / x


def _lgamma_right(x: Array) -> Array:
    """lgamma for x > 0."""
    return pieces(x, (x >= 10, lambda x: (x - 0.5) * (np.log(x) - 1) - 0.5 + HALF_LOG_2PI + stirling_rest(x)),
                  (x > 0, _lgamma_near))


def _lgamma_near(x: Array) -> Array:
    """lgamma for 0 < x < 10, brought to [1, 2] by gamma(x + 1) = x gamma(x)."""
    y, product = x.copy(), np.ones_like(x)
    for _ in range(8):
        above = y > 2
        if not above.any():
            break
        y[above] -= 1
        product[above] *= y[above]
    below = y < 1
    y[below] += 1
    middle = (y - 1) * (y - 2) * series(LGAMMA, 2 * y - 3)
    return middle + np.where(below, -np.log(x), np.log(product))


def _sin_pi(x: Array) -> Array:
    """sin(pi x) up to its sign, exactly 0 at integers."""
    return np.sin(np.pi * (x - np.rint(x)))


def _lgamma(x: Array) -> Array:
    return pieces(x, (x > 0, _lgamma_right), (x == np.floor(x), lambda x: np.full_like(x, np.inf)),
                  (x < 0, lambda x: np.log(np.pi / np.abs(_sin_pi(x))) - _lgamma_right(1 - x)))


def _digamma_right(x: Array) -> Array:
    x, shift = x.copy(), np.zeros_like(x)
    for _ in range(10):
        small = x < 10
        if not small.any():
            break
        shift[small] += 1 / x[small]
        x[small] += 1
    return np.log(x) - 0.5 / x - _horner(DIGAMMA, 1 / (x * x)) / (x * x) - shift


def _digamma(x: Array) -> Array:
    return pieces(x, (x > 0, _digamma_right), (x == 0, lambda x: np.copysign(np.inf, -x)),
                  (x == np.floor(x), lambda x: np.full_like(x, np.nan)),
                  (x < 0, lambda x: _digamma_right(1 - x) - np.pi / np.tan(np.pi * (x - np.rint(x)))))


# --- Hurwitz' zeta function ---------------------------------------------------------------------------------------------

def _zeta_right(s: Array, q: Array) -> Array:
    """The sum of (q + k)^-s over k >= 0, for s > 1 and q > 0: ten terms, the rest by Euler and Maclaurin."""
    total = np.zeros_like(q)
    for k in range(10):
        total += (q + k) ** -s
    a = q + 10
    power = a ** -s
    total += a ** (1 - s) / (s - 1) + power / 2
    factor = s * power / a                          # s (s + 1) ... (s + 2k) a^(-s - 2k - 1)
    for k, b in enumerate(BERNOULLI):
        total += b / factorial(2 * k + 2) * factor
        factor = factor * ((s + 2 * k + 1) / a) * ((s + 2 * k + 2) / a)
    return total


def _zeta(s: Array, q: Array) -> Array:
    out = np.full(q.shape, np.nan)
    out[(s == 1) | ((s > 1) & (q <= 0) & (q == np.floor(q)))] = np.inf
    out[(s > 1) & np.isposinf(q)] = 0
    right = (s > 1) & (q > 0) & (q < np.inf)
    out[right] = _zeta_right(s[right], q[right])
    left = (s > 1) & (q < 0) & (q != np.floor(q)) & (s == np.floor(s))
    if left.any():                                  # the terms left of 0 are a piece of another such sum, mirrored
        s, q = s[left], q[left]
        r = q - np.floor(q)
        mirrored = _zeta_right(s, np.ceil(q) - q) - _zeta_right(s, 1 - q)     # 1 - r would have lost digits near an integer
        out[left] = _zeta_right(s, r) + np.where(s % 2 == 0, mirrored, -mirrored)
    return out


def _polygamma(n: int) -> Callable[..., Any]:
    """The n-th derivative of digamma: (-1)^(n+1) n! zeta(n + 1, x)."""
    if n == 0:
        return _digamma
    return lambda x: (-1.0) ** (n + 1) * float(factorial(n)) * _zeta(np.full_like(x, n + 1), x)


def polygamma(n: int, x: Array) -> Array:
    """The n-th derivative of digamma."""
    return in_double(_polygamma(n))(x)


# --- incomplete gamma functions -----------------------------------------------------------------------------------------

def _front(a: Array, x: Array) -> Array:
    """x^a e^-x / gamma(a + 1), without the cancellation of large logarithms."""
    big = np.where(a < 10, 10.0, a)
    mu = (x - big) / big
    far = np.exp(big * (np.log1p(mu) - mu) - stirling_rest(big)) / np.sqrt(2 * np.pi * big)
    near = np.exp(a * np.log(x) - x - _lgamma_right(a + 1))
    return np.where(a < 10, near, far)


def _lower_series(a: Array, x: Array) -> Array:
    """P(a, x) = front * (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...), for x < a + 1."""
    term, total, n = np.ones_like(x), np.ones_like(x), 0
    while n < 6000 and np.any(term > 1e-17 * total):
        n += 1
        term = term * (x / (a + n))
        total += term
    return total * _front(a, x)


def _upper_fraction(a: Array, x: Array) -> Array:
    """Q(a, x) = a front / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), by Lentz' method, for x > a."""
    b = x + 1 - a
    c, d = np.full_like(x, 1e300), 1 / b
    out, n = d.copy(), 0
    change = np.full_like(x, 2.0)
    while n < 6000 and np.any(np.abs(change - 1) > 1e-16):
        n += 1
        factor = n * (a - n)
        b = b + 2
        d = 1 / (factor * d + b)
        c = b + factor / c
        change = np.where(np.abs(change - 1) > 1e-16, c * d, 1.0)
        out = out * change
    return out * a * _front(a, x)


def _uniform(a: Array, x: Array, upper: bool) -> Array:
    """Q(a, x), or P if not `upper`, for huge a: half an erfc in eta, and two terms of a series in 1/a.

    eta has the sign of x - a, and eta^2 / 2 = x/a - 1 - log(x/a).
    """
    mu = (x - a) / a
    eta = np.copysign(np.sqrt(np.maximum(2 * (mu - np.log1p(mu)), 0)), mu)
    first = _horner((-1 / 3, 1 / 12, -2 / 135, 1 / 864, 1 / 2835), eta)
    second = _horner((-1 / 540, -1 / 288, 1 / 378), eta)
    tail = np.exp(-0.5 * a * eta * eta) / np.sqrt(2 * np.pi * a) * np.where(np.abs(eta) < 0.1, first + second / a, 0)
    eta = eta * np.sqrt(a / 2)
    return erfc(eta) / 2 + tail if upper else erfc(-eta) / 2 - tail


def _incomplete(a: Array, x: Array) -> tuple[Array, Array]:
    """(P, Q), each computed where it is the smaller one."""
    lower = np.full(x.shape, np.nan)
    fits = (a >= 0) & (x >= 0) & ~(np.isinf(a) & np.isinf(x)) & ~((a == 0) & (x == 0))
    lower[fits & ((x == 0) | np.isinf(a))] = 0
    lower[fits & ((a == 0) | np.isinf(x))] = 1
    upper = 1 - lower
    inner = fits & np.isnan(lower)
    ways = (((a > 1e5) & (x < a), lambda a, x: _uniform(a, x, False), True),
            (a > 1e5, lambda a, x: _uniform(a, x, True), False),
            ((x < a + 1) | (x < 1), _lower_series, True), (x >= a, _upper_fraction, False))
    for mask, f, is_lower in ways:
        mask = mask & inner
        inner &= ~mask
        if mask.any():
            value = f(a[mask], x[mask])
            lower[mask], upper[mask] = (value, 1 - value) if is_lower else (1 - value, value)
    return lower, upper


lgamma: Any = in_double(_lgamma, "log_gamma")
digamma: Any = in_double(_digamma, "digamma")
zeta: Any = in_double(_zeta)
gammainc: Any = in_double(lambda a, x: _incomplete(a, x)[0])
gammaincc: Any = in_double(lambda a, x: _incomplete(a, x)[1])
