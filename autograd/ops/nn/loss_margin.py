"""Losses that want a distance to keep: hinge, ranking, margins between classes, triplets, cosine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.casting import casts_float32
from ...core.traced import unrecordable
from ..linalg.distance import pairwise_distance
from ..pointwise.choice import minimum, relu, where
from ..pointwise.powers import sqrt
from ..reductions.pick import Pick
from ..reductions.reduce import sum
from ..shape import reshape, unsqueeze
from .loss_reduction import chosen, reduced


@casts_float32
def hinge_embedding_loss(input: Any, target: Any, margin: float = 1.0, size_average: Any = None, reduce: Any = None,
                         reduction: str = "mean") -> Any:
    """input where target is 1, max(0, margin - input) where it is -1."""
    reduction = chosen(reduction, size_average, reduce)
    losses = where(target != 1, _above_zero(margin - input), 0.0) + where(target != -1, input, 0.0)
    return reduced(losses, reduction)


@casts_float32
def margin_ranking_loss(input1: Any, input2: Any, target: Any, margin: float = 0, size_average: Any = None,
                        reduce: Any = None, reduction: str = "mean") -> Any:
    """max(0, -target (input1 - input2) + margin): target 1 wants input1 the larger, -1 input2."""
    reduction = chosen(reduction, size_average, reduce)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError("margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
                           f"{list(input1.shape)}, input2: {list(input2.shape)}, target: {list(target.shape)} ")
    return reduced(_above_zero(-target * (input1 - input2) + margin), reduction)


def _above_zero(x: Any) -> Any:
    """max(x, 0) with clamp's gradient, which passes at 0."""
    return where(x < 0, 0.0, x)


@casts_float32
def cosine_embedding_loss(input1: Any, input2: Any, target: Any, margin: float = 0, size_average: Any = None,
                          reduce: Any = None, reduction: str = "mean") -> Any:
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


def _triplet(positive: Any, negative: Any, margin: float, reduction: str) -> Any:
    return reduced(_above_zero(positive - negative + margin), reduction)


def _check_triplet(anchor: Any, positive: Any, negative: Any, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
                           f"but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D")


@casts_float32
def triplet_margin_loss(anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
                        swap: bool = False, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Any:
    """max(0, |anchor - positive| - |anchor - negative| + margin); swap takes the negative's nearer distance of two."""
    reduction = chosen(reduction, size_average, reduce)
    _check_triplet(anchor, positive, negative, margin)
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p, eps))
    return _triplet(near, far, margin, reduction)


def triplet_margin_with_distance_loss(
        anchor: Any, positive: Any, negative: Any, *, distance_function: Callable[[Any, Any], Any] | None = None,
        margin: float = 1.0, swap: bool = False, reduction: str = "mean") -> Any:
    """triplet_margin_loss with a distance of your own: distance_function(a, b)."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    _check_triplet(anchor, positive, negative, margin)
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    return _triplet(near, far, margin, reduction)


# --- margins between classes -------------------------------------------------------------------------------------------

@casts_float32
@unrecordable
def multi_margin_loss(input: Any, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None, size_average: Any = None,
                      reduce: Any = None, reduction: str = "mean") -> Any:
    """sum over classes j other than the target of max(0, margin - input[target] + input[j])^p, over their number."""
    reduction = chosen(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    rows, t = _rows(input, target, "multi_margin_loss")
    classes = rows.shape[1]
    if weight is not None and weight.shape != (classes,):
        raise ValueError(f"weight must be one-dimensional, one for each of {classes} classes: got {list(weight.shape)}")
    picked = Pick.apply(rows, t[:, None], dim=1, distinct=True)
    others = np.arange(classes) != t[:, None]
    excess = where(others, relu(margin - picked + rows), 0.0)
    losses = sum(excess if p == 1 else excess * excess, 1) / classes
    if weight is not None:
        losses = losses * weight.array[t]
    return reduced(reshape(losses, target.shape) if reduction == "none" else losses, reduction)


def _rows(input: Any, target: Any, name: str) -> tuple[Any, Any]:
    """The input as a matrix (n, classes), and the target's array, checked."""
    rows = reshape(input, (1, input.array.size)) if input.ndim < 2 else input
    expected = rows.shape[0]
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise RuntimeError(f"{name}: Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
                           f"{list(input.shape)}")
    if target.ndim > 1 or target.array.size != expected or (input.ndim == 2 and target.ndim != 1):
        raise RuntimeError(f"{name}: inconsistent target size, expected {[expected]} but got {list(target.shape)}")
    t = target.array.flatten()                       # a copy: a write to the target before backward does not reach it
    if t.dtype.kind not in "iu":
        raise RuntimeError(f"{name}: targets are class numbers of an integer dtype, not {t.dtype}")
    if t.size and (t.min() < 0 or t.max() >= rows.shape[1]):
        raise RuntimeError(f"{name}: target out of range: {t.min()} to {t.max()} for {rows.shape[1]} classes")
    return rows, t


@casts_float32
@unrecordable
def multilabel_margin_loss(input: Any, target: Any, size_average: Any = None, reduce: Any = None,
                           reduction: str = "mean") -> Any:
    """sum over labels y and classes j that are no labels of max(0, 1 - input[y] + input[j]), over the number of classes.

    target (n, classes) has the labels of each row first, then -1.
    """
    reduction = chosen(reduction, size_average, reduce)
    if input.ndim > 2 or (input.array.size == 0 and (input.ndim < 2 or input.shape[1] == 0)):
        raise RuntimeError("Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
                           f"{list(input.shape)}")
    if target.shape != input.shape:
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    rows = reshape(input, (1, input.array.size)) if input.ndim < 2 else input
    labels = target.array.reshape(rows.shape)
    if labels.size and (labels.min() < -1 or labels.max() >= rows.shape[1]):
        raise RuntimeError(f"multilabel_margin_loss: labels are class numbers, or -1 after the last: got {labels.min()} to "
                           f"{labels.max()} for {rows.shape[1]} classes")
    valid = np.logical_and.accumulate(labels >= 0, axis=1)
    n = np.arange(len(labels))[:, None]
    named = np.zeros(rows.shape, bool)
    named[np.broadcast_to(n, labels.shape)[valid], labels[valid]] = True
    picked = Pick.apply(rows, np.where(valid, labels, 0), dim=1)
    excess = relu(1 - unsqueeze(picked, 2) + unsqueeze(rows, 1))
    losses = sum(where(valid[:, :, None] & ~named[:, None, :], excess, 0.0), (1, 2)) / rows.shape[1]
    return reduced(reshape(losses, ()) if input.ndim < 2 else losses, reduction)


__all__: list[str] = []
