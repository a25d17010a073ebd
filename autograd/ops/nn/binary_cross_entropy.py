"""Losses of binary targets: of probabilities, and of logits."""

from __future__ import annotations

import numpy as np

from ...base.types import Array
from ...core.batching import elementwise, maps, whole
from ...core.casting import casts_float32
from ...core.operation import Operation
from ...core.primitive import primitive
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels.activations import logit_loss
from ..pointwise.exponential import log, sigmoid, tailed_sigmoid
from ..pointwise.where import where
from ..reductions.reduce import mean
from ..shape import expand
from .activation import softplus
from .loss_reduction import all_finite, chosen, reduced

SMALLEST_LOG = -100.0


class BinaryCrossEntropy(Operation):
    """-(t log(x) + (1 - t) log(1 - x)), each logarithm at least -100."""

    batched = elementwise

    @staticmethod
    def forward(ctx: Context, x: Array, t: Array) -> Array:
        ctx.save(x, t)
        one = np.maximum(np.log(x), SMALLEST_LOG)
        other = np.maximum(np.log1p(-x), SMALLEST_LOG)
        return np.asarray((t - 1) * other - t * one, x.dtype)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
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
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
                         reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """-(target log(input) + (1 - target) log(1 - input)), input being probabilities."""
    reduction = chosen(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(f"Using a target size ({list(target.shape)}) that is different to the input size "
                         f"({list(input.shape)}) is deprecated. Please ensure they have the same size.")
    if input.dtype != target.dtype:
        raise RuntimeError(f"Found dtype {target.dtype} but expected {input.dtype}: input and target must agree")
    _probabilities(input.array)
    losses = BinaryCrossEntropy.apply(input, target)
    if weight is not None:
        losses = losses * (weight if weight.shape == losses.shape else expand(weight, losses.shape))
    return reduced(losses, reduction)


@primitive
@maps(whole)
def _probabilities(a: Array) -> None:
    """RuntimeError for numbers that are no probabilities."""
    if ((a < 0) | (a > 1)).any():                    # nan is let pass
        raise RuntimeError("all elements of input should be between 0 and 1; apply sigmoid, or use "
                           "binary_cross_entropy_with_logits")


class BinaryCrossEntropyWithLogits(Operation):
    """-(t log s + (1 - t) log(1 - s)), s = sigmoid(x), without overflow."""

    batched = elementwise

    @staticmethod
    def forward(ctx: Context, x: Array, t: Array) -> Array:
        """|x| times the part of t on the other side, + log(1 + exp(-|x|)): right in the tails, and at infinity."""
        ctx.save(x, t)
        quick = logit_loss(x, t)
        if quick is not None:
            return quick
        out = np.asarray(-np.abs(x))
        np.exp(out, out=out)
        np.log1p(out, out=out)
        share = np.where(x > 0, 1 - t, t)
        out += np.where(share == 0, np.zeros((), x.dtype), share * np.abs(x))
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """sigmoid(x) - t, and -x."""
        x, t = ctx.values
        if isinstance(g, Tensor) and ctx.needs(0):   # the same, with digits in the tails of the second derivative
            return g * ((1 - t) * tailed_sigmoid(x) - t * tailed_sigmoid(-x)), -g * x if ctx.needs(1) else None
        return g * (sigmoid(x) - t) if ctx.needs(0) else None, -g * x if ctx.needs(1) else None


def _logit_losses(x: Tensor, t: Tensor, pos_weight: Tensor | None = None) -> Tensor:
    """-(pos_weight t log s + (1 - t) log(1 - s)), s = sigmoid(x); infinite terms that are multiplied by 0 do not count."""
    if pos_weight is None and x.dtype == t.dtype and x.dtype.kind in "fV" and x.shape == t.shape:
        return BinaryCrossEntropyWithLogits.apply(x, t)
    missed, false = softplus(-x, 1, np.inf), softplus(x, 1, np.inf)            # -log s and -log(1 - s)
    if not all_finite(x.array):
        missed, false = where(t == 0, 0.0, missed), where(t == 1, 0.0, false)
    return (missed if pos_weight is None else pos_weight * missed) * t + (1 - t) * false


@casts_float32
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                     size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
                                     pos_weight: Tensor | None = None) -> Tensor:
    """binary_cross_entropy(sigmoid(input), target), without overflow; pos_weight multiplies the part of target."""
    reduction = chosen(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(f"Target size ({list(target.shape)}) must be the same as input size ({list(input.shape)})")
    losses = _logit_losses(input, target, pos_weight)
    if weight is not None:
        losses = losses * weight
    return reduced(losses, reduction)


@casts_float32
def soft_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
                     reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target input)), targets 1 and -1."""
    reduction = chosen(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise RuntimeError(f"soft_margin_loss: the target {list(target.shape)} must have the input's shape "
                           f"{list(input.shape)}")
    return reduced(softplus(-target * input, 1, np.inf), reduction)


def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                size_average: bool | None = None, reduce: bool | None = None,
                                reduction: str = "mean") -> Tensor:
    """binary_cross_entropy_with_logits, the mean over classes (the last dimension)."""
    reduction = chosen(reduction, size_average, reduce)
    losses = _logit_losses(input, target)
    if weight is not None:
        losses = losses * weight
    return reduced(mean(losses, -1), reduction)


__all__: list[str] = []
