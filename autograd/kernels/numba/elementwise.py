"""Loops over single elements: optimisers' steps and activations. Compiled by numba; arrays come as pointers to objects."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .scalar_math import F, I, erf, exp, inlined, tanh

DATA = 2                             # a NumPy array's third word is the address of its numbers, see addresses.py
ROOT_HALF, DENSITY = F(0.7071067811865476), F(0.3989422804014327)
TANH_SCALE, TANH_CUBE, TANH_SLOPE = F(0.7978845608028654), F(0.044715), F(0.134145)
ZERO, HALF, ONE = F(0), F(0.5), F(1)
SIGN = I(-0x80000000)
U = np.uint32
EXACT = 2.0 ** 28                    # quotients below it: their products with 24 bits are exact in double precision


def adam(p_: Any, g_: Any, m_: Any, v_: Any, n: int, shrink: Any, decay: Any, sign: Any, beta1: Any, new1: Any, beta2: Any,
         new2: Any, scale: Any, eps: Any, size: Any) -> None:
    """Adam: `shrink` is decoupled weight decay, `decay` the other kind, `scale` and `size` correct the bias."""
    p, g, m, v = p_[DATA], g_[DATA], m_[DATA], v_[DATA]
    for i in range(n):
        x = p[i] * shrink
        y = sign * g[i] + (decay * x if decay != ZERO else ZERO)             # p may be infinite: a mask
        a = beta1 * m[i] + new1 * y
        b = beta2 * v[i] + new2 * (y * y)
        m[i] = a
        v[i] = b
        p[i] = x - size * (a / (math.sqrt(b) * scale + eps))


def sgd(p_: Any, g_: Any, n: int, lr: Any, decay: Any, sign: Any) -> None:
    """steps.sgd() without momentum."""
    p, g = p_[DATA], g_[DATA]
    for i in range(n):
        p[i] -= lr * (sign * g[i] + (decay * p[i] if decay != ZERO else ZERO))


def sgd_momentum(p_: Any, g_: Any, v_: Any, n: int, lr: Any, decay: Any, sign: Any, momentum: Any, share: Any, nesterov: int,
                 fresh: int) -> None:
    """steps.sgd() with momentum; the first velocity is the gradient itself."""
    p, g, v = p_[DATA], g_[DATA], v_[DATA]
    if fresh:
        for i in range(n):
            v[i] = ZERO
        share = ONE
    ahead = momentum if nesterov else ONE
    for i in range(n):
        y = sign * g[i] + (decay * p[i] if decay != ZERO else ZERO)
        w = momentum * v[i] + share * y
        v[i] = w
        p[i] -= lr * (ahead * w + (y if nesterov else ZERO))


def gelu(x_: Any, out_: Any, n: int) -> None:
    """x times the probability that a standard normal number is below x."""
    x, out = x_[DATA], out_[DATA]
    for i in range(n):
        out[i] = x[i] * (HALF * (ONE + erf(x[i] * ROOT_HALF)))


def gelu_backward(g_: Any, x_: Any, out_: Any, n: int) -> None:
    """g times (that probability + x times its density)."""
    g, x, out = g_[DATA], x_[DATA], out_[DATA]
    for i in range(n):
        density = DENSITY * exp(-HALF * (x[i] * x[i]))
        out[i] = g[i] * (HALF * (ONE + erf(x[i] * ROOT_HALF)) + x[i] * density)


def gelu_tanh(x_: Any, out_: Any, n: int) -> None:
    """gelu with tanh for the probability."""
    x, out = x_[DATA], out_[DATA]
    for i in range(n):
        out[i] = HALF * x[i] * (ONE + tanh(TANH_SCALE * (x[i] + TANH_CUBE * (x[i] * x[i] * x[i]))))


def gelu_tanh_backward(g_: Any, x_: Any, out_: Any, n: int) -> None:
    """out = g times the derivative of gelu's tanh form at x, of n numbers."""
    g, x, out = g_[DATA], x_[DATA], out_[DATA]
    for i in range(n):
        t = tanh(TANH_SCALE * (x[i] + TANH_CUBE * (x[i] * x[i] * x[i])))
        inner = TANH_SCALE * (ONE + TANH_SLOPE * (x[i] * x[i]))
        out[i] = g[i] * (HALF * (ONE + t) + HALF * x[i] * (ONE - t * t) * inner)


@inlined
def quotient_and_rest(x: Any, y: Any) -> tuple[Any, Any]:
    """|x| / |y| rounded down, and what is left: exact for quotients below EXACT."""
    a, b = np.float64(abs(x)), np.float64(abs(y))
    q = np.floor(a / b)
    return q, a - q * b


@inlined
def signed(size: Any, x: Any) -> Any:
    """A size >= 0 with the sign of x."""
    return I(F(size).view(np.int32) | (F(x).view(np.int32) & SIGN)).view(np.float32)


@inlined
def turned(r: Any, y: Any) -> Any:
    """A remainder with the sign of x as one with the sign of y."""
    z = r + y if (y < F(0)) != (r < F(0)) else r
    return signed(F(0), y) if r == F(0) else z


def remainders(x_: Any, y_: Any, out_: Any, wrong_: Any, n: int, many: int, floored: int) -> None:
    """x - y trunc(x / y), exact; the sign is x's, or y's if floored. y: as many, or one. wrong: for how many this is not
    the way."""
    x, y, out = x_[DATA], y_[DATA], out_[DATA]
    wrong, only = 0, y[0]
    if many:
        for i in range(n):
            q, r = quotient_and_rest(x[i], y[i])
            wrong += 0 if (q < EXACT) & (r == r) else 1
            out[i] = signed(r, x[i])
    else:
        for i in range(n):
            q, r = quotient_and_rest(x[i], only)
            wrong += 0 if (q < EXACT) & (r == r) else 1
            out[i] = signed(r, x[i])
    if floored and many:
        for i in range(n):
            out[i] = turned(out[i], y[i])
    elif floored:
        for i in range(n):
            out[i] = turned(out[i], only)
    wrong_[DATA][0] = wrong


@inlined
def half_of(x: Any) -> Any:
    """The bits of a float32 as a float16: to nearest, ties to even; the upper bits of a nan stay, as in NumPy."""
    bits = F(x).view(np.uint32)
    size = U(bits & U(0x7FFFFFFF))
    normal = U(U(size - U(0x37FFF001) + (U(size >> U(13)) & U(1))) >> U(13))          # may carry up to infinity
    small = U(F(U(size).view(np.float32) + HALF).view(np.uint32) - U(0x3F000000))     # the addition rounds to 2^-24
    nan = U(U(0x7C00) | U(size >> U(13)) & U(0x3FF))
    nan = U(0x7C01) if nan == U(0x7C00) else nan
    out = small if size < U(0x38800000) else normal
    out = U(0x7C00) if size >= U(0x47800000) else out                                 # 65536 and more
    out = nan if size > U(0x7F800000) else out
    return U(out | (U(bits >> U(16)) & U(0x8000)))


def to_half(x_: Any, out_: Any, n: int) -> None:
    """float16 numbers' bits."""
    x, out = x_[DATA], out_[DATA]
    for i in range(n):
        out[i] = np.uint16(half_of(x[i]))


def from_half(x_: Any, out_: Any, n: int) -> None:
    """float32 numbers, of the bits of float16."""
    x, out = x_[DATA], out_[DATA]
    for i in range(n):
        bits = U(x[i])
        size = U(bits & U(0x7FFF))
        normal = U(U(size << U(13)) + U(0x38000000))
        normal = U(normal + U(0x38000000)) if size >= U(0x7C00) else normal           # infinity and nan
        small = F(F(np.int32(size)) * F(2.0 ** -24)).view(np.uint32)
        out[i] = U((small if size < U(0x400) else normal) | U(U(bits & U(0x8000)) << U(16))).view(np.float32)


def to_bfloat16(x_: Any, out_: Any, n: int) -> None:
    """The upper halves of float32 numbers, to nearest, ties to even; of nan 0x7FC0."""
    x, out = x_[DATA], out_[DATA]
    for i in range(n):
        bits = F(x[i]).view(np.uint32)
        rounded = U(U(bits + U(0x7FFF) + (U(bits >> U(16)) & U(1))) >> U(16))
        out[i] = np.uint16(U(0x7FC0) if U(bits & U(0x7FFFFFFF)) > U(0x7F800000) else rounded)
