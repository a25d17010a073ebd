"""Writes autograd/kernels/coefficients.py: Chebyshev series of special functions, from mpmath at 40 digits.

    python -m tools.coefficients > autograd/kernels/coefficients.py

Each row: the name, the smooth part of a function that is expanded, and x as a function of t in (-1, 1).
"""

import textwrap

import mpmath as mp
from mpmath import mpf

mp.mp.dps = 40
QUARTER = mp.pi / 4


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def erfinv_share(w):
    x = mp.sqrt(-mp.expm1(-w))
    return mp.erfinv(x) / x


def bessel_parts(n):
    """P and Q of J_n = sqrt(2 / (pi x)) (P cos(chi) - Q sin(chi)), Y_n = ... (P sin(chi) + Q cos(chi))."""
    def chi(x):
        return x - (2 * n + 1) * QUARTER

    def p(x):
        return mp.sqrt(mp.pi * x / 2) * (mp.besselj(n, x) * mp.cos(chi(x)) + mp.bessely(n, x) * mp.sin(chi(x)))

    def q(x):
        return mp.sqrt(mp.pi * x / 2) * (mp.bessely(n, x) * mp.cos(chi(x)) - mp.besselj(n, x) * mp.sin(chi(x))) * x / 8

    return p, q


def airy_scaled(x):
    return 2 * mp.sqrt(mp.pi) * mp.root(x, 4) * mp.exp(2 * mp.sqrt(x) ** 3 / 3) * mp.airyai(x)


def airy_parts():
    """P and Q of Ai(-z) = (sin(theta) P - cos(theta) Q) / (sqrt(pi) z^(1/4)), theta = zeta + pi / 4."""
    def value(zeta, which):
        z = mp.root(mpf(3) / 2 * zeta, 3) ** 2
        scale, theta = mp.sqrt(mp.pi) * mp.root(z, 4), zeta + QUARTER
        a, b = scale * mp.airyai(-z), scale * mp.airybi(-z)
        return a * mp.sin(theta) + b * mp.cos(theta) if which == "p" else (b * mp.sin(theta) - a * mp.cos(theta)) * zeta

    return (lambda zeta: value(zeta, "p")), (lambda zeta: value(zeta, "q"))


def between(low, high):
    return lambda t: low + (high - low) * (t + 1) / 2


def root_between(low, high):
    """x where x**2 is between: for even functions."""
    return lambda t: mp.sqrt(between(low, high)(t))


def beyond(low):
    """x from infinity down to `low`: 1/x is linear in t."""
    return lambda t: 2 * mpf(low) / (t + 1)


def beyond_squared(low):
    """1/x**2 is linear in t."""
    return lambda t: low / mp.sqrt((t + 1) / 2)


(P0, Q0), (P1, Q1), (PA, QA) = bessel_parts(0), bessel_parts(1), airy_parts()
ZETA_2, ZETA_4 = 2 * mp.sqrt(mpf(2)) ** 3 / 3, 2 * mp.sqrt(mpf(4)) ** 3 / 3
TABLES = [
    ("ERF", "erf(x) / x, x^2 in [0, 1]", lambda x: mp.erf(x) / x, root_between(0, 1)),
    ("ERFCX", "(1 + 2x) erfcx(x), t = (x - 3.75) / (x + 3.75)", lambda x: (1 + 2 * x) * erfcx(x),
     lambda t: mpf("3.75") * (1 + t) / (1 - t)),
    ("ERFINV_NEAR", "erfinv(x) / x as a function of w = -log(1 - x^2), w in [0, 6.25]", erfinv_share, between(0, mpf("6.25"))),
    ("ERFINV_FAR", "the same, sqrt(w) in [2.5, 4]", lambda s: erfinv_share(s * s), between(mpf("2.5"), 4)),
    ("ERFINV_FARTHEST", "the same, sqrt(w) in [4, 6.1]", lambda s: erfinv_share(s * s), between(4, mpf("6.1"))),
    ("LGAMMA", "lgamma(x) / ((x - 1) (x - 2)), x in [1, 2]", lambda x: mp.loggamma(x) / ((x - 1) * (x - 2)), between(1, 2)),
    ("I0E", "exp(-x) I0(x), x in [0, 8]", lambda x: mp.exp(-x) * mp.besseli(0, x), between(0, 8)),
    ("I0E_FAR", "sqrt(x) exp(-x) I0(x), x > 8", lambda x: mp.sqrt(x) * mp.exp(-x) * mp.besseli(0, x), beyond(8)),
    ("I1E", "exp(-x) I1(x) / x, x in [0, 8]", lambda x: mp.exp(-x) * mp.besseli(1, x) / x, between(0, 8)),
    ("I1E_FAR", "sqrt(x) exp(-x) I1(x), x > 8", lambda x: mp.sqrt(x) * mp.exp(-x) * mp.besseli(1, x), beyond(8)),
    ("K0", "K0(x) + log(x / 2) I0(x), x^2 in [0, 4]", lambda x: mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x),
     root_between(0, 4)),
    ("K0E_FAR", "sqrt(x) exp(x) K0(x), x > 2", lambda x: mp.sqrt(x) * mp.exp(x) * mp.besselk(0, x), beyond(2)),
    ("K1", "x (K1(x) - log(x / 2) I1(x)), x^2 in [0, 4]", lambda x: x * (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x)),
     root_between(0, 4)),
    ("K1E_FAR", "sqrt(x) exp(x) K1(x), x > 2", lambda x: mp.sqrt(x) * mp.exp(x) * mp.besselk(1, x), beyond(2)),
    ("J0", "J0(x), x^2 in [0, 64]", lambda x: mp.besselj(0, x), root_between(0, 64)),
    ("J1", "J1(x) / x, x^2 in [0, 64]", lambda x: mp.besselj(1, x) / x, root_between(0, 64)),
    ("Y0", "Y0(x) - 2/pi log(x) J0(x), x^2 in [0, 64]",
     lambda x: mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x), root_between(0, 64)),
    ("Y1", "(Y1(x) - 2/pi (log(x) J1(x) - 1/x)) / x, x^2 in [0, 64]",
     lambda x: (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x, root_between(0, 64)),
    ("P0", "modulus times cos of the phase of order 0, x > 8", P0, beyond_squared(8)),
    ("Q0", "modulus times sin of the phase, times x / 8", Q0, beyond_squared(8)),
    ("P1", "the same of order 1", P1, beyond_squared(8)),
    ("Q1", "the same of order 1", Q1, beyond_squared(8)),
    ("AI", "Ai(x), x in [-4, 2]", mp.airyai, between(-4, 2)),
    ("AI_FAR", "2 sqrt(pi) x^(1/4) exp(zeta) Ai(x), x > 2; zeta = 2/3 x^(3/2)",
     lambda zeta: airy_scaled(mp.root(mpf(3) / 2 * zeta, 3) ** 2), beyond(ZETA_2)),
    ("AI_P", "modulus times cos of the phase of Ai(-x), x > 4, zeta > 16/3", PA, beyond_squared(ZETA_4)),
    ("AI_Q", "modulus times sin of the phase, times zeta", QA, beyond_squared(ZETA_4)),
]


def series(function, x_of, nodes=72):
    """Coefficients of the Chebyshev interpolant, cut off where they no longer count in double precision."""
    angles = [mp.pi * (k + mpf(1) / 2) / nodes for k in range(nodes)]
    values = [function(x_of(mp.cos(a))) for a in angles]
    c = [2 * mp.fsum(v * mp.cos(n * a) for v, a in zip(values, angles)) / nodes for n in range(nodes)]
    c[0] /= 2
    largest = max(abs(v) for v in c)
    while abs(c[-1]) < largest * mpf("3e-18"):
        c.pop()
    return [float(v) for v in c]


def main():
    print('"""Chebyshev coefficients of special functions, written by tools/coefficients.py; see functions.py.\n')
    print("Each table expands the smooth part of a function that its comment names in t, which runs from -1 to 1 as x or x^2")
    print('goes through the interval; for x > a it is 2a/x - 1, or 2 (a/x)^2 - 1 for what is even in 1/x.\n"""\n')
    print("import numpy as np")
    for name, text, function, x_of in TABLES:
        numbers = ", ".join(repr(v) for v in series(function, x_of))
        print(f"\n# {text}")
        print(f"{name} = np.array([")
        print(textwrap.fill(numbers, 121, initial_indent="    ", subsequent_indent="    ") + "])")


if __name__ == "__main__":
    main()
