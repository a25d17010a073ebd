"""Angles: sines, their inverses, the hyperbolic kind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.types import Array
from ...core.declare import elementwise
from ...core.tensor import Tensor
from ...core.types import Declared, Operand
from ...kernels.norms import power_of_two
from .._kinds import in_floats, tensors
from .powers import rsqrt
from .where import where

sin: Any = elementwise("Sin", np.sin, lambda g, x: g * cos(x), floats=True)
cos: Any = elementwise("Cos", np.cos, lambda g, x: -g * sin(x), floats=True)
tan: Declared = elementwise("Tan", np.tan, lambda g, z: g * (1 + z * z), floats=True)
asin: Declared = elementwise("Asin", np.arcsin, lambda g, x: g * rsqrt(1 - x * x), floats=True)
acos: Declared = elementwise("Acos", np.arccos, lambda g, x: -g * rsqrt(1 - x * x), floats=True)
atan: Declared = elementwise("Atan", np.arctan, lambda g, x: g / (x * x + 1), floats=True)
sinh: Any = elementwise("Sinh", np.sinh, lambda g, x: g * cosh(x), floats=True)
cosh: Any = elementwise("Cosh", np.cosh, lambda g, x: g * sinh(x), floats=True)
tanh: Declared = elementwise("Tanh", np.tanh, lambda g, z: g * (1 - z * z), floats=True)
asinh: Declared = elementwise("Asinh", np.arcsinh, lambda g, x: g * rsqrt(x * x + 1), floats=True)
acosh: Declared = elementwise("Acosh", np.arccosh, lambda g, x: g * rsqrt(x * x - 1), floats=True)
atanh: Declared = elementwise("Atanh", np.arctanh, lambda g, x: g / (1 - x * x), floats=True)
deg2rad: Any = elementwise("Deg2Rad", np.deg2rad, lambda g: deg2rad(g), floats=True)
rad2deg: Any = elementwise("Rad2Deg", np.rad2deg, lambda g: rad2deg(g), floats=True)


def _over_square(x: Tensor, y: Tensor) -> Tensor:
    """x / (x^2 + y^2), and 0 at the origin. Elements are divided by a power of two first: their squares stay in range."""
    a, b = (v.array if isinstance(v, Tensor) else v for v in (x, y))
    scale = power_of_two(np.maximum(np.abs(a), np.abs(b)))
    x, y = x / scale, y / scale
    total = x * x + y * y
    origin = total == 0
    return where(origin, 0.0, x / where(origin, 1.0, total)) / scale


atan2: Declared = elementwise("Atan2", tensors("atan2", in_floats(np.arctan2)), lambda g, x, y: g * _over_square(y, x),
                    lambda g, x, y: -g * _over_square(x, y))


def _sinc_slope(x: Operand) -> Operand:
    """d sinc / dx = (cos(pi x) - sinc(x)) / x, near 0 by its series: the difference loses all digits."""
    near = (abs(x) if isinstance(x, np.ndarray) else abs(x.array)) < 0.3
    safe, small = where(near, 1.0, x), where(near, x, 0.0)
    square, total = small * small, 0.0
    for factor in SINC_SLOPE:
        total = total * square + factor
    return where(near, small * total, (cos(np.pi * safe) - sinc(safe)) / safe)


# the factors of x^17, x^15, ..., x in the series of d sinc / dx
SINC_SLOPE = [(-1) ** k * 2 * k * math.pi ** (2 * k) / math.factorial(2 * k + 1) for k in range(9, 0, -1)]


def _sinc(x: Array) -> Array:
    angle = np.pi * x
    return np.where(x == 0, np.ones_like(x), np.sin(angle) / np.where(x == 0, np.ones_like(x), angle))


sinc: Any = elementwise("Sinc", _sinc, lambda g, x: g * _sinc_slope(x), floats=True)

arcsin: Declared = asin
arccos: Declared = acos
arctan: Declared = atan
arcsinh: Declared = asinh
arccosh: Declared = acosh
arctanh: Declared = atanh
arctan2: Declared = atan2

__all__ = ["acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "asin", "asinh",
           "atan", "atan2", "atanh", "cos", "cosh", "deg2rad", "rad2deg", "sin", "sinc", "sinh", "tan", "tanh"]
METHODS = __all__
IN_PLACE = __all__
