"""Arithmetic, comparisons, exponentials and activations: each element of the result depends on one of each input."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import for_number, result_type
from ..operation import Cast
from ..tensor import Tensor
from ._declare import Operation, elementwise

# --- arithmetic ----------------------------------------------------------------------------------------------------

plus = elementwise("Add", np.add, lambda g: g, lambda g: g)
minus = elementwise("Sub", np.subtract, lambda g: g, lambda g: -g)
mul = elementwise("Mul", np.multiply, lambda g, y: g * y, lambda g, x: g * x)
quotient = elementwise("Div", np.divide, lambda g, y: g / y, lambda g, z, y: -g * (z / y), floats=True)
neg = elementwise("Neg", np.negative, lambda g: -g)
abs = elementwise("Abs", np.abs, lambda g, x: g * sign(x))                      # 0 at 0
square = elementwise("Pow", np.square, lambda g, x: g * (2 * x))
sqrt = elementwise("Sqrt", np.sqrt, lambda g, z: g / (2 * z), floats=True)
rsqrt = elementwise("Rsqrt", lambda x: 1 / np.sqrt(x), lambda g, z: -0.5 * g * (z * z * z), floats=True)
reciprocal = elementwise("Reciprocal", lambda x: 1 / x, lambda g, z: -g * (z * z), floats=True)
pow: Any = elementwise("Pow", np.power, lambda g, x, y: g * pow_base(x, y), lambda g, z, x, y: g * pow_exponent(z, x, y))
maximum = elementwise("Maximum", np.maximum, lambda g, x, y: g * share(x, y), lambda g, x, y: g * share(y, x))
minimum = elementwise("Minimum", np.minimum, lambda g, x, y: g * share(y, x), lambda g, x, y: g * share(x, y))

# --- exponentials ----------------------------------------------------------------------------------------------------

exp = elementwise("Exp", np.exp, lambda g, z: g * z, floats=True)
expm1 = elementwise("Expm1", np.expm1, lambda g, z: g * (z + 1), floats=True)
log: Any = elementwise("Log", np.log, lambda g, x: g / x, floats=True)
log1p = elementwise("Log1p", np.log1p, lambda g, x: g / (x + 1), floats=True)
sin = elementwise("Sin", np.sin, lambda g, x: g * cos(x), floats=True)
cos: Any = elementwise("Cos", np.cos, lambda g, x: -g * sin(x), floats=True)
tanh = elementwise("Tanh", np.tanh, lambda g, z: g * (1 - z * z), floats=True)


def _sigmoid(x: Any) -> Any:
    half = np.asarray(x).dtype.type(0.5)
    return half * np.tanh(half * x) + half          # tanh does not overflow where exp(-x) would


sigmoid = elementwise("Sigmoid", _sigmoid, lambda g, z: g * (z * (1 - z)), floats=True)

# --- activations -----------------------------------------------------------------------------------------------------

relu = elementwise("Relu", lambda x: np.maximum(x, 0), lambda g, z: g * (z > 0))  # 0 at 0, as PyTorch

# --- without derivatives ---------------------------------------------------------------------------------------------

eq = elementwise("Eq", np.equal)
ne = elementwise("Ne", np.not_equal)
lt = elementwise("Lt", np.less)
le = elementwise("Le", np.less_equal)
gt = elementwise("Gt", np.greater)
ge = elementwise("Ge", np.greater_equal)
sign: Any = elementwise("Sign", np.sign)
isnan = elementwise("Isnan", np.isnan)
isinf = elementwise("Isinf", np.isinf)
isfinite = elementwise("Isfinite", np.isfinite)
logical_and = elementwise("LogicalAnd", np.logical_and)
logical_or = elementwise("LogicalOr", np.logical_or)
logical_not = elementwise("LogicalNot", np.logical_not)
bitwise_and = elementwise("BitwiseAnd", np.bitwise_and)
bitwise_or = elementwise("BitwiseOr", np.bitwise_or)
bitwise_not = elementwise("BitwiseNot", np.invert)
floor = elementwise("Floor", np.floor)
ceil = elementwise("Ceil", np.ceil)
round = elementwise("Round", np.rint)
floor_divide = elementwise("FloorDivide", np.floor_divide)
remainder = elementwise("Remainder", np.remainder, lambda g: g, lambda g, x, y: -g * floor(quotient(x, y)))


def pow_base(x: Any, y: Any) -> Any:
    """d x^y / dx = y x^(y-1); 0 where y is 0, also at x = 0."""
    if y.__class__ in (int, float):
        return 0 * x if y == 0 else y * pow(x, y - 1)
    return where(y == 0, 0 * x, y * pow(x, where(y == 0, 1 + 0 * y, y - 1)))


def pow_exponent(z: Any, x: Any, y: Any) -> Any:
    """d x^y / dy = x^y log(x); 0 at x = 0 for y >= 0."""
    x = np.array(x, z.dtype) if x.__class__ in (int, float) else x
    flat = (x == 0) & (y >= 0)
    return where(flat, 0 * z, z * log(where(flat, 1 + 0 * x, x)))


def share(x: Any, y: Any) -> Any:
    """The part of the gradient of max(x, y) that is x's: all where x is the larger, half where they are equal."""
    tie = cast(x == y, x.dtype if hasattr(x, "dtype") else y.dtype)
    return (x > y) + 0.5 * tie


# --- with settings ---------------------------------------------------------------------------------------------------

def add(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """input + alpha * other."""
    return plus(input, other if alpha == 1 else mul(other, alpha), out=out)


def sub(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """input - alpha * other."""
    return minus(input, other if alpha == 1 else mul(other, alpha), out=out)


def div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Any:
    """input / other, as it is or rounded to an integer: "trunc" towards 0, "floor" down."""
    if rounding_mode is None:
        return quotient(input, other, out=out)
    if rounding_mode == "floor":
        return floor_divide(input, other, out=out)
    if rounding_mode == "trunc":
        whole = quotient(input, other)
        return mul(sign(whole), floor(abs(whole)), out=out)
    raise RuntimeError("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
                       f"'{rounding_mode}'")


subtract, multiply, divide, negative = sub, mul, div, neg

# --- three inputs, or settings -----------------------------------------------------------------------------------

class Where(Operation):
    """x where the condition holds, y elsewhere."""

    mixes = True

    @staticmethod
    def forward(ctx: Any, condition: Any, x: Any, y: Any) -> Any:
        """NumPy's where, on operands of one dtype."""
        ctx.save(condition)
        return np.where(condition, x, y)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Each side gets what it gave."""
        (condition,) = ctx.values
        return None, where(condition, g, 0.0), where(condition, 0.0, g)


def where(condition: Any, x: Any, y: Any) -> Any:
    """x where condition holds, y elsewhere; the three broadcast. x and y may be numbers.

    >>> where(x > 0, x, 0.0)
    """
    numbers = [v.__class__ in (bool, int, float) for v in (x, y)]      # not NumPy's float64, which is a float
    if numbers[0] and numbers[1]:
        dtype = result_type(tensor_of(x), tensor_of(y))
        x, y = np.array(x, dtype), np.array(y, dtype)
    elif numbers[0]:
        x = np.array(x, for_number(y.dtype, x))
    elif numbers[1]:
        y = np.array(y, for_number(x.dtype, y))
    if x.dtype != y.dtype:
        dtype = result_type(x, y)
        x, y = cast(x, dtype), cast(y, dtype)
    return Where.apply(condition, x, y)


def tensor_of(number: Any) -> Any:
    """A Python number as the 0-d array that tensor(number) holds."""
    return np.array(number, for_number(np.dtype(bool), number))


class Clamp(Operation):
    """x limited to [low, high]; the gradient passes where low <= x <= high."""

    @staticmethod
    def forward(ctx: Any, x: Any, low: Any, high: Any) -> Any:
        """NumPy's clip."""
        ctx.save(x)
        ctx.limits = low, high
        return np.clip(x, low, high)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Nothing passes beyond the limits."""
        (x,) = ctx.values
        low, high = ctx.limits
        inside: Any = True
        if low is not None:
            inside = x >= low
        if high is not None:
            inside = (x <= high) if inside is True else inside & (x <= high)
        return g * inside, None, None


def clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    """x limited to [min, max], both numbers; one may be left out."""
    if min is None and max is None:
        raise RuntimeError("clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        x = x if min is None else maximum(x, min)
        return x if max is None else minimum(x, max)
    return Clamp.apply(x, min, max)


def cast(x: Any, dtype: Any) -> Any:
    """x in another dtype: itself if it has it already."""
    dtype = np.dtype(dtype)
    if x.dtype == dtype:
        return x
    return Cast.apply(x, dtype=dtype)


__all__ = ["abs", "add", "bitwise_and", "bitwise_not", "bitwise_or", "ceil", "clamp", "cos", "div", "divide", "eq",
           "exp", "expm1", "floor", "floor_divide", "ge", "gt", "isfinite", "isinf", "isnan", "le", "log", "log1p",
           "logical_and", "logical_not", "logical_or", "lt", "maximum", "minimum", "mul", "multiply", "ne", "neg",
           "negative", "pow", "reciprocal", "relu", "remainder", "round", "rsqrt", "sigmoid", "sign", "sin", "sqrt",
           "square", "sub", "subtract", "tanh", "where"]
METHODS = ["add", "sub", "subtract", "mul", "multiply", "div", "divide", "neg", "negative", "abs", "square", "sqrt",
           "rsqrt", "reciprocal", "pow", "maximum", "minimum", "exp", "expm1", "log", "log1p", "sin", "cos", "tanh",
           "sigmoid", "relu", "sign", "isnan", "isinf", "isfinite", "eq", "ne", "lt", "le", "gt", "ge", "floor", "ceil",
           "round", "clamp", "logical_and", "logical_or", "logical_not", "remainder", "floor_divide", "bitwise_and",
           "bitwise_or", "bitwise_not"]
IN_PLACE = ["add", "sub", "mul", "div", "neg", "abs", "square", "sqrt", "rsqrt", "reciprocal", "pow", "exp", "expm1",
            "log", "log1p", "sin", "cos", "tanh", "sigmoid", "relu", "floor", "ceil", "round", "clamp"]
