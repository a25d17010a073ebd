"""Losses of yes-or-no targets: binary cross entropy, of probabilities or logits, and the margin losses of logistic kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.casting import casts_float32
from ...core.tensor import Tensor
from ...core.traced import again
from ...kernels.activations import logit_loss
from .._declare import Operation
from ..pointwise.choice import where
from ..pointwise.exponential import log, sigmoid
from ..reductions.reduce import mean
from ..shape import expand
from .activation import logsigmoid, softplus
from .loss_reduction import chosen, reduced

SMALLEST_LOG = -100.0


class BinaryCrossEntropy(Operation):
    """-(t log(x) + (1 - t) log(1 - x)), each logarithm at least -100."""

    @staticmethod
    def forward(ctx: Any, x: Any, t: Any) -> Any:
        """No reduction here."""
        ctx.save(x, t)
        one = np.maximum(np.log(x), SMALLEST_LOG)
        other = np.maximum(np.log1p(-x), SMALLEST_LOG)
        return np.asarray((t - 1) * other - t * one, x.dtype)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """(x - t) / (x (1 - x)), the divisor at least 1e-12; log(1 - x) - log(x)."""
        x, t = ctx.values
        gx = gt = None
        if ctx.needs(0):
            spread = x * (1 - x)
            limited = where(spread < 1e-12, 1e-12, spread) if isinstance(g, Tensor) else np.maximum(spread, 1e-12)
            gx = g * (x - t) / limited
        if ctx.needs(1):
            gt = g * (log(1 - x) - log(x))
        return gx, gt


@casts_float32
def binary_cross_entropy(input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None,
                         reduction: str = "mean") -> Any:
    """-(target log(input) + (1 - target) log(1 - input)), input being probabilities."""
    reduction = chosen(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(f"Using a target size ({list(target.shape)}) that is different to the input size "
                         f"({list(input.shape)}) is deprecated. Please ensure they have the same size.")
    if input.dtype != target.dtype:
        raise RuntimeError(f"Found dtype {target.dtype} but expected {input.dtype}: input and target must agree")
    again(_probabilities, input.array)
    losses = BinaryCrossEntropy.apply(input, target)
    if weight is not None:
        losses = losses * (weight if weight.shape == losses.shape else expand(weight, losses.shape))
    return reduced(losses, reduction)


def _probabilities(a: Any) -> None:
    """RuntimeError for numbers that are no probabilities."""
    if ((a < 0) | (a > 1)).any():                    # nan is let pass
        raise RuntimeError("all elements of input should be between 0 and 1; apply sigmoid, or use "
                           "binary_cross_entropy_with_logits")


class BinaryCrossEntropyWithLogits(Operation):
    """-(t log s + (1 - t) log(1 - s)), s = sigmoid(x), without overflow."""

    @staticmethod
    def forward(ctx: Any, x: Any, t: Any) -> Any:
        """max(x, 0) - x t + log(1 + exp(-|x|))."""
        ctx.save(x, t)
        quick = logit_loss(x, t)
        if quick is not None:
            return quick
        out = np.asarray(-np.abs(x))
        np.exp(out, out=out)
        np.log1p(out, out=out)
        out += np.maximum(x, 0)
        out -= x * t
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """sigmoid(x) - t, and -x."""
        x, t = ctx.values
        return g * (sigmoid(x) - t) if ctx.needs(0) else None, -g * x if ctx.needs(1) else None


@casts_float32
def binary_cross_entropy_with_logits(input: Any, target: Any, weight: Any = None, size_average: Any = None,
                                     reduce: Any = None, reduction: str = "mean", pos_weight: Any = None) -> Any:
    """binary_cross_entropy(sigmoid(input), target), without overflow; pos_weight multiplies the part of target."""
    reduction = chosen(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(f"Target size ({list(target.shape)}) must be the same as input size ({list(input.shape)})")
    if pos_weight is not None:
        missed = softplus(-input, 1, np.inf)         # -log(sigmoid(input))
        losses = (1 - target) * input + missed * ((pos_weight - 1) * target + 1)
    elif input.dtype == target.dtype and input.dtype.kind in "fV":
        losses = BinaryCrossEntropyWithLogits.apply(input, target)
    else:
        losses = (1 - target) * input + softplus(-input, 1, np.inf)
    if weight is not None:
        losses = losses * weight
    return reduced(losses, reduction)


@casts_float32
def soft_margin_loss(input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Any:
    """log(1 + exp(-target input)), targets 1 and -1."""
    reduction = chosen(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise RuntimeError(f"soft_margin_loss: the target {list(target.shape)} must have the input's shape "
                           f"{list(input.shape)}")
    return reduced(softplus(-target * input, 1, np.inf), reduction)


def multilabel_soft_margin_loss(input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None,
                                reduction: str = "mean") -> Any:
    """binary_cross_entropy_with_logits, the mean over classes (the last dimension)."""
    reduction = chosen(reduction, size_average, reduce)
    losses = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        losses = losses * weight
    return reduced(mean(losses, -1), reduction)


__all__: list[str] = []
