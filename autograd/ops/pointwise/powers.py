"""Powers and roots, and frexp and ldexp."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...base.dtypes import complex128, float64, int64
from ...base.types import Array, Number
from ...core.batching import elementwise as elementwise_rule
from ...core.declare import elementwise
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...core.types import Context, Declared, Gradients, TensorOrArray, TensorOrNumber
from .._kinds import as_arrays, only, refuse, tensors
from .arithmetic import mul
from .cast import cast
from .exponential import exp2, log
from .where import passing, where

sqrt: Declared = elementwise("Sqrt", np.sqrt, lambda g, z: g / (2 * z), floats=True)
rsqrt: Any = elementwise("Rsqrt", lambda x: 1 / np.sqrt(x), lambda g, z: -0.5 * g * (z * z * z), floats=True)
reciprocal: Declared = elementwise("Reciprocal", lambda x: 1 / x, lambda g, z: -g * (z * z), floats=True)
square: Declared
square = elementwise("Pow", lambda x: np.square(x, dtype=int64 if x.dtype.kind == "b" else None), lambda g, x: g * (2 * x))
hypot: Declared                                      # its gradient at the origin is 0, as of a norm
hypot = elementwise("Hypot", tensors("hypot", only("f", "hypot", np.hypot)),
                    lambda g, z, x: g * (x / where(z == 0, np.inf, z)), lambda g, z, y: g * (y / where(z == 0, np.inf, z)))


def _power(a: Any, b: Any) -> Array:
    """a ** b. Small exponents by multiplication, as NumPy's operator has it but not its ufunc."""
    if a.__class__ is np.ndarray and (b.__class__ is int or b.__class__ is float):
        if a.dtype.kind in "fcV":
            if b == 2:
                return np.square(a)
            if b == 3:
                return a * a * a
            if b == 0.5:
                return np.sqrt(a)
            if b == 1:
                return np.copy(a)
            return np.power(a, b)
        if b < 0:
            raise RuntimeError(f"Integers to negative integer powers are not allowed, as {b}. Convert to float first.")
    a, b = as_arrays(a, b)
    if a.dtype.kind in "fcV":
        return np.power(a, b)
    if a.dtype.kind == "b":
        refuse("pow", a.dtype)
    below = b < 0
    if not np.any(below):
        return np.power(a, b)
    # The reciprocal, rounded towards 0: not 0 only for 1 and -1.
    inverse = np.where(a == 1, 1, np.where(a == -1, 1 - 2 * (b & 1), 0))
    return np.where(below, inverse, np.power(a, np.where(below, 0, b))).astype(a.dtype)


power: Any = elementwise("Pow", _power, lambda g, x, y: pow_base(g, x, y), lambda g, z, x, y: pow_exponent(g, z, x, y))


def pow(input: TensorOrArray | Number, exponent: TensorOrArray | Number, *, out: Tensor | None = None) -> Any:
    """input ** exponent, one of them a Tensor."""
    return power(input, exponent, out=out)


def pow_base(g: Any, x: TensorOrArray, y: TensorOrArray | Number) -> Any:
    """d x^y / dx = y x^(y-1); 0 where y is 0, whatever x and g are."""
    if y.__class__ in (int, float, complex):
        return passing(g, np.zeros((), bool)) if y == 0 else g * (y * pow(x, y - 1))
    flat = y == 0
    return where(flat, 0.0, g * (y * pow(x, where(flat, 1.0, y - 1))))


def _real_part(y: TensorOrArray) -> Array:
    """The real part as an array, or a number: to be compared."""
    return (y.array if isinstance(y, Tensor) else y).real


def pow_exponent(g: Any, z: Any, x: Any, y: TensorOrArray) -> Any:
    """d x^y / dy = x^y log(x); 0 where x^y is 0, and at x = 0 for y >= 0."""
    if x.__class__ in (int, float, complex):
        x = np.array(x, z.dtype)
    elif z.dtype.kind == "c" and x.dtype.kind != "c":
        x = cast(x, z.dtype)                         # a real base below 0 has a complex logarithm
    flat = (x == 0) & (_real_part(y) >= 0) | (z == 0)
    return where(flat, 0.0, g * (z * log(where(flat, 1.0, x))))


@takes_out
def float_power(input: Any, exponent: Any) -> Any:
    """input ** exponent in double precision, whatever their dtypes."""
    values = input, exponent
    if any(isinstance(v, complex) or (hasattr(v, "dtype") and v.dtype.kind == "c") for v in values):
        return pow(*(cast(v, complex128) if hasattr(v, "dtype") else complex(v) for v in values))
    return pow(*(cast(v, float64) if hasattr(v, "dtype") else float(v) for v in values))


def ldexp(input: Tensor, other: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """input * 2**other; other may be fractional."""
    if not isinstance(input, Tensor) or not isinstance(other, Tensor):
        raise TypeError(f"ldexp() takes two Tensors, not {type(input).__name__} and {type(other).__name__}")
    if other.dtype.kind == "b" and input.dtype.kind in "fV":
        refuse("ldexp", other.dtype)
    if other.dtype.kind in "iu" and input.dtype.kind in "fcV":       # else a 0-d input would be taken for less than 2**other
        other = cast(other, np.abs(np.empty(0, input.dtype)).dtype)
    return mul(input, pow(2.0, other), out=out)


class MantissaExponent(NamedTuple):
    """What frexp returns."""

    mantissa: Tensor
    exponent: Tensor


class Frexp(Operation):
    """The two parts of a floating point number."""

    batched = elementwise_rule

    @staticmethod
    def forward(ctx: Context, x: Array) -> tuple[Array, ...]:
        mantissa, exponent = np.frexp(x)
        exponent = np.asarray(exponent, np.int32)
        ctx.save(exponent)
        return mantissa, exponent

    @staticmethod
    def backward(ctx: Context, g: Tensor | None, g_exponent: Any) -> Gradients:
        """The mantissa is x over a constant power of two."""
        (exponent,) = ctx.values
        return None if g is None else g * exp2(cast(-exponent, g.dtype))


@takes_out
def frexp(input: Tensor) -> MantissaExponent:
    """(mantissa, exponent) with input = mantissa * 2**exponent and 0.5 <= |mantissa| < 1."""
    if input.dtype.kind not in "fV":
        raise RuntimeError(f"torch.frexp() only supports floating-point dtypes, not {input.dtype}")
    return MantissaExponent(*Frexp.apply(input))


__all__ = ["float_power", "frexp", "hypot", "ldexp", "pow", "reciprocal", "rsqrt", "sqrt", "square"]
METHODS = __all__
IN_PLACE = [name for name in __all__ if name != "frexp"]
