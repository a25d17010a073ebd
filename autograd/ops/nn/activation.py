"""Smooth activations: gelu, silu, mish, softplus, the family of elu, glu.

Activations made of straight pieces: relu, hardtanh, shrinking, and those with a slope below 0."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.types import Array
from ...core.batching import elementwise as elementwise_rule
from ...core.casting import casts_lower
from ...core.declare import elementwise
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.primitive import primitive
from ...core.tensor import Tensor
from ...core.types import Context, Declared, Gradients, Operand, TensorOrArray
from ...kernels import gelu as kernel
from ...kernels import logarithms
from ...kernels.error_functions import normal_cdf
from ...kernels.gelu import DENSITY
from ...kernels.halves import converted
from ...modes.random import drawing
from .._pointwise import overwrite, pointwise
from ..pointwise.exponential import exp, sigmoid, tailed_sigmoid
from ..pointwise.sign import abs as absolute
from ..pointwise.trigonometric import tanh
from ..pointwise.where import clamp, passing, where
from ..pointwise.where import relu as plain_relu
from ..shape import clone, narrow, reshape, wrap_dim

SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805      # fixed point: mean 0, variance 1 (Klambauer 2017)

cdf: Declared = elementwise("NormalCdf", normal_cdf, lambda g, x: g * (DENSITY * exp(-0.5 * x * x)))


class Gelu(Operation):
    """x times the probability that a standard normal number is below x."""

    batched = elementwise_rule

    @staticmethod
    def forward(ctx: Context, x: Array) -> Array:
        """kernels.gelu.forward() of the exact formula."""
        out, kept = kernel.forward(x)
        ctx.save(x, (kept,))                         # in a tuple: a number to the graph, freed with the rest
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """cdf(x) + x density(x)."""
        x, (kept,) = ctx.values
        if isinstance(g, Tensor):
            return g * (cdf(x) + x * (DENSITY * exp(-0.5 * x * x)))
        return kernel.backward(g, x, kept)


class GeluTanh(Operation, name="Gelu"):
    """x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2."""

    batched = elementwise_rule

    @staticmethod
    def forward(ctx: Context, x: Array) -> Array:
        """kernels.gelu.tanh_forward() of the approximation."""
        out, kept = kernel.tanh_forward(x)
        ctx.save(x, (kept,))
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        x, (kept,) = ctx.values
        if not isinstance(g, Tensor):
            return kernel.tanh_backward(g, x, kept)
        return kernel.tanh_rule(g, x, tanh(kernel.tanh_argument(x)))


@takes_out
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """input * P(standard normal < input); approximate "tanh" takes a formula with tanh for it."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate argument must be either none or tanh, not {approximate!r}")
    if input.dtype.kind not in "fV":
        raise NotImplementedError(f'"gelu" not implemented for {input.dtype}; cast the input to floating point first')
    return (Gelu if approximate == "none" else GeluTanh).apply(input)


# --- silu, mish, softplus --------------------------------------------------------------------------------------------

def _silu_rule(g: Operand, x: Operand) -> Operand:
    s = sigmoid(x)
    return g * (s * (1 + x * (1 - s)))


def _mish_forward(x: Array) -> Array:
    """x tanh(log(1 + e^x)): with w = e^x that is x w (w + 2) / (w (w + 2) + 2), which is 1 from 25 on, where
    half precision has no w^2."""
    x = converted(x, np.float32) if x.dtype == np.float16 else x
    w = np.exp(np.minimum(x, 25))
    w *= w + 2
    w /= w + 2
    w *= x
    return w


def _mish_rule(g: Operand, x: Operand) -> Operand:
    t = tanh(_softplus(x, 1.0, math.inf))
    return g * (t + x * sigmoid(x) * (1 - t * t))


def _softplus_forward(x: Array, beta: float, threshold: float) -> Array:
    scaled = x * beta
    return np.where(scaled > threshold, x, logarithms.softplus(scaled) / beta)


def _softplus_rule(g: TensorOrArray, x: Operand, beta: float, threshold: float) -> Operand:
    return where(x * beta > threshold, g, g * tailed_sigmoid(x * beta))


_silu = pointwise("Silu", lambda x: x * sigmoid(x), _silu_rule, kernel="silu")
_mish = pointwise("Mish", _mish_forward, _mish_rule, kernel="mish")
_softplus: Any = pointwise("Softplus", _softplus_forward, _softplus_rule, kernel="softplus")
_logsigmoid = pointwise("LogSigmoid", lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))),
                        lambda g, x: g * tailed_sigmoid(-x))


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """input * sigmoid(input)."""
    if input.dtype.kind == "c" and not inplace:
        return input * sigmoid(input)
    return overwrite(input, _silu(clone(input))) if inplace else _silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * tanh(softplus(input))."""
    return overwrite(input, _mish(clone(input))) if inplace else _mish(input)


@takes_out
def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta * input)) / beta; input itself where beta * input is above threshold."""
    return _softplus(input, beta, threshold)


@takes_out
def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(input)), without overflow."""
    return _logsigmoid(input)


def softsign(input: Tensor) -> Tensor:
    """input / (1 + |input|)."""
    return input / (absolute(input) + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """input - tanh(input)."""
    return input - tanh(input)


# --- elu and its relatives -------------------------------------------------------------------------------------------

def _elu_forward(x: Array, alpha: float, scale: float, input_scale: float) -> Array:
    return scale * np.maximum(x, 0) + scale * alpha * np.expm1(np.minimum(x, 0) * input_scale)


def _elu_rule(g: Operand, x: Operand, alpha: float, scale: float, input_scale: float) -> Operand:
    slope = exp(clamp(x, max=0.0) * input_scale)                  # no overflow above 0
    return g * where(x > 0, scale, (scale * alpha * input_scale) * slope)        # nan stays


_elu = pointwise("Elu", _elu_forward, _elu_rule, kernel="elu")
_elu_of_growing = pointwise("Elu", _elu_forward, _elu_rule)          # exp(input_scale * x), x < 0, is above 1


def _elu_of(input: Tensor, inplace: bool, *settings: float) -> Tensor:
    function = _elu if settings[2] > 0 else _elu_of_growing
    return overwrite(input, function(clone(input), *settings)) if inplace else function(input, *settings)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """input where positive, alpha (exp(input) - 1) elsewhere."""
    return _elu_of(input, inplace, alpha, 1.0, 1.0)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """1.0507 elu(input, 1.6733): keeps mean 0 and variance 1."""
    return _elu_of(input, inplace, SELU_ALPHA, SELU_SCALE, 1.0)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """input where positive, alpha (exp(input / alpha) - 1) elsewhere."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _elu_of(input, inplace, alpha, 1.0, 1.0 / alpha)


def elu_(input: Any, alpha: float = 1.0) -> Any:
    """elu, in place."""
    return elu(input, alpha, True)


def selu_(input: Any) -> Any:
    """selu, in place."""
    return selu(input, True)


def celu_(input: Any, alpha: float = 1.0) -> Any:
    """celu, in place."""
    return celu(input, alpha, True)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of input along dim, times the sigmoid of the second half."""
    if input.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    dim = wrap_dim(dim, input.ndim)
    size = input.shape[dim]
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {size}")
    if input.dtype.kind not in "fcV":
        raise NotImplementedError(f'"glu" not implemented for {input.dtype}; cast the input to floating point first')
    return narrow(input, dim, 0, size // 2) * sigmoid(narrow(input, dim, size // 2, size // 2))


# At the corners the gradients are PyTorch's: 0 where a piece is flat, whatever comes.
_hardtanh = pointwise("Hardtanh", lambda x, low, high: np.clip(x, low, high),
                      lambda g, x, low, high: passing(g, ~((x <= low) | (x >= high))), integers=True, kernel="hardtanh",
                      straight=True)
_hardsigmoid = pointwise("Hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6,
                         lambda g, x: passing(g, (x > -3) & (x < 3)) / 6, kernel="hardsigmoid", straight=True)
_hardswish = pointwise("Hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6,
                       lambda g, x: passing(g * where(x < 3, x / 3 + 0.5, 1.0), ~(x <= -3)), kernel="hardswish")
_hardshrink = pointwise("Hardshrink", lambda x, lambd: np.where((x >= -lambd) & (x <= lambd), 0, x),
                        lambda g, x, lambd: passing(g, ~((x >= -lambd) & (x <= lambd))), straight=True)
_softshrink = pointwise("Softshrink", lambda x, lambd: x - np.clip(x, -lambd, lambd),
                        lambda g, x, lambd: passing(g, ~((x >= -lambd) & (x <= lambd))), straight=True)
_threshold = pointwise("Threshold", lambda x, limit, value: np.where(x <= limit, np.asarray(value).astype(x.dtype), x),
                       lambda g, x, limit, value: where(x <= limit, 0.0, g), integers=True, straight=True)
# Sums of two parts, or the larger one, rather than np.where, which is slow on random signs.
_leaky_relu = pointwise("LeakyRelu", lambda x, slope: (np.maximum(x, x * slope) if 0 < slope <= 1 else
                                                       np.maximum(x, 0) + np.minimum(x, 0) * slope),
                        lambda g, x, slope: passing(g, x > 0) + passing(g * slope, ~(x > 0)), kernel="leaky_relu",
                        straight=True)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(input, 0) of each element; nan stays."""
    return input.relu_() if inplace else plain_relu(input)


def relu_(input: Any) -> Any:
    """relu, in place."""
    return input.relu_()


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """input limited to [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val: {min_val} > {max_val}")
    return overwrite(input, _hardtanh(clone(input), min_val, max_val)) if inplace else _hardtanh(input, min_val, max_val)


def hardtanh_(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """hardtanh, in place."""
    return hardtanh(input, min_val, max_val, True)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """input limited to [0, 6]."""
    return hardtanh(input, 0, 6, inplace)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """input / 6 + 1 / 2, limited to [0, 1]."""
    return overwrite(input, _hardsigmoid(clone(input))) if inplace else _hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * hardsigmoid(input)."""
    return overwrite(input, _hardswish(clone(input))) if inplace else _hardswish(input)


@takes_out
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """input where beyond [-lambd, lambd], 0 within."""
    return _hardshrink(input, lambd)


@takes_out
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """input moved by lambd towards 0, and 0 within [-lambd, lambd]."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return _softshrink(input, lambd)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """input where above threshold, value elsewhere."""
    return overwrite(input, _threshold(clone(input), threshold, value)) if inplace else _threshold(input, threshold, value)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """threshold, in place."""
    return overwrite(input, _threshold(clone(input), threshold, value))


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """input where positive, negative_slope * input elsewhere."""
    return overwrite(input, _leaky_relu(clone(input), negative_slope)) if inplace else _leaky_relu(input, negative_slope)


def leaky_relu_(input: Any, negative_slope: float = 0.01) -> Any:
    """leaky_relu, in place."""
    return leaky_relu(input, negative_slope, True)


@primitive
def _slopes(a: Any, lower: float, upper: float) -> Array:
    """The slope of each element: 1 above 0, else a random number."""
    slopes = drawing(None).uniform(lower, upper, a.shape).astype(a.dtype)
    return np.where(a > 0, np.ones((), a.dtype), slopes)


def rrelu(input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False,
          inplace: bool = False) -> Tensor:
    """leaky_relu; while training each element below 0 has a random slope from [lower, upper], else the middle one."""
    if not 0 <= lower <= upper <= 1:
        _check_slopes(lower, upper)
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    out = RreluWithNoise.apply(clone(input) if inplace else input, _slopes(input.array, lower, upper))
    return overwrite(input, out) if inplace else out


def _check_slopes(lower: float, upper: float) -> None:
    if lower > upper:
        raise RuntimeError(f"Lower bound should be less than or equal to the upper bound: {lower} > {upper}")
    if not np.isfinite(lower) or not np.isfinite(upper):
        raise RuntimeError(f"rrelu: the bounds of the slope must be finite, not {lower} and {upper}")


def rrelu_(input: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Any:
    """rrelu, in place."""
    return rrelu(input, lower, upper, training, True)


class RreluWithNoise(Operation):
    """x times given slopes, elementwise."""

    batched = elementwise_rule

    mixes = True
    joins: tuple[tuple[int, ...], ...] | None = ((0,), ())

    @staticmethod
    def forward(ctx: Context, x: Array, slopes: Array) -> Array:
        ctx.save(slopes)
        return x * slopes

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        return g * ctx.values[0], None


class PreluKernel(Operation):
    """x where positive, weight * x elsewhere."""

    batched = elementwise_rule

    mixes = True
    joins: tuple[tuple[int, ...], ...] | None = ((0, 1), (0, 1))

    @staticmethod
    def forward(ctx: Context, x: Array, weight: Array) -> Array:
        ctx.save(x, weight)
        return np.where(x > 0, x, x * weight)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        x, weight = ctx.values
        return where(x > 0, g, g * weight), where(x > 0, 0.0, g * x)


@casts_lower
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """leaky_relu with a learned slope: one for all, or one for each channel (dimension 1)."""
    if not isinstance(weight, Tensor):
        raise TypeError(f"prelu(): argument 'weight' must be a Tensor, not {type(weight).__name__}")
    if input.dtype != weight.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {input.dtype} and {weight.dtype}")
    if weight.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")
    count = weight.array.size
    if count == 1 and input.ndim < 2:
        return PreluKernel.apply(input, reshape(weight, ()) if input.ndim == 0 else weight)
    if count != 1:
        if input.ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.ndim > 1 else 1
        if channels != count:
            raise RuntimeError(f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {count} "
                               f"and channel size = {channels}.")
    return PreluKernel.apply(input, reshape(weight, (count, *[1] * (input.ndim - 2))))

__all__ = ["celu", "celu_", "hardshrink", "prelu", "relu_", "rrelu", "rrelu_", "selu", "selu_", "threshold", "threshold_"]
METHODS = ["hardshrink", "prelu"]
