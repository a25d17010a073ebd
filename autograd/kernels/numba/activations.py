"""Loops over single elements: activations besides gelu, their derivatives, and the loss of logits. Compiled by numba; arrays
come as pointers to objects. More than a few choices in an element, and a loop is not made into vectors.
"""

from __future__ import annotations

from typing import Any

from .scalar_math import F, exp, expm1_below, log1p_small, power_below

DATA = 2
ZERO, HALF, ONE, TWO, THREE, SIX = F(0), F(0.5), F(1), F(2), F(3), F(6)


def relu(x_: Any, out_: Any, n: int) -> None:
    """x limited to 0 and above; nan stays."""
    x, out = x_[DATA], out_[DATA]
    for i in range(n):
        out[i] = ZERO if x[i] < ZERO else x[i]


def relu_backward(g_: Any, x_: Any, out_: Any, n: int) -> None:
    """g where x = relu() is not 0, else 0, be g what it may."""
    g, x, out = g_[DATA], x_[DATA], out_[DATA]
    for i in range(n):
        out[i] = ZERO if x[i] == ZERO else g[i]


def relu_over(g_: Any, x_: Any, n: int) -> None:
    """relu_backward, written over g: with g as its `out` that would not be made into vectors."""
    g, x = g_[DATA], x_[DATA]
    for i in range(n):
        g[i] = ZERO if x[i] == ZERO else g[i]


def sigmoid(x_: Any, out_: Any, n: int) -> None:
    """1 / (1 + exp(-x))."""
    x, out = x_[DATA], out_[DATA]
    for i in range(n):
        out[i] = ONE / (ONE + exp(-x[i]))


def logit_loss(x_: Any, t_: Any, out_: Any, n: int) -> None:
    """-(t log s + (1 - t) log(1 - s)), s = sigmoid(x), without overflow."""
    x, t, out = x_[DATA], t_[DATA], out_[DATA]
    for i in range(n):
        share = ONE - t[i] if x[i] > ZERO else t[i]
        linear = share * abs(x[i]) if share != ZERO else ZERO                  # not 0 * inf
        out[i] = linear + log1p_small(power_below(-abs(x[i])))


def silu(x_: Any, out_: Any, n: int) -> None:
    """out = x sigmoid(x), of n numbers."""
    x, out = x_[DATA], out_[DATA]
    for i in range(n):
        out[i] = x[i] * (ONE / (ONE + exp(-x[i])))


def silu_backward(g_: Any, x_: Any, out_: Any, n: int) -> None:
    """g s (1 + x (1 - s)), s = sigmoid(x)."""
    g, x, out = g_[DATA], x_[DATA], out_[DATA]
    for i in range(n):
        s = ONE / (ONE + exp(-x[i]))
        out[i] = g[i] * (s * (ONE + x[i] * (ONE - s)))


def mish(x_: Any, out_: Any, n: int) -> None:
    """x tanh(log(1 + e^x)). With e = exp(-|x|) that is a quotient of polynomials: no cancellation, no overflow."""
    x, out = x_[DATA], out_[DATA]
    for i in range(n):
        e = power_below(-abs(x[i]))
        top = e * (e + TWO) if x[i] < ZERO else ONE + TWO * e
        rest = TWO if x[i] < ZERO else TWO * (e * e)
        out[i] = x[i] * (top / (top + rest))


def mish_backward(g_: Any, x_: Any, out_: Any, n: int) -> None:
    """g (t + x sigmoid(x) (1 - t^2)), t = tanh(log(1 + e^x)); 1 - t^2 = rest (2 top + rest) / (top + rest)^2."""
    g, x, out = g_[DATA], x_[DATA], out_[DATA]
    for i in range(n):
        e = power_below(-abs(x[i]))
        top = e * (e + TWO) if x[i] < ZERO else ONE + TWO * e
        rest = TWO if x[i] < ZERO else TWO * (e * e)
        s = (e if x[i] < ZERO else ONE) / (ONE + e)
        whole = ONE / (top + rest)
        out[i] = g[i] * (top * whole + x[i] * s * (rest * whole) * ((top + top + rest) * whole))


def softplus(x_: Any, out_: Any, n: int, beta: Any, threshold: Any) -> None:
    """log(1 + exp(beta x)) / beta; x where beta x is above the threshold."""
    x, out = x_[DATA], out_[DATA]
    for i in range(n):
        y = x[i] * beta
        z = ((y if y > ZERO else ZERO) + log1p_small(power_below(-abs(y)))) / beta
        out[i] = x[i] if y > threshold else z


def softplus_backward(g_: Any, x_: Any, out_: Any, n: int, beta: Any, threshold: Any) -> None:
    """g sigmoid(beta x); g where beta x is above the threshold."""
    g, x, out = g_[DATA], x_[DATA], out_[DATA]
    for i in range(n):
        y = x[i] * beta
        z = g[i] * (ONE / (ONE + exp(-y)))
        out[i] = g[i] if y > threshold else z


def elu(x_: Any, out_: Any, n: int, alpha: Any, scale: Any, rate: Any) -> None:
    """scale x above 0, scale alpha (exp(rate x) - 1) below; rate > 0."""
    x, out = x_[DATA], out_[DATA]
    for i in range(n):
        low = ZERO if x[i] > ZERO else x[i]
        high = x[i] if x[i] > ZERO else ZERO
        out[i] = scale * high + scale * alpha * expm1_below(low * rate)


def elu_backward(g_: Any, x_: Any, out_: Any, n: int, alpha: Any, scale: Any, rate: Any) -> None:
    """g times scale above 0, scale alpha rate exp(rate x) below."""
    g, x, out = g_[DATA], x_[DATA], out_[DATA]
    for i in range(n):
        low = ZERO if x[i] > ZERO else x[i]
        below = scale * alpha * rate * power_below(low * rate)
        out[i] = g[i] * (scale if x[i] > ZERO else below)


def hardswish(x_: Any, out_: Any, n: int) -> None:
    """x (x + 3, limited to [0, 6]) / 6."""
    x, out = x_[DATA], out_[DATA]
    for i in range(n):
        y = x[i] + THREE
        y = ZERO if y < ZERO else y
        y = SIX if y > SIX else y
        out[i] = x[i] * y / SIX


def hardswish_backward(g_: Any, x_: Any, out_: Any, n: int) -> None:
    """g times 0 up to -3, x / 3 + 1 / 2, and 1 from 3 on."""
    g, x, out = g_[DATA], x_[DATA], out_[DATA]
    for i in range(n):
        y = x[i] / THREE + HALF
        y = g[i] * (y if x[i] < THREE else ONE)
        out[i] = ZERO if x[i] <= -THREE else y


def leaky_relu(x_: Any, out_: Any, n: int, slope: Any) -> None:
    """x above 0, slope x below."""
    x, out = x_[DATA], out_[DATA]
    for i in range(n):
        y = x[i] * slope
        out[i] = x[i] if x[i] > ZERO else y


def leaky_relu_backward(g_: Any, x_: Any, out_: Any, n: int, slope: Any) -> None:
    """g above 0, slope g below."""
    g, x, out = g_[DATA], x_[DATA], out_[DATA]
    for i in range(n):
        y = g[i] * slope
        out[i] = g[i] if x[i] > ZERO else y


def hardtanh(x_: Any, out_: Any, n: int, low: Any, high: Any) -> None:
    """x limited to [low, high]."""
    x, out = x_[DATA], out_[DATA]
    for i in range(n):
        y = low if x[i] < low else x[i]
        out[i] = high if y > high else y


def hardtanh_backward(g_: Any, x_: Any, out_: Any, n: int, low: Any, high: Any) -> None:
    """g between them."""
    g, x, out = g_[DATA], x_[DATA], out_[DATA]
    for i in range(n):
        y = ZERO if x[i] <= low else g[i]
        out[i] = ZERO if x[i] >= high else y
