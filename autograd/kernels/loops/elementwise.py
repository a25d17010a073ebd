"""Loops over single elements: steps of optimizers, gelu, remainders."""

from .functions import erf, power_below, tanh
from .scalars import as_float, as_int32, double, fabs, floats, floor, int32, ints, real, reals, sqrt

ROOT_HALF, DENSITY = 0.7071067811865476, 0.3989422804014327
TANH_SCALE, TANH_CUBE, TANH_SLOPE = 0.7978845608028654, 0.044715, 0.134145
SIGN = -0x80000000
NAN = float("nan")
EXACT = 2.0 ** 28                    # quotients below it: their products with 24 bits are exact in double precision


def adam(p: reals, g: reals, m: reals, v: reals, n: int, shrink: real, decay: real, sign: real, beta1: real, new1: real,
         beta2: real, new2: real, scale: real, eps: real, size: real) -> None:
    """Adam: `shrink` is decoupled weight decay, `decay` the other kind, `scale` and `size` correct the bias."""
    for i in range(n):
        x = p[i] * shrink
        y = sign * g[i] + (decay * x if decay != 0 else 0)             # p may be infinite: a mask
        a = beta1 * m[i] + new1 * y
        b = beta2 * v[i] + new2 * (y * y)
        m[i] = a
        v[i] = b
        p[i] = x - size * (a / (sqrt(b) * scale + eps))


def sgd(p: reals, g: reals, n: int, lr: real, decay: real, sign: real) -> None:
    """steps.sgd() without momentum."""
    for i in range(n):
        p[i] -= lr * (sign * g[i] + (decay * p[i] if decay != 0 else 0))


def sgd_momentum(p: reals, g: reals, v: reals, n: int, lr: real, decay: real, sign: real, momentum: real, share: real,
                 nesterov: int) -> None:
    """steps.sgd() with momentum."""
    ahead = momentum if nesterov else 1
    for i in range(n):
        y = sign * g[i] + (decay * p[i] if decay != 0 else 0)
        w = momentum * v[i] + share * y
        v[i] = w
        p[i] -= lr * (ahead * w + (y if nesterov else 0))


def gelu(x: floats, out: floats, n: int) -> None:
    """x times the probability that a standard normal number is below x."""
    for i in range(n):
        out[i] = x[i] * (0.5 * (1 + erf(x[i] * ROOT_HALF)))


def gelu_backward(g: floats, x: floats, out: floats, n: int) -> None:
    """g times (that probability + x times its density)."""
    for i in range(n):
        density = DENSITY * power_below(-0.5 * (x[i] * x[i]))
        out[i] = g[i] * (0.5 * (1 + erf(x[i] * ROOT_HALF)) + x[i] * density)


def gelu_tanh(x: floats, out: floats, n: int) -> None:
    """gelu with tanh for the probability."""
    for i in range(n):
        out[i] = 0.5 * x[i] * (1 + tanh(TANH_SCALE * (x[i] + TANH_CUBE * (x[i] * x[i] * x[i]))))


def gelu_tanh_backward(g: floats, x: floats, out: floats, n: int) -> None:
    """out = g times the derivative of gelu's tanh form at x, of n numbers."""
    for i in range(n):
        t = tanh(TANH_SCALE * (x[i] + TANH_CUBE * (x[i] * x[i] * x[i])))
        inner = TANH_SCALE * (1 + TANH_SLOPE * (x[i] * x[i]))
        out[i] = g[i] * (0.5 * (1 + t) + 0.5 * x[i] * (1 - t * t) * inner)


def quotient(x: float, y: float) -> double:
    """|x| / |y| rounded down: exact below EXACT."""
    return floor(fabs(x) / fabs(y))


def rest(x: float, y: float, q: double) -> double:
    """What is left of |x| once q times |y| is taken out."""
    return fabs(x) - q * fabs(y)


def signed(size: float, x: float) -> float:
    """A size >= 0 with the sign of x."""
    return as_float(as_int32(size) | as_int32(x) & SIGN)


def turned(r: float, y: float) -> float:
    """A remainder with the sign of x as one with the sign of y."""
    z = r + y if (y < 0) != (r < 0) else r
    return signed(0.0, y) if r == 0 else z


def remainder(x: float, y: float) -> float:
    """x - y trunc(x / y), exact; nan where this is not the way to it."""
    q: double = quotient(x, y)
    r = rest(x, y, q)
    return signed(r if q < EXACT else NAN, x)


def remainders(x: floats, y: floats, out: floats, wrong: ints, n: int, many: int, floored: int) -> None:
    """x - y trunc(x / y), exact; the sign is x's, or y's if floored. y: as many, or one. wrong: whether there are nan, some
    of which may be no remainders."""
    failed: int32 = 0
    only = y[0]
    for i in range(n):
        y_i = y[i] if many else only
        r = remainder(x[i], y_i)
        failed = failed | (0 if r == r else 1)
        out[i] = turned(r, y_i) if floored else r
    wrong[0] = failed
