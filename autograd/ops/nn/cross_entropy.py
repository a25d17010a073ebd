"""Losses of classes: nll_loss, cross_entropy with hard, soft and smoothed targets, and fused with a linear layer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.types import Array
from ...core.batching import Level, maps, merged, samples, whole
from ...core.casting import casts_float32
from ...core.operation import Operation
from ...core.primitive import primitive, shortcut
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels import softmax as kernel
from ...kernels.halves import converted
from ...kernels.sums import quotient_of_sum
from ...kernels.take_along import INT64, in_range, negative_sum, row_numbers, subtract_per_row, take_per_row
from ...kernels.where import masked
from ..linalg.matmul import linear
from ..pointwise.where import passing, where
from ..reductions.reduce import sum
from ..shape import movedim, reshape
from .loss_reduction import all_finite, chosen, reduced
from .softmax import log_softmax, softmax

MSG_SMOOTHING = "label_smoothing must be between 0.0 and 1.0. Got: {}"


def _losses(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """NllLoss's and CrossEntropy's rule for batches: the losses of all rows, and then the mean of each sample's."""
    rows, target = level.front(args[0]), level.front(args[1])
    weights, total = level.front(settings["weights"]), level.raw(settings["total"])
    out = call(merged(rows), merged(target), weights=None if weights is None else merged(weights), total=None)
    out = reshape(out, rows.shape[:2])
    if total is None:
        return out
    nothing = np.asarray(total == 0)                 # nan where no target counts, without a gradient
    mean_of = sum(out, 1) / np.where(nothing, 1, total).astype(out.dtype)
    return where(np.broadcast_to(nothing, mean_of.shape), math.nan, mean_of) if nothing.any() else mean_of


def _one_hot_rule(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """NllLossBackward's rule for batches."""
    n, classes = settings["shape"]
    return samples()(level, call, args, {"shape": (level.size * n, classes)})


class NllLoss(Operation):
    """-logp[i, target[i]], times weights[i] if there are some, for each row; or the sum of these over `total`."""

    batched = _losses

    joins: tuple[tuple[int, ...], ...] | None = ((0,), ())

    @staticmethod
    def forward(ctx: Context, logp: Array, target: Array, *, weights: Array | None, total: Array | None) -> Array:
        ctx.save(target)
        ctx.shape, ctx.given = logp.shape, (weights, total)
        if weights is None and total:
            made = negative_sum(logp, target, total)
            if made is not None:
                return made
        out = -take_per_row(logp, target)
        if weights is not None:
            out = masked(out * weights, weights != 0)            # what does not count may be infinite or nan
        if total is None:
            return out
        if not total:
            return np.asarray(math.nan, logp.dtype)              # where nothing counts, without a gradient, as PyTorch
        return quotient_of_sum(out, total)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """-g * weight at the picked element."""
        (target,) = ctx.values
        weights, total = ctx.given
        share = weights
        if weights is None:                          # one number for all is enough where no graph is made
            share = np.ones(len(target), g.dtype) if isinstance(g, Tensor) or total is None else g.dtype.type(1)
        share = share if total is None else (share / (total or math.inf)).astype(g.dtype)
        g = -g * share
        return NllLossBackward.apply(g if weights is None else passing(g, weights != 0), target, shape=ctx.shape), None


class NllLossBackward(Operation):
    """Zeros of `shape` (n, c) with g[i] at [i, target[i]]; the adjoint of picking one element a row."""

    batched = _one_hot_rule

    @staticmethod
    def forward(ctx: Context, g: Array, target: Array, *, shape: tuple[int, int]) -> Array:
        ctx.save(target)
        out = np.zeros(shape, g.dtype)
        out[row_numbers(shape[0]), target] = g
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        (target,) = ctx.values
        return GatherRows.apply(g, target), None


class GatherRows(Operation, name="Gather"):
    """x[i, target[i]] for each row of x (n, c)."""

    batched = samples()

    @staticmethod
    def forward(ctx: Context, x: Array, target: Array) -> Array:
        ctx.save(target)
        ctx.shape = x.shape
        return take_per_row(x, target)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        (target,) = ctx.values
        return NllLossBackward.apply(g, target, shape=ctx.shape), None


class CrossEntropy(Operation):
    """logsumexp(x) - x[target] for each row, times weights[i]; or the sum of these over `total`, if that is given."""

    batched = _losses

    @staticmethod
    def forward(ctx: Context, x: Array, target: Array, *, weights: Array | None, total: Array | None) -> Array:
        """Forward. Saves for an ordinary backward pass the exponentials (the largest elements where there is a kernel) and
        their sums. Half precision is computed in single."""
        ctx.given = weights, total
        wide = converted(x, np.float32) if x.dtype == np.float16 else x
        made = kernel.cross_entropy(x, target)
        if made is None:
            tops = np.maximum.reduce(wide, axis=1)
            powers = np.subtract(wide, tops[:, None])
            np.exp(powers, out=powers)
            made = tops - take_per_row(wide, target), powers, np.add.reduce(powers, axis=1)      # the largest first, or
            made[0][...] += np.log(made[2])                                                      # digits are lost
        out, *kept = made
        ctx.save(x, target, tuple(kept))             # a tuple: numbers to the graph, freed with the rest
        if weights is not None:
            out = masked(out * weights, weights != 0)            # as above
        out = out if total is None else quotient_of_sum(out, total) if total else np.asarray(math.nan)
        return out.astype(x.dtype, copy=False)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """(softmax - one hot), each row times its part of g."""
        x, target, (powers, sums) = ctx.values
        weights, total = ctx.given
        n = len(target)
        share = x.dtype.type(1) if weights is None else weights
        share = share if total is None else (share / (total or math.inf)).astype(x.dtype)    # nothing counts: no gradient
        if isinstance(g, Tensor):
            one_hot = NllLossBackward.apply(np.ones(n, x.dtype), target, shape=x.shape)
            return (softmax(x, 1) - one_hot) * reshape(g * np.broadcast_to(share, n), (n, 1)), None
        share = g * share
        if powers.ndim == 1:                         # the largest elements
            made = kernel.cross_entropy_backward(x, powers, sums, np.full(n, share, x.dtype), target)
            if made is not None:
                return made, None
            powers = np.exp(x - powers[:, None])
        out = powers * (share / sums)[:, None]
        subtract_per_row(out, target, share)
        return converted(out, x.dtype, copy=False), None


@casts_float32
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
             ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """-input[i, target[i]], weighted by class; input (n, c, ...) log probabilities, target (n, ...) class numbers.

    The mean is over the weights of the targets, ignored ones left out. IndexError for a target outside [0, c)."""
    reduction = chosen(reduction, size_average, reduce)
    rows = _rows(input, target)
    t, weights = _counted(target, rows.array.shape[1], weight, ignore_index, input.array.dtype)
    total = None if reduction == "none" else np.float64(1) if reduction == "sum" else _total(weights, t)
    losses = NllLoss.apply(rows, t, weights=weights, total=total)
    return reshape(losses, target.shape) if total is None else losses


def _total(weights: Array | None, t: TensorOrArray) -> Any:
    """The number that a mean divides by."""
    return np.float64(len(t)) if weights is None else _sum(weights)


@primitive
@maps(lambda level, call, args, settings: np.add.reduce(level.raw(args[0]), 1, args[0].dtype))
def _sum(weights: Array) -> Any:
    """Their sum, a number of their dtype."""
    return np.asarray(weights.sum(), weights.dtype)[()]


def _rows(input: Tensor, target: Tensor) -> Tensor:
    """input (n, c, ...) or (c,) as a matrix of a row for each target."""
    shape = input.array.shape
    if len(shape) == 2 and target.array.shape == shape[:1]:
        return input
    if input.array.ndim < 2:
        if input.array.ndim == 0:
            raise ValueError("Expected 1 or more dimensions (got 0)")
        if target.ndim:
            raise RuntimeError(f"size mismatch: expected target of shape [] for input of shape {list(input.shape)}, got "
                               f"{list(target.shape)}")
        return reshape(input, (1, input.shape[0]))
    n, _, *others = input.array.shape
    expected = (n, *others)
    if target.array.shape != expected:
        error = RuntimeError if target.shape[:1] == expected[:1] and input.ndim > 2 else ValueError
        raise error(f"Expected target of shape {list(expected)} for input of shape {list(input.shape)}, got "
                    f"{list(target.shape)}")
    return reshape(movedim(input, 1, -1), (target.array.size, input.shape[1]))


def _counted(target: Tensor, classes: int, weight: Tensor | None, ignore_index: int,
             dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The targets as a vector, ignored ones as 0, and what each counts; None for 1. As they are they stay a Tensor: a write
    to them before backward is noticed."""
    t = target.array if target.array.ndim == 1 else target.array.reshape(-1)
    if t.dtype is not INT64 and t.dtype.str[1:] not in ("i8", "u1"):
        raise RuntimeError(f"expected targets (class numbers) of dtype int64 or uint8, but got {t.dtype}; use target.long()")
    if weight is not None:
        if weight.shape != (classes,):
            raise RuntimeError(f"weight tensor should be defined either for all {classes} classes or no classes but "
                               f"got weight tensor of shape: {list(weight.shape)}")
        if weight.tracked:
            raise RuntimeError("the derivative for 'weight' is not implemented: class weights are constants; use "
                               "weight.detach()")
    if not _all_count(t, classes, ignore_index):
        counted = _which_count(t, classes, ignore_index)
        t = _zeroed(counted, t)
        return t, _weights(counted, t, weight, dtype)
    weights = None if weight is None else _class_weights(weight, t, dtype)
    if t is target.array:
        return target, weights
    return (t if t.base is None else reshape(target, t.shape)), weights              # a copy stays one


def _of_classes(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """The rule for batches of functions of targets and of one weight for each class, the same for all samples."""
    own = any(isinstance(x, Tensor) and level.has(x) for x in args)
    return NotImplemented if own else whole(level, call, args, settings)


@primitive
@maps(whole)
def _which_count(t: Array, classes: int, ignore_index: int) -> Array:
    """Targets that are not to be ignored; IndexError if one of these is wrong."""
    counted = t != ignore_index
    wrong = counted & ((t < 0) | (t >= classes))
    if wrong.any():
        raise IndexError(f"Target {t[wrong][0]} is out of bounds for {classes} classes.")
    return counted


@primitive
@maps(whole)
def _zeroed(counted: Array, t: Array) -> Array:
    """The targets, 0 where they do not count."""
    return np.where(counted, t, 0)


@primitive
@maps(_of_classes)
def _class_weights(weight: Tensor, t: Array, dtype: np.dtype[Any]) -> Array:
    """The weight of each target's class."""
    return weight.array[t].astype(dtype)


@primitive
@maps(_of_classes)
def _weights(counted: Array, t: Array, weight: Tensor | None, dtype: np.dtype[Any]) -> Array:
    """What each target counts, by its class, if it does."""
    ones = counted.astype(dtype)
    return ones if weight is None else ones * _class_weights(weight, t, dtype)


@shortcut
@maps(whole)
def _all_count(t: Array, classes: int, ignore_index: int) -> bool:
    """Whether all targets are classes, and none may be one that is ignored."""
    if 0 <= ignore_index < classes:
        return not t.size
    return not t.size or in_range(t, classes)


@casts_float32
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
                  ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:
    """-log softmax(input)[target]: input (n, c, ...) or (c,), target class numbers (n, ...) or probabilities as input.

    With class numbers the mean is over the weights of the targets that count; with probabilities over n."""
    reduction = chosen(reduction, size_average, reduce)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(MSG_SMOOTHING.format(label_smoothing))
    if input.dtype.kind not in "fV":
        raise NotImplementedError(f'"cross_entropy" not implemented for {input.dtype}; cast the input to floating point')
    if target.array.shape == input.array.shape and input.ndim:
        return _soft_cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)
    rows = _rows(input, target)
    t, weights = _counted(target, rows.array.shape[1], weight, ignore_index, input.array.dtype)
    total = None if reduction == "none" else np.float64(1) if reduction == "sum" else _total(weights, t)
    if rows.array.size == 0:
        return _nothing(rows, target, reduction)
    loss = CrossEntropy.apply(rows, t, weights=weights, total=total)
    loss = reshape(loss, target.shape) if total is None else loss
    if not label_smoothing:
        return loss
    return (1 - label_smoothing) * loss + label_smoothing * _smooth(rows, target, weight, ignore_index, total)


def _nothing(rows: Tensor, target: Tensor, reduction: str) -> Tensor:
    """The loss of no rows."""
    none = sum(rows, 1) if rows.shape[1] else sum(rows) * np.ones(rows.shape[0], rows.dtype)
    return reshape(none, target.shape) if reduction == "none" else sum(none) * (math.nan if reduction == "mean" else 1.0)


def _smooth(rows: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, total: Array | None) -> Tensor:
    """The loss against equal probabilities for all classes, of the targets that count."""
    logp = log_softmax(rows, 1)
    losses = -sum(logp if weight is None else logp * weight, 1) / float(rows.shape[1])
    t = target.array.reshape(-1)
    if not _all_count(t, rows.shape[1], ignore_index):
        losses = where(_not_ignored(t, ignore_index), losses, 0.0)
    return reshape(losses, target.shape) if total is None else sum(losses) / total


@primitive
@maps(whole)
def _not_ignored(t: Array, ignore_index: int) -> Array:
    """Which targets differ from ignore_index."""
    return t != ignore_index


def _soft_cross_entropy(input: Tensor, target: Tensor, weight: Any, ignore_index: int, reduction: str,
                        label_smoothing: float) -> Tensor:
    """Cross entropy against probabilities."""
    if target.dtype.kind not in "fV":
        raise RuntimeError(f"Expected floating point type for target with class probabilities, got {target.dtype}")
    if ignore_index >= 0:
        raise RuntimeError(f"ignore_index is not supported for floating point target: {ignore_index}")
    dim = 0 if input.ndim == 1 else 1
    classes = input.shape[dim]
    if weight is not None and weight.shape != (classes,):
        raise RuntimeError("cross_entropy: weight tensor should be defined either for all "
                           f"{classes} classes or no classes but got weight tensor of shape: {list(weight.shape)}")
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    logp = log_softmax(input, dim)
    if not all_finite(input.array):                 # a class of probability 0 does not count, whatever its logit is
        logp = where(target == 0, 0.0, logp)
    if weight is not None:
        logp = logp * reshape(weight, (classes, *[1] * (input.ndim - dim - 1)))
    losses = -sum(logp * target, dim)
    if reduction == "mean":
        return sum(losses) / float(input.array.size / classes if classes else 0)
    return reduced(losses, reduction)


def linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None,
                         weight: Tensor | None = None, reduction: str = "mean", ignore_index: int | None = None,
                         label_smoothing: float = 0.0, options: Any = None) -> Tensor:
    """cross_entropy(linear(input, linear_weight, linear_bias), target), for input (n, k) or (k,), linear_weight (c, ..., k).

    `options` says how PyTorch cuts the work up to save memory; the result does not depend on it, and it is not needed here.
    """
    classes = linear_weight.shape[:-1]
    flat = math.prod(classes)
    if len(classes) > 1 and input.ndim < 2:
        raise RuntimeError(f"linear_cross_entropy: linear_weight of shape {list(linear_weight.shape)} needs a batch of "
                           f"inputs, got {list(input.shape)}")
    bias = None if linear_bias is None else reshape(linear_bias, (flat,))
    logits = linear(input, reshape(linear_weight, (flat, linear_weight.shape[-1])), bias)
    logits = reshape(logits, (*input.shape[:-1], *classes))
    return cross_entropy(logits, target, weight, None, -100 if ignore_index is None else ignore_index, None, reduction,
                         label_smoothing)


__all__: list[str] = []
