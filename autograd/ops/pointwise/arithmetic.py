"""Sums, products, quotients, remainders, and their combinations of three operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import category, complex64, complex128, float16
from ...base.errors import MSG_MINUS
from ...base.types import Array, Number
from ...core.batching import elementwise as elementwise_rule
from ...core.declare import elementwise
from ...core.operation import Conj, Operation
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...core.types import Context, Declared, Gradients, Operand, TensorOrArray, TensorOrNumber
from ...kernels import remainders
from ...kernels.halves import converted, in_single
from .._kinds import as_arrays, only, tensors, undifferentiable
from .._names import older_order
from .cast import common_dtype, is_number, promoted
from .rounding import zero

plus: Declared = elementwise("Add", np.add, lambda g: g, lambda g: g)
minus: Declared = elementwise("Sub", np.subtract, lambda g: g, lambda g: -g, check=lambda x, y: _check_minus(x, y))
mul: Declared = elementwise("Mul", np.multiply, lambda g, y: g * y, lambda g, x: g * x)
# mul() for functions that are one operation in PyTorch, whose backward is handed x: under create_graph its gradient by x is
# a function of x too, with derivative zero
weighted: Declared = elementwise("Mul", np.multiply, lambda g, y: g * y, lambda g, x: g * x, joins=((0,), ()))
quotient: Declared = elementwise("Div", np.divide, lambda g, y: g / y, lambda g, z, y: -g * (z / y), floats=True)


def _check_minus(*operands: Any) -> None:
    if any(x is True or x is False or (hasattr(x, "dtype") and x.dtype.kind == "b") for x in operands):
        raise RuntimeError(MSG_MINUS)


def _scaled(other: TensorOrArray | Number, alpha: Number, input: Any) -> Any:
    """alpha * other, for a sum with input; RuntimeError where alpha's kind does not fit the sum's."""
    if is_number(other) and isinstance(alpha, Tensor):         # PyTorch's deprecated order: input, alpha, other
        other, alpha = alpha, other
    dtype = common_dtype(input, other)
    if isinstance(alpha, bool):
        if dtype.kind != "b":
            raise RuntimeError(f"Boolean alpha only supported for Boolean results, not for {dtype}.")
    elif dtype.kind != "c" and isinstance(alpha, complex):
        raise RuntimeError(f"For non-complex input tensors, argument alpha must not be a complex number ({alpha}).")
    elif category(dtype) < 2 and isinstance(alpha, float):
        raise RuntimeError(f"For integral input tensors, argument alpha must not be a floating point number ({alpha}).")
    if is_number(other):
        return other * alpha
    return mul(other, np.asarray(alpha).astype(dtype) if category(dtype) == 1 else alpha)      # -1 wraps round in uint8


def add(input: TensorOrArray | Number, other: TensorOrArray | Number, alpha: Number = 1, *,
        out: Tensor | None = None) -> Tensor:
    """input + alpha * other."""
    return plus(input, other if alpha.__class__ is int and alpha == 1 else _scaled(other, alpha, input), out=out)


def sub(input: TensorOrArray | Number, other: TensorOrArray | Number, alpha: Number = 1, *,
        out: Tensor | None = None) -> Tensor:
    """input - alpha * other."""
    if alpha.__class__ is not int or alpha != 1:
        other = _scaled(other, alpha, input)
    return minus(input, other, out=out)


def rsub(input: Tensor, other: TensorOrNumber, alpha: Number = 1) -> Tensor:
    """other - alpha * input."""
    if not isinstance(input, Tensor):
        raise TypeError(f"rsub(): argument 'input' must be a Tensor, not {type(input).__name__}")
    return sub(other, input, alpha=alpha)


# --- division ----------------------------------------------------------------------------------------------------------

def _divided(a: Any, b: Any) -> tuple[Any, Any]:
    """Both operands as arrays. RuntimeError where integers would be divided by 0."""
    a, b = as_arrays(a, b)
    if a.dtype.kind in "iu" and not np.all(b):
        raise RuntimeError("ZeroDivisionError: an integer tensor was divided by 0")
    return a, b


def _floor_quotient(a: Array | Number, b: Array | Number) -> Array:
    return np.floor_divide(*_divided(a, b))


def _trunc_quotient(a: Array, b: Array) -> Array:
    a, b = _divided(a, b)
    return (a - np.fmod(a, b)) // b if a.dtype.kind in "iu" else np.trunc(a / b)


def _remainder(a: Array | Number, b: Array | Number) -> Array:
    return remainders.remainder(*_divided(a, b))


def _fmod(a: Array, b: Array | Number) -> Array:
    return remainders.fmod(*_divided(a, b))


floor_quotient: Any = elementwise("Div", only("fiu", "div_floor", _floor_quotient), lambda g: zero(g), lambda g: zero(g))
trunc_quotient: Any = elementwise("Div", only("fiu", "div_trunc", _trunc_quotient), lambda g: zero(g), lambda g: zero(g))
floor_divide: Declared
floor_divide = elementwise("FloorDivide", only("fiu", "div_floor", _floor_quotient), undifferentiable("floor_divide"),
                           undifferentiable("floor_divide"))
remainder: Declared = elementwise("Remainder", only("fiu", "remainder", _remainder), lambda g: g,
                        lambda g, x, y: -g * floor_quotient(x, y))
fmod: Declared = elementwise("Fmod", tensors("fmod", only("fiu", "fmod", _fmod), 1), lambda g: g,
                   lambda g, x, y: -g * trunc_quotient(x, y))


def div(input: Operand, other: TensorOrArray | Number, *, rounding_mode: str | None = None,
        out: Tensor | None = None) -> Operand:
    """input / other, as it is or rounded to an integer: "trunc" towards 0, "floor" down."""
    if rounding_mode is None:
        return quotient(input, other, out=out)
    if rounding_mode == "floor":
        return floor_quotient(input, other, out=out)
    if rounding_mode == "trunc":
        return trunc_quotient(input, other, out=out)
    raise RuntimeError("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
                       f"'{rounding_mode}'")


subtract = sub
multiply: Declared = mul
divide = div
true_divide: Declared = quotient
gcd: Declared = elementwise("Gcd", tensors("gcd", only("iu", "gcd", np.gcd)), inputs=2)
lcm: Declared = elementwise("Lcm", tensors("lcm", only("iu", "lcm", np.lcm)), inputs=2)

# --- three operands ------------------------------------------------------------------------------------------------------

def conjugates(*values: Any) -> tuple[Any, ...]:
    """What the adjoint of a product has for its factors: the conjugates of complex ones."""
    return tuple([v.conjugate() if v.__class__ is complex else
                  Conj.apply(v) if getattr(v, "dtype", bool) in (complex64, complex128) else v for v in values])


class Addcmul(Operation):
    """x + value * a * b."""

    batched = elementwise_rule

    mixes = True

    @staticmethod
    def forward(ctx: Context, x: Array, a: Array, b: Array, *, value: float) -> Array:
        ctx.save(a, b)
        ctx.value = value
        x, a, b = in_single(x, a, b) if (half := x.dtype == float16) else (x, a, b)
        out = x + (a * b if value == 1 else value * a * b)
        return converted(out, float16, copy=False) if half else out

    @staticmethod
    def backward(ctx: Context, g: Tensor) -> Gradients:
        """The gradient of each factor is g * value * the other."""
        a, b = ctx.values if g.dtype.kind != "c" else conjugates(*ctx.values)
        scaled = g if ctx.value == 1 else g * ctx.value
        return g, scaled * b if ctx.needs(1) else None, scaled * a if ctx.needs(2) else None


class Addcdiv(Operation):
    """x + value * a / b."""

    batched = elementwise_rule

    mixes = True

    @staticmethod
    def forward(ctx: Context, x: Array, a: Array, b: Array, *, value: float) -> Array:
        ctx.save(a, b)
        ctx.value = value
        x, a, b = in_single(x, a, b) if (half := x.dtype == float16) else (x, a, b)
        out = x + (a / b if value == 1 else value * a / b)
        return converted(out, float16, copy=False) if half else out

    @staticmethod
    def backward(ctx: Context, g: Tensor) -> Gradients:
        a, b = ctx.values if g.dtype.kind != "c" else conjugates(*ctx.values)
        scaled = (g if ctx.value == 1 else g * ctx.value) / b
        return g, scaled if ctx.needs(1) else None, -scaled * (a / b) if ctx.needs(2) else None


@older_order("value")
@takes_out
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """input + value * tensor1 * tensor2."""
    operands = promoted(input, tensor1, tensor2)
    return Addcmul.apply(*operands, value=value if category(operands[0].dtype) > 1 else int(value))


@older_order("value")
@takes_out
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """input + value * tensor1 / tensor2, for floating tensors."""
    if tensor1.dtype.kind not in "fcV" and tensor2.dtype.kind not in "fcV":
        raise RuntimeError("Integer division with addcdiv is no longer supported; use input + value * torch.div(tensor1, "
                           "tensor2, rounding_mode=...), or convert the tensors to floating point.")
    return Addcdiv.apply(*promoted(input, tensor1, tensor2), value=value)


class Lerp(Operation):
    """x + w * (y - x)."""

    batched = elementwise_rule

    mixes = True

    @staticmethod
    def forward(ctx: Context, x: Any, y: Any, w: Any) -> Array:
        """The interpolation from the nearer end, so that w = 1 gives y exactly."""
        ctx.weight = w if w.__class__ in (int, float) else None
        if ctx.weight is None:
            ctx.save(x, y, w)
        x, y, w = in_single(x, y, w) if (half := x.dtype == float16) else (x, y, w)
        step = y - x
        if getattr(w, "ndim", 0) == 0:
            out = x + w * step if abs(w) < 0.5 else y - step * (1 - w)
        else:
            out = np.where(np.abs(w) < 0.5, x + w * step, y - step * (1 - w))
        return converted(out, float16, copy=False) if half else out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        if (w := ctx.weight) is not None:
            return g * (1 - w) if ctx.needs(0) else None, g * w if ctx.needs(1) else None, None
        x, y, w = ctx.values if g.dtype.kind != "c" else conjugates(*ctx.values)
        return (g * (1 - w) if ctx.needs(0) else None, g * w if ctx.needs(1) else None,
                g * (y - x) if ctx.needs(2) else None)


_of_floats = only("fcV", "lerp", np.asarray)


@takes_out
def lerp(input: Tensor, end: Tensor, weight: TensorOrNumber) -> Tensor:
    """input + weight * (end - input); weight is a number or a tensor."""
    if not hasattr(input, "dtype") or not hasattr(end, "dtype"):
        raise TypeError(f"lerp() takes Tensors for input and end, not {type(input).__name__} and {type(end).__name__}")
    for name, value in (("end", end), ("weight", weight)):
        if isinstance(value, Tensor) and value.dtype != input.dtype and not (name == "weight" and value.ndim == 0):
            raise RuntimeError(f"expected dtype {input.dtype} for `{name}` but got dtype {value.dtype}")
    if input.dtype.kind not in "fcV":
        _of_floats(input.array if isinstance(input, Tensor) else input)
    return Lerp.apply(input, end, weight)


__all__ = ["add", "addcdiv", "addcmul", "div", "divide", "floor_divide", "fmod", "gcd", "lcm", "lerp", "mul", "multiply",
           "remainder", "rsub", "sub", "subtract", "true_divide"]
METHODS = [name for name in __all__ if name != "rsub"]
IN_PLACE = METHODS
