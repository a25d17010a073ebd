"""Losses with margins: between pairs, triplets and classes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.types import Array
from ...core.batching import Level, merged
from ...core.casting import casts_float32
from ...core.operation import Operation
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels.loops import NO_LOOP, loop_for, loops
from ...kernels.sums import quotient_of_sum
from ...kernels.take_along import in_range
from ..linalg.distances import pairwise_distance
from ..pointwise.cast import cast
from ..pointwise.powers import sqrt
from ..pointwise.where import minimum, where
from ..reductions.reduce import mean, sum
from ..shape import expand, reshape
from .cross_entropy import GatherRows, NllLossBackward
from .loss_reduction import chosen, reduced


@casts_float32
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, size_average: bool | None = None,
                         reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """input where target is 1, max(0, margin - input) where it is -1."""
    reduction = chosen(reduction, size_average, reduce)
    losses = where(target != 1, _above_zero(margin - input), 0.0) + where(target != -1, input, 0.0)
    return reduced(losses, reduction)


@casts_float32
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: bool | None = None,
                        reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """max(0, -target (input1 - input2) + margin): input1 should be larger for target 1, input2 for -1."""
    reduction = chosen(reduction, size_average, reduce)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError("margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
                           f"{list(input1.shape)}, input2: {list(input2.shape)}, target: {list(target.shape)} ")
    return reduced(_above_zero(-target * (input1 - input2) + margin), reduction)


def _above_zero(x: Tensor) -> Tensor:
    """max(x, 0) with clamp's gradient, which passes at 0."""
    return where(x < 0, 0.0, x)


@casts_float32
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                          size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """1 - cos(input1, input2) where target is 1, max(0, cos - margin) where it is -1."""
    reduction = chosen(reduction, size_average, reduce)
    if target.ndim > 1:
        raise RuntimeError(f"0D or 1D target tensor expected, multi-target not supported: got {list(target.shape)}")
    if (target.ndim == 1 and input1.ndim != 2) or (target.ndim == 0 and input1.ndim != 1) or input1.ndim != input2.ndim:
        raise RuntimeError(f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with "
                           f"sizes {list(input1.shape)} and {list(input2.shape)}.")
    tiny = 1e-12
    product = sum(input1 * input2, -1)
    cosine = product / sqrt((sum(input1 * input1, -1) + tiny) * (sum(input2 * input2, -1) + tiny))
    losses = where(target == 1, 1 - cosine, 0.0) + where(target == -1, _above_zero(cosine - margin), 0.0)
    return reduced(losses, reduction)


def _triplet(positive: Tensor, negative: Tensor, margin: float, reduction: str) -> Tensor:
    return reduced(_above_zero(positive - negative + margin), reduction)


def _check_triplet(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
                           f"but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D")


@casts_float32
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2,
                        eps: float = 1e-6, swap: bool = False, size_average: bool | None = None, reduce: bool | None = None,
                        reduction: str = "mean") -> Tensor:
    """max(0, |anchor - positive| - |anchor - negative| + margin); swap takes the negative's nearer distance of two."""
    reduction = chosen(reduction, size_average, reduce)
    _check_triplet(anchor, positive, negative, margin)
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p, eps))
    return _triplet(near, far, margin, reduction)


def triplet_margin_with_distance_loss(
        anchor: Tensor, positive: Tensor, negative: Tensor, *, distance_function: Callable[[Any, Any], Any] | None = None,
        margin: float = 1.0, swap: bool = False, reduction: str = "mean") -> Tensor:
    """triplet_margin_loss with a distance of your own: distance_function(a, b)."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    _check_triplet(anchor, positive, negative, margin)
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    return _triplet(near, far, margin, reduction)



def _margin_losses(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """MultiMarginLoss's rule for batches: the losses of all rows, and then the mean or sum of each sample's."""
    rows, target = level.front(args[0]), level.front(args[1])
    if target.ndim != 2 or level.has(args[2]):
        return NotImplemented
    out = reshape(call(merged(rows), merged(target), args[2], **{**settings, "reduction": "none"}), rows.shape[:2])
    return out if settings["reduction"] == "none" else mean(out, 1) if settings["reduction"] == "mean" else sum(out, 1)


class MultiMarginLoss(Operation):
    """The sum over classes j other than the target of max(0, margin - x[target] + x[j])^p, over their number, for each row;
    or the mean or sum of these."""

    real = True
    batched = _margin_losses

    @staticmethod
    def forward(ctx: Context, x: Array, target: Array, weight: Array | None, *, p: int, margin: float,
                reduction: str) -> Array:
        """By a loop, which looks at the targets, too."""
        n, classes = x.shape
        t = np.array(target, np.int64).reshape(-1)               # a copy: a write to the target does not reach backward
        ctx.save(x, t)
        ctx.given = weight, p, margin, reduction
        kernels = loops.library
        out = None if kernels is None else kernels.multi_margin_of(x, t, 1, -2, p, margin)
        if out is None:
            if n and not in_range(t, classes):
                raise RuntimeError(f"multi_margin_loss: target out of range: {t.min()} to {t.max()} for {classes} classes")
            excess = _excess(x, t, margin)
            out = np.divide(sum(excess if p == 1 else excess * excess, 1), classes, dtype=x.dtype)
        if weight is not None:
            out *= weight[t]
        if reduction == "none":
            return out.reshape(target.shape)
        return quotient_of_sum(out, 1 if reduction == "sum" else n or math.nan)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The number of classes whose margin is missed (or twice what is missing) for the target, against each of these."""
        x, t = ctx.values
        weight, p, margin, reduction = ctx.given
        n, classes = x.shape
        if isinstance(t, Tensor):
            t = t.array
        share = reshape(g, n) if reduction == "none" else expand(g / max(n, 1) if reduction == "mean" else g, (n,))
        if weight is not None:
            share = share * weight[t]
        loop, room = NO_LOOP if isinstance(share, Tensor) else loop_for("multi_margin_backward", x)
        if loop is not None:
            out = room(x, -1, False)
            loop(x, t, np.ascontiguousarray(share, x.dtype), out, n, classes, p, margin)
            return out, None, None
        excess = _excess(x, t, margin)
        slope = reshape(share / classes, (n, 1)) * (cast(excess > 0, x.dtype) if p == 1 else 2 * excess)
        return slope - NllLossBackward.apply(sum(slope, 1), t, shape=(n, classes)), None, None


def _excess(x: TensorOrArray, t: Array, margin: float) -> Any:
    """What each class but the target lacks of the margin, at least 0."""
    missing = (margin - reshape(GatherRows.apply(x, t), (len(t), 1))) + x
    others = np.arange(x.shape[1]) != t[:, None]
    return where((missing > 0) & others, missing, 0.0)           # nan: 0, as in PyTorch


@casts_float32
def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None,
                      size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """sum over classes j other than the target of max(0, margin - input[target] + input[j])^p, over their number."""
    reduction = chosen(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    array, t = input.array, target.array
    if array.ndim > 2 or (array.ndim and not array.shape[-1]):
        raise RuntimeError("multi_margin_loss: Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
                           f"{list(input.shape)}")
    expected = array.shape[0] if array.ndim == 2 else 1
    if t.ndim > 1 or t.size != expected or (t.ndim != 1 and array.ndim == 2):
        raise RuntimeError(f"multi_margin_loss: inconsistent target size, expected {[expected]} but got "
                           f"{list(target.shape)}")
    if t.dtype.kind not in "iu":
        raise RuntimeError(f"multi_margin_loss: targets are class numbers of an integer dtype, not {t.dtype}")
    if array.dtype.kind not in "fVc":
        raise NotImplementedError(f'"multi_margin_loss" not implemented for {array.dtype}; cast to floating point first')
    if weight is not None:
        if weight.shape != (array.size // expected if expected else array.shape[-1],):
            raise ValueError(f"weight must be one-dimensional, one for each class of {list(input.shape)}: got "
                             f"{list(weight.shape)}")
        weight = weight.detach()
    rows = input if array.ndim == 2 else reshape(input, (1, array.size))
    return MultiMarginLoss.apply(rows, target, weight, p=p, margin=margin, reduction=reduction)


class MultilabelMarginLoss(Operation):
    """The sum over labels y and classes j that are no labels of max(0, 1 - x[y] + x[j]), over the number of classes, for
    each row; or the mean or sum of these."""

    real = True

    @staticmethod
    def forward(ctx: Context, x: Array, labels: Array, *, reduction: str) -> Array:
        """The losses, and with them their derivatives, which are constant between jumps."""
        kernels = loops.library
        made = kernels and kernels.multilabel_margin_of(x, np.ascontiguousarray(labels, np.int64), 1, -2)
        out, slope = made or _of_labels(x, labels)
        ctx.save((slope,))
        ctx.reduction = reduction
        return out if reduction == "none" else quotient_of_sum(out, 1 if reduction == "sum" else len(x) or math.nan)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """Its share of each row's gradient."""
        ((slope,),) = ctx.values
        n = len(slope)
        g = reshape(g, (n, 1)) if ctx.reduction == "none" else g / n if n and ctx.reduction == "mean" else g
        return g * slope, None


def _of_labels(x: Array, labels: Array) -> tuple[Array, Array]:
    """MultilabelMarginLoss and its derivatives in NumPy. RuntimeError for labels that are none."""
    classes = x.shape[1]
    if labels.size and (labels.min() < -1 or labels.max() >= classes):
        raise RuntimeError(f"multilabel_margin_loss: labels are class numbers, or -1 after the last: got {labels.min()} to "
                           f"{labels.max()} for {classes} classes")
    valid = np.logical_and.accumulate(labels >= 0, axis=1)
    rows, own = np.arange(len(labels))[:, None], np.where(valid, labels, 0)
    named = np.zeros(x.shape, bool)
    named[np.broadcast_to(rows, labels.shape)[valid], labels[valid]] = True
    missing = 1 - x[rows, own][:, :, None] + x[:, None, :]
    misses = (missing > 0) & valid[:, :, None] & ~named[:, None, :]
    slope = misses.sum(1).astype(x.dtype)
    np.subtract.at(slope, (rows, own), misses.sum(2).astype(x.dtype))
    n, nothing = np.array([classes, 0], x.dtype)
    return np.where(misses, missing, nothing).sum((1, 2)) / n, slope / n


@casts_float32
def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
                           reduction: str = "mean") -> Tensor:
    """sum over labels y and classes j that are no labels of max(0, 1 - input[y] + input[j]), over the number of classes.

    target (n, classes) has the labels of each row first, then -1."""
    reduction = chosen(reduction, size_average, reduce)
    shape = input.array.shape
    if len(shape) > 2 or (input.array.size == 0 and (len(shape) < 2 or shape[1] == 0)):
        raise RuntimeError("Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
                           f"{list(input.shape)}")
    if target.array.shape != shape:
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    if len(shape) == 2:
        return MultilabelMarginLoss.apply(input, target, reduction=reduction)
    row = (1, input.array.size)
    return reshape(MultilabelMarginLoss.apply(reshape(input, row), reshape(target, row), reduction=reduction), ())


__all__: list[str] = []
