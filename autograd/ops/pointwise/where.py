"""One of two: where, the larger, the smaller, limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import for_number
from ...base.types import Array
from ...core.batching import elementwise as elementwise_rule
from ...core.declare import elementwise
from ...core.operation import Operation
from ...core.out import detached, into, takes_out
from ...core.primitive import value_read
from ...core.tensor import Tensor, result
from ...core.types import Context, Declared, Gradients, Operand, TensorOrArray, TensorOrNumber
from ...kernels import relu as relu_kernel
from ...kernels.memory_format import order_of
from ...kernels.where import masked
from ...kernels.where import where as where_kernel
from .._kinds import ordered, refuse, tensors
from ..creation.arguments import number
from .cast import cast, common_dtype, is_number, promoted


class Where(Operation):
    """x where the condition holds, y elsewhere."""

    batched = elementwise_rule

    mixes = True

    @staticmethod
    def forward(ctx: Context, condition: Array, x: Array, y: Array) -> Array:
        ctx.save(condition)
        return where_kernel(condition, x, y)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The gradient of x where the condition holds, that of y elsewhere."""
        (condition,) = ctx.values
        if type(g) is np.ndarray:
            none = np.zeros((), g.dtype)
            return (None, where_kernel(condition, g, none) if ctx.needs(1) else None,
                    where_kernel(condition, none, g) if ctx.needs(2) else None)
        return (None, where(condition, g, 0.0) if ctx.needs(1) else None,
                where(condition, 0.0, g) if ctx.needs(2) else None)


def where(condition: Any, input: Any = None, other: Any = None, *, out: Tensor | None = None) -> Any:
    """input where condition holds, other elsewhere; the three broadcast, input and other may be numbers.

    With the condition alone: the indices where it holds, a tensor for each dimension.

    >>> where(x > 0, x, 0.0)
    """
    if out is not None:
        return into(out, where(condition, detached(input), detached(other)), input, other, name="where")
    if input is None and other is None:
        value_read("where(condition) alone")
        found = np.nonzero(np.atleast_1d(condition.array))
        return tuple(result(i) for i in found)
    if isinstance(condition, Tensor) and condition.dtype.kind not in "b" and condition.dtype != np.uint8:
        raise RuntimeError("where expected condition to be a boolean tensor, but got a tensor with dtype "
                           f"{condition.dtype}; compare first, as in where(x != 0, ...)")
    if is_number(input) and hasattr(other, "dtype"):
        input = np.array(input).astype(for_number(other.dtype, input))
    elif is_number(other) and hasattr(input, "dtype"):
        other = np.array(other).astype(for_number(input.dtype, other))
    if is_number(input) or input.dtype != other.dtype:
        input, other = promoted(input, other)
    return Where.apply(condition, input, other)


def passing(g: Any, keep: Any) -> Any:
    """The gradient g where keep (booleans), else 0: a product would be nan where g is infinite, as for sqrt(relu(x))."""
    return where(keep, g, 0.0) if isinstance(g, Tensor) else masked(g, keep)


def where_method(self: Tensor, condition: Tensor, other: TensorOrNumber) -> Tensor:
    """This tensor where condition holds, other elsewhere."""
    return where(condition, self, other)


# --- the larger and the smaller ----------------------------------------------------------------------------------------

def share(g: Operand, tie: Operand, lost: Operand) -> Operand:
    """The part of the gradient g for one of two: half where they tie, none where it lost, else all."""
    return where(tie, g / 2, where(lost, 0.0, g))


def _first(x: TensorOrArray, y: TensorOrArray, larger: bool) -> Any:
    """Where fmax (fmin) takes x: it is the larger (smaller) or equal, or y is nan."""
    return (x >= y if larger else x <= y) | (y != y)


def _choosing(name: str, ufunc: Any) -> Any:
    return tensors(name, ordered(name, ufunc, RuntimeError))


maximum: Declared = elementwise("Maximum", _choosing("maximum", np.maximum), lambda g, x, y: share(g, x == y, x < y),
                      lambda g, x, y: share(g, x == y, y < x))
minimum: Declared = elementwise("Minimum", _choosing("minimum", np.minimum), lambda g, x, y: share(g, x == y, x > y),
                      lambda g, x, y: share(g, x == y, y > x))
fmax: Declared = elementwise("Fmax", _choosing("fmax", np.fmax), lambda g, x, y: where(_first(x, y, True), g, 0.0),
                   lambda g, x, y: where(_first(x, y, True), 0.0, g))
fmin: Declared = elementwise("Fmin", _choosing("fmin", np.fmin), lambda g, x, y: where(_first(x, y, False), g, 0.0),
                   lambda g, x, y: where(_first(x, y, False), 0.0, g))

# --- limits --------------------------------------------------------------------------------------------------------------

class Clamp(Operation):
    """x limited to numbers [low, high]; the gradient passes where low <= x <= high."""

    batched = elementwise_rule

    @staticmethod
    def forward(ctx: Context, x: Any, *, low: Any, high: Any) -> Array:
        """NumPy's clip; all is nan if a limit is."""
        ctx.save(x)
        ctx.limits = low, high
        if x.dtype.kind == "f" and (low is None or high is None):    # as np.clip(), which asks much before it does so
            return np.maximum(x, low) if high is None else np.minimum(x, high)
        return x.clip(low, high) if type(x) is np.ndarray else np.clip(x, low, high)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        (x,) = ctx.values
        return passing(g, within_limits(x, *ctx.limits))


class ClampTensor(Operation, name="Clamp"):
    """x limited to [low, high] element by element; either may be None."""

    batched = elementwise_rule

    mixes = True

    @staticmethod
    def forward(ctx: Context, x: Array, low: Array | None, high: Array | None) -> Array:
        """First up, then down: where low > high the result is high."""
        ctx.save(x, low, high)
        out = x if low is None else np.maximum(x, low)
        return out if high is None else np.minimum(out, high)

    @staticmethod
    def backward(ctx: Context, g: Tensor) -> Gradients:
        """To x inside the limits, else to the limit that was met; at the edge to x."""
        x, low, high = ctx.values
        to_low = to_high = None
        if ctx.needs(1):
            to_low = where(x < low if high is None else (x < low) & (low < high), g, 0.0)
        if ctx.needs(2):
            to_high = where(x > high if low is None else (x > high) | (low > high), g, 0.0)
        return where(within_limits(x, low, high), g, 0.0) if ctx.needs(0) else None, to_low, to_high


def within_limits(x: Any, low: TensorOrNumber | None, high: TensorOrNumber | None) -> Any:
    """Whether low <= x <= high, as far as there are limits."""
    if low is None:
        return x <= high
    return x >= low if high is None else (x >= low) & (x <= high)


def _check_order(x: Any, low: Any, high: Any) -> None:
    """NotImplementedError for complex numbers, and for booleans between two limits."""
    if x.dtype.kind == "c" or (x.dtype.kind == "b" and low is not None and high is not None):
        refuse("clamp", x.dtype)


def clamp(input: Any, min: Any = None, max: Any = None, *, out: Any = None) -> Any:
    """input limited to [min, max]: numbers, or tensors that broadcast; one may be left out.

    The gradient passes where min <= input <= max."""
    if out is not None:
        return into(out, clamp(input.detach(), detached(min), detached(max)), input, min, max, name="clamp")
    if not isinstance(input, (Tensor, np.ndarray, np.generic)):
        raise TypeError(f"clamp(): argument 'input' must be a Tensor, not {type(input).__name__}")
    if min is None and max is None:
        raise RuntimeError("clamp: At least one of 'min' or 'max' must not be None")
    tensors = [isinstance(limit, Tensor) for limit in (min, max) if limit is not None]
    if not tensors[0] and not tensors[-1]:
        kind = input.dtype.kind
        if kind not in "fV":
            input = cast(input, common_dtype(input, *(v for v in (min, max) if v is not None)))  # type: ignore[type-var]
            _check_order(input, min, max)
        return Clamp.apply(input, low=min, high=max)
    if not (tensors[0] and tensors[-1]):             # a 0-d tensor beside a number counts as a number
        limits = [v.item() if isinstance(v, Tensor) and not v.ndim and not v.tracked else v for v in (min, max)]
        if any(isinstance(v, Tensor) for v in limits):
            raise TypeError("clamp: min and max must both be numbers or both be tensors, not one of each")
        return clamp(input, *limits)
    matched = promoted(input, min, max)
    _check_order(*matched)
    return ClampTensor.apply(*matched)


def clamp_min(input: Tensor, min: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """input, but at least min."""
    return clamp(input, min, out=out)


def clamp_max(input: Tensor, max: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """input, but at most max."""
    return clamp(input, None, max, out=out)


clip = clamp


class NanToNum(Operation):
    """x with numbers in place of nan and infinities."""

    batched = elementwise_rule

    @staticmethod
    def forward(ctx: Context, x: Array, *, nan: float, posinf: Any, neginf: Any) -> Array:
        """NumPy's nan_to_num, which takes the largest finite numbers where none are given."""
        ctx.save(np.isfinite(x))
        return np.nan_to_num(np.array(x, order=order_of(x), subok=True), False, nan, posinf, neginf)     # type: ignore

    @staticmethod
    def backward(ctx: Context, g: Tensor) -> Gradients:
        """g where the input was finite: the replacements are constants."""
        (finite,) = ctx.values
        return g * finite


@takes_out
def nan_to_num(input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """input with nan replaced by `nan` (0), infinities by `posinf` and `neginf` (the largest finite numbers)."""
    given = {"nan": 0.0 if nan is None else nan, "posinf": posinf, "neginf": neginf}
    return NanToNum.apply(input, **{name: None if value is None else number("nan_to_num", name, value)
                                    for name, value in given.items()})


relu: Declared = elementwise("Relu", relu_kernel.relu, lambda g, z, out: (
    relu_kernel.relu_back(g, z, out) if g.__class__ is np.ndarray else passing(g, z != 0)), joins=((0,),))


__all__ = ["clamp", "clamp_max", "clamp_min", "clip", "fmax", "fmin", "maximum", "minimum", "nan_to_num", "relu",
           "where"]
METHODS = __all__
IN_PLACE = ["clamp", "clamp_max", "clamp_min", "clip", "nan_to_num", "relu"]
