"""Signs and magnitudes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.types import Array, Number
from ...core.declare import elementwise
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...core.types import Declared, Operand
from .._kinds import as_arrays, demand_real, in_floats, only, tensors, undifferentiable
from .rounding import zero
from .where import where

neg: Declared = elementwise("Neg", np.negative, lambda g: -g)
abs: Any = elementwise("Abs", np.abs, lambda g, x: g * (sign(x) if x.dtype.kind != "c" else direction(x)))     # 0 at 0
absolute: Declared = abs
negative: Declared = neg


def _sign(x: Array) -> Array:
    dtype = np.asarray(x).dtype
    if dtype.kind in "fV":
        return np.subtract(x > 0, x < 0, dtype=dtype)     # 0 for nan, where NumPy's sign is nan
    return np.copy(x) if dtype.kind == "b" else np.sign(x)


def _copysign(x: Array, y: Array | Number) -> Array:
    return np.copysign(*as_arrays(x, y))


def _heaviside(x: Array, y: Array) -> Array:
    x, y = as_arrays(x, y)
    return np.where(x == 0, y, (x > 0).astype(x.dtype))


sign: Any = elementwise("Sign", _sign, lambda g: zero(g), real=True)
_sgn = elementwise("Sgn", _sign, lambda g: zero(g))
signbit: Declared = elementwise("Signbit", lambda x: np.signbit(x) if np.asarray(x).dtype.kind in "fV" else np.less(x, 0),
                      real=True, inputs=1)
copysign: Any = elementwise("Copysign", tensors("copysign", in_floats(_copysign), 1),
                            lambda g, z, x: where(x == 0, 0.0, g * sign(x) * sign_of(z)), lambda g: zero(g),
                            joins=((0, 1), ()), real=True)
step: Declared
step = elementwise("Heaviside", _heaviside, undifferentiable("heaviside"), undifferentiable("heaviside"), real=True)
nextafter: Declared = elementwise("Nextafter", tensors("nextafter", only("f", "nextafter", np.nextafter)),
                        lambda g, x, y: where(x == y, 0.0, g), lambda g: zero(g))


def sign_of(x: Tensor) -> Array:
    """1 or -1 by the sign bit, so that -0.0 counts as negative; constant."""
    return np.copysign(1.0, x.array if isinstance(x, Tensor) else x)


@takes_out
def sgn(input: Tensor) -> Tensor:
    """The sign of a real number, z / |z| of a complex one; 0 at 0."""
    return direction(input) if input.dtype.kind == "c" else _sgn(input)


def heaviside(input: Any, values: Any, *, out: Tensor | None = None) -> Tensor:
    """0 where input is negative, 1 where it is positive, `values` where it is 0."""
    demand_real("heaviside", *[x for x in (input, values) if isinstance(x, Tensor)])
    for value in (input, values):
        if not isinstance(value, Tensor):
            raise TypeError(f"heaviside() takes two Tensors, not {type(value).__name__}")
    if input.dtype != values.dtype:
        raise RuntimeError(f"heaviside is not yet implemented for tensors with different dtypes: "
                           f"{input.dtype}, {values.dtype}")
    return step(input, values, out=out)


def positive(input: Tensor) -> Tensor:
    """input itself; RuntimeError for booleans, which have no sign."""
    if input.dtype == bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def direction(x: Operand) -> Operand:
    """x / |x|, 0 at 0."""
    size = abs(x)
    return where(size == 0, 0.0, x / where(size == 0, 1.0, size))


__all__ = ["abs", "absolute", "copysign", "heaviside", "neg", "negative",
           "nextafter", "positive", "sgn", "sign", "signbit"]
METHODS = list(__all__)
IN_PLACE = ["abs", "absolute", "copysign", "heaviside", "neg", "negative", "nextafter", "sgn", "sign"]
