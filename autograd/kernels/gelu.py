"""gelu and its derivative: x times the probability that a standard normal number is below x, or a formula with tanh for it.

Forward gives (output, what is kept for backward): in NumPy the costly part; compiled, nothing, as computing it again takes
less than reading it. A million float32 numbers: 0.2 ms forward and 0.45 back compiled, 5.8 and 1.1 in NumPy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.types import Array
from . import activations
from .error_functions import normal_cdf
from .halves import FLOAT16, FLOAT32, converted

DENSITY = 1 / math.sqrt(2 * math.pi)
TANH_SCALE, TANH_CUBE = math.sqrt(2 / math.pi), 0.044715


def forward(x: Array) -> tuple[Any, Any]:
    """The exact one."""
    if x.dtype is FLOAT16:
        return converted(forward(converted(x, FLOAT32))[0], FLOAT16), None
    quick = activations.forward("gelu", x)
    if quick is not None:
        return quick, None
    p = normal_cdf(x)
    return np.asarray(x * p), p


def backward(g: Array, x: Array, p: Array | None) -> Array:
    """g (cdf(x) + x density(x))."""
    if x.dtype is FLOAT16:
        return converted(backward(converted(g, FLOAT32), converted(x, FLOAT32), None), FLOAT16)
    quick = activations.backward("gelu", g, x)
    if quick is not None:
        return quick
    out = np.asarray(np.multiply(x, x))
    out *= -0.5
    np.exp(out, out=out)
    out *= x
    out *= DENSITY
    out += normal_cdf(x) if p is None else p
    out *= g
    return out


def tanh_forward(x: Array) -> tuple[Any, Any]:
    """x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2."""
    if x.dtype is FLOAT16:
        return converted(tanh_forward(converted(x, FLOAT32))[0], FLOAT16), None
    quick = activations.forward("gelu_tanh", x)
    if quick is not None:
        return quick, None
    t = np.tanh(tanh_argument(x))
    return np.asarray(0.5 * x * (1 + t), x.dtype), t


def tanh_backward(g: Array, x: Array, t: Array | None) -> Array:
    """The product rule."""
    if x.dtype is FLOAT16:
        return converted(tanh_backward(converted(g, FLOAT32), converted(x, FLOAT32), None), FLOAT16)
    quick = activations.backward("gelu_tanh", g, x)
    if quick is not None:
        return quick
    return tanh_rule(g, x, np.tanh(tanh_argument(x)) if t is None else t)


def tanh_argument(x: Any) -> Any:
    """sqrt(2 / pi) (x + 0.044715 x^3), of arrays and Tensors alike."""
    return TANH_SCALE * (x + TANH_CUBE * (x * x * x))


def tanh_rule(g: Any, x: Any, t: Any) -> Any:
    """The gradient in terms of t = tanh(tanh_argument(x)), of arrays and, recorded, of Tensors."""
    inner = TANH_SCALE * (1 + 3 * TANH_CUBE * (x * x))
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner)
