"""Activations made of straight pieces: relu, hardtanh, shrinking, and those with a slope below 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.casting import casts_lower
from ...core.random import default_generator
from ...core.tensor import Tensor
from ...core.traced import again
from .._declare import Operation
from .._out import takes_out
from .._pointwise import overwrite, pointwise
from ..shape import clone, reshape
from .choice import passing, where
from .choice import relu as plain_relu

# At the corners the gradients are PyTorch's: 0 where a piece is flat, whatever comes.
_hardtanh = pointwise("Hardtanh", lambda x, low, high: np.clip(x, low, high),
                      lambda g, x, low, high: passing(g, ~((x <= low) | (x >= high))), integers=True, kernel="hardtanh",
                      straight=True)
_hardsigmoid = pointwise("Hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6,
                         lambda g, x: passing(g, (x > -3) & (x < 3)) / 6, straight=True)
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


def relu(input: Any, inplace: bool = False) -> Any:
    """max(input, 0)."""
    return input.relu_() if inplace else plain_relu(input)


def relu_(input: Any) -> Any:
    """relu, in place."""
    return input.relu_()


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """input limited to [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val: {min_val} > {max_val}")
    return overwrite(input, _hardtanh(clone(input), min_val, max_val)) if inplace else _hardtanh(input, min_val, max_val)


def hardtanh_(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """hardtanh, in place."""
    return hardtanh(input, min_val, max_val, True)


def relu6(input: Any, inplace: bool = False) -> Any:
    """input limited to [0, 6]."""
    return hardtanh(input, 0, 6, inplace)


def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """input / 6 + 1 / 2, limited to [0, 1]."""
    return overwrite(input, _hardsigmoid(clone(input))) if inplace else _hardsigmoid(input)


def hardswish(input: Any, inplace: bool = False) -> Any:
    """input * hardsigmoid(input)."""
    return overwrite(input, _hardswish(clone(input))) if inplace else _hardswish(input)


@takes_out
def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """input where beyond [-lambd, lambd], 0 within."""
    return _hardshrink(input, lambd)


@takes_out
def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """input moved by lambd towards 0, and 0 within [-lambd, lambd]."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return _softshrink(input, lambd)


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """input where above threshold, value elsewhere."""
    return overwrite(input, _threshold(clone(input), threshold, value)) if inplace else _threshold(input, threshold, value)


def threshold_(input: Any, threshold: float, value: float) -> Any:
    """threshold, in place."""
    return overwrite(input, _threshold(clone(input), threshold, value))


def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """input where positive, negative_slope * input elsewhere."""
    return overwrite(input, _leaky_relu(clone(input), negative_slope)) if inplace else _leaky_relu(input, negative_slope)


def leaky_relu_(input: Any, negative_slope: float = 0.01) -> Any:
    """leaky_relu, in place."""
    return leaky_relu(input, negative_slope, True)


def _slopes(a: Any, lower: float, upper: float) -> Any:
    """1 for what is above 0, else a random number."""
    slopes = default_generator().numpy.uniform(lower, upper, a.shape).astype(a.dtype)
    return np.where(a > 0, np.ones((), a.dtype), slopes)


def rrelu(input: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False) -> Any:
    """leaky_relu; while training each element below 0 has a random slope from [lower, upper], else the middle one."""
    if not 0 <= lower <= upper <= 1:
        _check_slopes(lower, upper)
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    out = RRelu.apply(clone(input) if inplace else input, again(_slopes, input.array, lower, upper))
    return overwrite(input, out) if inplace else out


def _check_slopes(lower: float, upper: float) -> None:
    if lower > upper:
        raise RuntimeError(f"Lower bound should be less than or equal to the upper bound: {lower} > {upper}")
    if not np.isfinite(lower) or not np.isfinite(upper):
        raise RuntimeError(f"rrelu: the bounds of the slope must be finite, not {lower} and {upper}")


def rrelu_(input: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Any:
    """rrelu, in place."""
    return rrelu(input, lower, upper, training, True)


class RRelu(Operation, name="RreluWithNoise"):
    """x times given slopes."""

    mixes = True
    joins = ((0,), ())

    @staticmethod
    def forward(ctx: Any, x: Any, slopes: Any) -> Any:
        """Each element by its own."""
        ctx.save(slopes)
        return x * slopes

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The same slopes."""
        return g * ctx.values[0], None


class PRelu(Operation, name="PreluKernel"):
    """x where positive, weight * x elsewhere."""

    mixes = True
    joins = ((0, 1), (0, 1))

    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any) -> Any:
        """Both of one dtype."""
        ctx.save(x, weight)
        return np.where(x > 0, x, x * weight)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The slope, and x where it counts."""
        x, weight = ctx.values
        return where(x > 0, g, g * weight), where(x > 0, 0.0, g * x)


@casts_lower
def prelu(input: Any, weight: Any) -> Any:
    """leaky_relu with a learned slope: one for all, or one for each channel (dimension 1)."""
    if not isinstance(weight, Tensor):
        raise TypeError(f"prelu(): argument 'weight' must be a Tensor, not {type(weight).__name__}")
    if input.dtype != weight.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {input.dtype} and {weight.dtype}")
    if weight.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")
    count = weight.array.size
    if count == 1 and input.ndim < 2:
        return PRelu.apply(input, reshape(weight, ()) if input.ndim == 0 else weight)
    if count != 1:
        if input.ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.ndim > 1 else 1
        if channels != count:
            raise RuntimeError(f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {count} "
                               f"and channel size = {channels}.")
    return PRelu.apply(input, reshape(weight, (count, *[1] * (input.ndim - 2))))


__all__ = ["hardshrink", "prelu", "relu_", "rrelu", "rrelu_", "threshold", "threshold_"]
METHODS = ["hardshrink", "prelu"]
