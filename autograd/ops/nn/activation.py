"""Smooth activations: gelu, silu, mish, softplus, the family of elu, glu."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...kernels import gelu as kernel
from ...kernels import logarithms
from ...kernels.error_functions import normal_cdf
from ...kernels.gelu import DENSITY, TANH_CUBE, TANH_SCALE
from ...kernels.halves import converted
from .._declare import Operation, elementwise
from .._out import takes_out
from .._pointwise import overwrite, pointwise
from ..pointwise.choice import clamp, where
from ..pointwise.exponential import exp, sigmoid
from ..pointwise.sign import abs as absolute
from ..pointwise.trigonometric import tanh
from ..shape import clone, narrow, wrap_dim

SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805      # fixed point: mean 0, variance 1 (Klambauer 2017)

cdf = elementwise("NormalCdf", normal_cdf, lambda g, x: g * (DENSITY * exp(-0.5 * x * x)))


class Gelu(Operation):
    """x times the probability that a standard normal number is below x."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        """The kernel."""
        out, kept = kernel.forward(x)
        ctx.save(x, (kept,))                         # in a tuple: a number to the graph, freed with the rest
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """cdf(x) + x density(x)."""
        x, (kept,) = ctx.values
        if isinstance(g, Tensor):
            return g * (cdf(x) + x * (DENSITY * exp(-0.5 * x * x)))
        return kernel.backward(g, x, kept)


class GeluTanh(Operation, name="Gelu"):
    """x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        """The kernel."""
        out, kept = kernel.tanh_forward(x)
        ctx.save(x, (kept,))
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The product rule."""
        x, (kept,) = ctx.values
        if not isinstance(g, Tensor):
            return kernel.tanh_backward(g, x, kept)
        t = tanh(TANH_SCALE * (x + TANH_CUBE * (x * x * x)))
        inner = TANH_SCALE * (1 + 3 * TANH_CUBE * (x * x))
        return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner)


@takes_out
def gelu(input: Any, approximate: str = "none") -> Any:
    """input * P(standard normal < input); approximate "tanh" takes a formula with tanh for it."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate argument must be either none or tanh, not {approximate!r}")
    if input.dtype.kind not in "fV":
        raise NotImplementedError(f'"gelu" not implemented for {input.dtype}; cast the input to floating point first')
    return (Gelu if approximate == "none" else GeluTanh).apply(input)


# --- silu, mish, softplus --------------------------------------------------------------------------------------------

def _silu_rule(g: Any, x: Any) -> Any:
    s = sigmoid(x)
    return g * (s * (1 + x * (1 - s)))


def _mish_forward(x: Any) -> Any:
    """x tanh(log(1 + e^x)): with w = e^x that is x w (w + 2) / (w (w + 2) + 2), which is 1 from 25 on, where
    half precision has no w^2."""
    x = converted(x, np.float32) if x.dtype == np.float16 else x
    w = np.exp(np.minimum(x, 25))
    w *= w + 2
    w /= w + 2
    w *= x
    return w


def _mish_rule(g: Any, x: Any) -> Any:
    t = tanh(_softplus(x, 1.0, math.inf))
    return g * (t + x * sigmoid(x) * (1 - t * t))


def _softplus_forward(x: Any, beta: float, threshold: float) -> Any:
    scaled = x * beta
    return np.where(scaled > threshold, x, logarithms.softplus(scaled) / beta)


def _softplus_rule(g: Any, x: Any, beta: float, threshold: float) -> Any:
    return where(x * beta > threshold, g, g * sigmoid(x * beta))


_silu = pointwise("Silu", lambda x: x * sigmoid(x), _silu_rule, kernel="silu")
_mish = pointwise("Mish", _mish_forward, _mish_rule, kernel="mish")
_softplus: Any = pointwise("Softplus", _softplus_forward, _softplus_rule, kernel="softplus")
_logsigmoid = pointwise("LogSigmoid", lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))),
                        lambda g, x: g * sigmoid(-x))


def silu(input: Any, inplace: bool = False) -> Any:
    """input * sigmoid(input)."""
    if input.dtype.kind == "c" and not inplace:
        return input * sigmoid(input)
    return overwrite(input, _silu(clone(input))) if inplace else _silu(input)


def mish(input: Any, inplace: bool = False) -> Any:
    """input * tanh(softplus(input))."""
    return overwrite(input, _mish(clone(input))) if inplace else _mish(input)


@takes_out
def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + exp(beta * input)) / beta; input itself where beta * input is above threshold."""
    return _softplus(input, beta, threshold)


@takes_out
def logsigmoid(input: Any) -> Any:
    """log(sigmoid(input)), without overflow."""
    return _logsigmoid(input)


def softsign(input: Any) -> Any:
    """input / (1 + |input|)."""
    return input / (absolute(input) + 1)


def tanhshrink(input: Any) -> Any:
    """input - tanh(input)."""
    return input - tanh(input)


# --- elu and its relatives -------------------------------------------------------------------------------------------

def _elu_forward(x: Any, alpha: float, scale: float, input_scale: float) -> Any:
    return scale * np.maximum(x, 0) + scale * alpha * np.expm1(np.minimum(x, 0) * input_scale)


def _elu_rule(g: Any, x: Any, alpha: float, scale: float, input_scale: float) -> Any:
    slope = exp(clamp(x, max=0.0) * input_scale)                  # no overflow above 0
    return g * where(x > 0, scale, (scale * alpha * input_scale) * slope)        # nan stays


_elu = pointwise("Elu", _elu_forward, _elu_rule, kernel="elu")
_elu_of_growing = pointwise("Elu", _elu_forward, _elu_rule)          # exp(input_scale * x), x < 0, is above 1


def _elu_of(input: Any, inplace: bool, *settings: float) -> Any:
    function = _elu if settings[2] > 0 else _elu_of_growing
    return overwrite(input, function(clone(input), *settings)) if inplace else function(input, *settings)


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """input where positive, alpha (exp(input) - 1) elsewhere."""
    return _elu_of(input, inplace, alpha, 1.0, 1.0)


def selu(input: Any, inplace: bool = False) -> Any:
    """1.0507 elu(input, 1.6733): keeps mean 0 and variance 1."""
    return _elu_of(input, inplace, SELU_ALPHA, SELU_SCALE, 1.0)


def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
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


def glu(input: Any, dim: int = -1) -> Any:
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


__all__ = ["celu", "celu_", "selu", "selu_"]
METHODS: list[str] = []
