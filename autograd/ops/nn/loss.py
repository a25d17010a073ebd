"""Losses: of classes, of binary targets, of numbers, and with margins. ctc_loss() has a file of its own."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.dtypes import promote
from ...base.types import Array
from ...core.batching import Level, elementwise, maps, merged, samples, whole
from ...core.casting import casts_float32
from ...core.operation import Operation
from ...core.primitive import data_dependent, primitive, shortcut
from ...core.tensor import Tensor, result
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels import softmax as kernel
from ...kernels.activations import logit_loss
from ...kernels.halves import converted, in_single
from ...kernels.loops import NO_LOOP, loop_for
from ...kernels.openblas import alone
from ...kernels.take_along import INT64, in_range, row_numbers, subtract_per_row, take_per_row
from ...kernels.where import masked
from .._pointwise import lifted, pointwise
from ..linalg.distances import pairwise_distance
from ..linalg.matmul import linear
from ..pointwise.arithmetic import mul
from ..pointwise.cast import cast
from ..pointwise.exponential import exp, log, sigmoid, tailed_sigmoid
from ..pointwise.powers import sqrt
from ..pointwise.sign import abs as absolute
from ..pointwise.where import clamp, minimum, passing, relu, where
from ..reductions.reduce import mean, sum
from ..reductions.take_along import TakeAlong
from ..shape import expand, movedim, reshape, unsqueeze
from .activation import softplus
from .softmax import log_softmax, softmax

REDUCTIONS = ("none", "mean", "sum")
PART = 512                                           # squares that are added up in single precision


def chosen(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> str:
    """The reduction to use: the deprecated size_average and reduce override the argument."""
    if size_average is not None or reduce is not None:
        average = size_average is None or size_average
        reduction = "none" if not (reduce is None or reduce) else "mean" if average else "sum"
        warnings.warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
                      UserWarning, stacklevel=3)
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction; it is one of {', '.join(REDUCTIONS)}")
    return reduction


def reduced(losses: Tensor, reduction: str) -> Tensor:
    """Losses as they are, their mean or their sum."""
    return losses if reduction == "none" else mean(losses) if reduction == "mean" else sum(losses)


def broadcast_pair(input: Tensor, target: Tensor) -> tuple[Any, Any]:
    """Both broadcast to one shape and cast to one dtype, with a warning if the shapes differ."""
    if input.shape != target.shape:
        warnings.warn(f"Using a target size ({list(target.shape)}) that is different to the input size "
                      f"({list(input.shape)}). This will likely lead to incorrect results due to broadcasting. Please "
                      "ensure they have the same size.", UserWarning, stacklevel=3)
        try:
            shape = np.broadcast_shapes(input.shape, target.shape)
        except ValueError:
            raise RuntimeError(f"The size of input {list(input.shape)} must match the size of target {list(target.shape)}, "
                               "or one must broadcast to the other") from None
        input, target = expand(input, shape), expand(target, shape)
    if input.dtype != target.dtype:
        dtype = promote(input.dtype, target.dtype)
        input, target = cast(input, dtype), cast(target, dtype)
    return input, target


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


def _squares(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """MseLoss's rule for batches."""
    x, y = [reshape(level.front(x), (level.size, math.prod(x.shape))) for x in args]
    difference = x - y
    return sum(difference * difference, 1) * settings["scale"]


class NllLoss(Operation):
    """-logp[i, target[i]], times weights[i] if there are some, for each row; or the sum of these over `total`."""

    batched = _losses

    joins: tuple[tuple[int, ...], ...] | None = ((0,), ())

    @staticmethod
    def forward(ctx: Context, logp: Array, target: Array, *, weights: Array | None, total: Array | None) -> Array:
        """One element picked from each row."""
        ctx.save(target)
        ctx.shape, ctx.given = logp.shape, (weights, total)
        if weights is None and total and target.dtype is INT64 and target.flags.carray and type(target) is np.ndarray:
            loop, _ = loop_for("picked_sum", logp)
            out = np.empty((), logp.dtype)
            if loop is not None and not loop(logp, target, out, *logp.shape, -1 / total):
                return out
        out = -take_per_row(logp, target)
        if weights is not None:
            out = masked(out * weights, weights != 0)            # what does not count may be infinite or nan
        if total is None:
            return out
        if not total:
            return np.asarray(math.nan, logp.dtype)              # where nothing counts, without a gradient, as PyTorch
        wide = np.float32 if out.dtype == np.float16 else out.dtype
        return np.asarray(np.add.reduce(out, dtype=wide) / total).astype(logp.dtype, copy=False)

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
        """One assignment into zeros."""
        ctx.save(target)
        out = np.zeros(shape, g.dtype)
        out[row_numbers(shape[0]), target] = g
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The rows gathered at the same indices."""
        (target,) = ctx.values
        return GatherRows.apply(g, target), None


class GatherRows(Operation, name="Gather"):
    """x[i, target[i]] for each row of x (n, c)."""

    batched = samples()

    @staticmethod
    def forward(ctx: Context, x: Array, target: Array) -> Array:
        """Indexing by rows."""
        ctx.save(target)
        ctx.shape = x.shape
        return take_per_row(x, target)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The gradient scattered to the gathered elements."""
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
        made = kernel.power_sums(x)
        if made is None:
            tops = np.maximum.reduce(wide, axis=1)
            powers = np.subtract(wide, tops[:, None])
            np.exp(powers, out=powers)
            made = powers, np.add.reduce(powers, axis=1)
        else:
            tops = made[0]
        ctx.save(x, target, made)                    # a tuple: numbers to the graph, freed with the rest
        out = tops - take_per_row(wide, target)            # the largest first, or digits are lost
        out += np.log(made[1])
        if weights is not None:
            out = masked(out * weights, weights != 0)            # as above
        return np.asarray((out if total is None else np.add.reduce(out) / total).astype(x.dtype, copy=False))

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

    The mean is over the weights of the targets, ignored ones left out. IndexError for a target outside [0, c).
    """
    reduction = chosen(reduction, size_average, reduce)
    rows = _rows(input, target)
    t, weights = _counted(target, input.shape[min(input.ndim - 1, 1)], weight, ignore_index, input.dtype)
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
    if input.ndim < 2:
        if input.ndim == 0:
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
    if input.ndim == 2:
        return input
    return reshape(movedim(input, 1, -1), (target.array.size, input.shape[1]))


def _counted(target: Tensor, classes: int, weight: Tensor | None, ignore_index: int,
             dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The targets as a vector, ignored ones as 0, and what each counts; None for 1. As they are they stay a Tensor: a write
    to them before backward is noticed."""
    t = target.array.reshape(-1)
    if t.dtype.str[1:] not in ("i8", "u1"):
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
    if t.base is None:                               # a copy
        return t, weights
    return target if target.ndim == 1 else reshape(target, t.shape), weights


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

    With class numbers the mean is over the weights of the targets that count; with probabilities over n.
    """
    reduction = chosen(reduction, size_average, reduce)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(MSG_SMOOTHING.format(label_smoothing))
    if input.dtype.kind not in "fV":
        raise NotImplementedError(f'"cross_entropy" not implemented for {input.dtype}; cast the input to floating point')
    if target.array.shape == input.array.shape and input.ndim:
        return _soft_cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)
    rows = _rows(input, target)
    t, weights = _counted(target, rows.array.shape[1], weight, ignore_index, input.dtype)
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
    if not _all_finite(input.array):                 # a class of probability 0 does not count, whatever its logit is
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


SMALLEST_LOG = -100.0


class BinaryCrossEntropy(Operation):
    """-(t log(x) + (1 - t) log(1 - x)), each logarithm at least -100."""

    batched = elementwise

    @staticmethod
    def forward(ctx: Context, x: Array, t: Array) -> Array:
        """No reduction here."""
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


@shortcut
def _all_finite(x: Array) -> bool:
    return bool(np.isfinite(x).all())


def _logit_losses(x: Tensor, t: Tensor, pos_weight: Tensor | None = None) -> Tensor:
    """-(pos_weight t log s + (1 - t) log(1 - s)), s = sigmoid(x); infinite terms that are multiplied by 0 do not count."""
    if pos_weight is None and x.dtype == t.dtype and x.dtype.kind in "fV" and x.shape == t.shape:
        return BinaryCrossEntropyWithLogits.apply(x, t)
    missed, false = softplus(-x, 1, np.inf), softplus(x, 1, np.inf)            # -log s and -log(1 - s)
    if not _all_finite(x.array):
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


class MseLoss(Operation):
    """The sum of (x - y)^2 times scale, for x and y of one shape and dtype."""

    batched = _squares

    real = True

    @staticmethod
    def forward(ctx: Context, x: Array, y: Array, *, scale: float) -> Array:
        """One pass for the difference and one for its squares."""
        ctx.save(x, y)
        ctx.scale = scale
        difference = np.subtract(*(in_single(x, y) if x.dtype == np.float16 else (x, y))).reshape(-1)
        whole = difference.size // PART * PART if difference.size > 2 * PART else 0
        rest = difference[whole:]
        with alone():                                # BLAS keeps few sums: over 100,000 squares they lose 2 bits
            squares = np.vdot(rest, rest)
            if whole:
                rows = difference[:whole].reshape(-1, PART)
                squares = float(squares) + np.vecdot(rows, rows).sum(dtype=np.float64)
        return np.asarray(squares * scale, x.dtype)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """2 scale (x - y) g, and minus that."""
        x, y = ctx.values
        if isinstance(g, Tensor):
            gx = (x - y) * (g * (2 * ctx.scale))
        else:
            gx = np.subtract(*(in_single(x, y) if x.dtype == np.float16 else (x, y)))
            gx *= np.asarray(g * (2 * ctx.scale), gx.dtype)
            gx = converted(gx, x.dtype, copy=False)
        return gx if ctx.needs(0) else None, -gx if ctx.needs(1) else None


@casts_float32
def mse_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
             reduction: str = "mean", weight: Tensor | None = None) -> Tensor:
    """(input - target)^2; weight multiplies each element, and the mean is over the weights."""
    reduction = chosen(reduction, size_average, reduce)
    input, target = broadcast_pair(input, target)
    size = math.prod(input.shape)
    if weight is None and reduction != "none" and size and input.dtype != np.float16 and isinstance(input, Tensor):
        _floating("mse_loss", input)
        return MseLoss.apply(input, target, scale=1.0 if reduction == "sum" else 1 / size)
    _floating("mse_loss", input)
    difference = input - target
    return _weighted(difference * difference, weight, reduction)


def _floating(name: str, x: Tensor) -> None:
    if x.dtype.kind not in "fcV":
        raise NotImplementedError(f'"{name}" not implemented for {x.dtype}; cast to floating point first')


def _weighted(losses: Tensor, weight: Tensor | None, reduction: str) -> Tensor:
    """Losses times weights of their shape, reduced; the mean is over the sum of the weights."""
    if weight is None:
        return reduced(losses, reduction)
    if weight.shape != losses.shape:
        raise ValueError(f"Inputs and weight must have the same size: {list(losses.shape)} and {list(weight.shape)}")
    losses = losses * weight
    return sum(losses) / sum(weight) if reduction == "mean" else reduced(losses, reduction)


@casts_float32
def l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
            reduction: str = "mean", weight: Any = None) -> Tensor:
    """|input - target|; weight multiplies each element, and the mean is over the weights."""
    reduction = chosen(reduction, size_average, reduce)
    input, target = broadcast_pair(input, target)
    return _weighted(absolute(input - target), weight, reduction)


def _within(d: TensorOrArray, delta: float) -> Any:
    return d.clip(-delta, delta) if isinstance(d, (np.ndarray, np.generic)) else clamp(d, -delta, delta)


def _huber_forward(d: Array, delta: float) -> Array:
    inner = d.clip(-delta, delta)                    # d within, delta with d's sign beyond: the derivative, too
    return inner * (d - 0.5 * inner)


_huber = pointwise("HuberLoss", _huber_forward, lambda g, d, delta: g * _within(d, delta))
_smooth_l1 = pointwise("SmoothL1Loss", lambda d, beta: _huber_forward(d, beta) / beta,
                    lambda g, d, beta: g * (_within(d, beta) / beta))


@casts_float32
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
                   reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """d^2 / (2 beta) where d = |input - target| < beta, d - beta / 2 elsewhere."""
    reduction = chosen(reduction, size_average, reduce)
    input, target = broadcast_pair(input, target)
    if beta == 0:
        return reduced(absolute(input - target), reduction)
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss does not support negative values for beta, got {beta}.")
    return reduced(_smooth_l1(input - target, float(beta)), reduction)


@casts_float32
def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Any = None) -> Tensor:
    """d^2 / 2 where d = |input - target| < delta, delta (d - delta / 2) elsewhere."""
    reduction = chosen(reduction)
    input, target = broadcast_pair(input, target)
    if delta <= 0:
        raise RuntimeError(f"huber_loss does not support non-positive values for delta, got {delta}.")
    return _weighted(_huber(input - target, float(delta)), weight, reduction)


# --- likelihoods -------------------------------------------------------------------------------------------------------

@casts_float32
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False,
                     size_average: bool | None = None, eps: float = 1e-8, reduce: bool | None = None,
                     reduction: str = "mean") -> Tensor:
    """exp(input) - target input, or input - target log(input + eps) if not log_input.

    full adds Stirling's approximation of log(target!), where target > 1.
    """
    reduction = chosen(reduction, size_average, reduce)
    if log_input:
        finite = input if _all_finite(input.array) else where((target == 0) | (input == np.inf), 0.0, input)
        loss = exp(input) - target * finite
    else:
        loss = input - target * log(input + eps)
    if full:
        many = target > 1
        safe = where(many, target, 1.0)
        stirling = safe * log(safe) - safe + 0.5 * log(2 * math.pi * safe)
        loss = loss + where(many, stirling, 0.0)
    return reduced(loss, reduction)


@primitive
@maps(whole)
def _not_negative(var: Array) -> None:
    if (var < 0).any():
        raise ValueError("var has negative entry/entries")


def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor, full: bool = False, eps: float = 1e-6,
                      reduction: str = "mean") -> Tensor:
    """(log(var) + (input - target)^2 / var) / 2, var at least eps; full adds log(2 pi) / 2."""
    if not isinstance(var, Tensor):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * result(np.ones(input.shape, input.dtype))
    else:
        _not_negative(var.array)
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:            # one variance for each row
            var = var[..., None]
        elif not (input.ndim == var.ndim and any(
                var.shape == (*input.shape[:i], 1, *input.shape[i + 1:]) for i in range(input.ndim))):
            raise ValueError(f"var is of incorrect size: {list(var.shape)} for input {list(input.shape)}")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    var = lifted(var, eps)
    difference = input - target
    loss = 0.5 * (log(var) + difference * difference / var)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


class Xlogy(Operation):
    """t log(t), 0 at 0."""

    batched = elementwise

    @staticmethod
    def forward(ctx: Context, t: Array) -> Array:
        """Without nan at 0."""
        ctx.save(t)
        return np.asarray(np.where(t == 0, 0, t * np.log(t)), t.dtype)

    @staticmethod
    def backward(ctx: Context, g: Tensor) -> Gradients:
        """log(t) + 1; PyTorch's nan at 0 included."""
        (t,) = ctx.values
        return g * where(t == 0, math.nan, log(t) + 1)


@casts_float32
def kl_div(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
           reduction: str = "mean", log_target: bool = False) -> Tensor:
    """target (log(target) - input), input being log probabilities, target too if log_target.

    reduction "batchmean" divides the sum by input.shape[0]: the divergence itself.
    """
    batch = reduction == "batchmean" and size_average is None and reduce is None
    if batch:
        reduction = "sum"
    elif reduction == "mean":
        warnings.warn("reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' "
                      "divides only by the batch size, and aligns with the KL div math definition.", UserWarning,
                      stacklevel=2)
    reduction = chosen(reduction, size_average, reduce)
    if log_target:                                   # a probability of 0 does not count, whatever the other one is
        apart = target - input
        losses = exp(target) * (apart if _all_finite(target.array) else where(target == -np.inf, 0.0, apart))
    else:
        losses = Xlogy.apply(target) - mul(target, input if _all_finite(input.array) else where(target == 0, 0.0, input))
    out = reduced(losses, reduction)
    return out / input.shape[0] if batch and input.ndim else out


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
    """max(0, -target (input1 - input2) + margin): target 1 wants input1 the larger, -1 input2."""
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


# --- margins between classes -------------------------------------------------------------------------------------------

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
        loop, _ = loop_for("multi_margin", x)
        out = np.empty(n, x.dtype)
        if loop is None or loop(x, t, out, n, classes, p, margin):
            if n and not in_range(t, classes):
                raise RuntimeError(f"multi_margin_loss: target out of range: {t.min()} to {t.max()} for {classes} classes")
            excess = _excess(x, t, margin)
            np.divide(sum(excess if p == 1 else excess * excess, 1), classes, out=out)
        if weight is not None:
            out *= weight[t]
        if reduction == "none":
            return out.reshape(target.shape)
        total = np.add.reduce(out)
        return np.asarray(total if reduction == "sum" else total / n if n else math.nan, x.dtype)

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


@casts_float32
@data_dependent
def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
                           reduction: str = "mean") -> Tensor:
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
    picked = TakeAlong.apply(rows, np.where(valid, labels, 0), dim=1)
    excess = relu(1 - unsqueeze(picked, 2) + unsqueeze(rows, 1))
    losses = sum(where(valid[:, :, None] & ~named[:, None, :], excess, 0.0), (1, 2)) / rows.shape[1]
    return reduced(reshape(losses, ()) if input.ndim < 2 else losses, reduction)

__all__: list[str] = []
