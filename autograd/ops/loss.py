"""Losses: how far predictions are from targets, as one number to minimise."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensor import Tensor
from ._declare import Operation
from .cast import cast
from .choice import where
from .exponential import exp, log
from .reduce import log_softmax, mean, sum
from .shape import movedim, reshape
from .sign import absolute

REDUCTIONS = ("none", "mean", "sum")


def _check_reduction(reduction: str) -> None:
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction; it is one of {', '.join(REDUCTIONS)}")


def reduced(losses: Any, reduction: str) -> Any:
    """Losses as they are, their mean or their sum."""
    _check_reduction(reduction)
    return losses if reduction == "none" else mean(losses) if reduction == "mean" else sum(losses)


class NllRows(Operation, name="NllLoss"):
    """-logp[i, target[i]] * weight[target[i]] for each row; 0 where target is ignored."""

    @staticmethod
    def forward(ctx: Any, logp: Any, target: Any, weights: Any) -> Any:
        """One element picked from each row."""
        ctx.save(target, weights)
        ctx.shape = logp.shape
        rows = np.arange(len(logp))
        return -logp[rows, target] * weights

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """-g * weight at the picked element."""
        target, weights = ctx.values
        return PutRows.apply(-g * weights, target, shape=ctx.shape), None, None


class PutRows(Operation, name="NllLossBackward"):
    """Zeros of `shape` (n, c) with g[i] at [i, target[i]]; the adjoint of picking one element a row."""

    @staticmethod
    def forward(ctx: Any, g: Any, target: Any, *, shape: tuple[int, int]) -> Any:
        """One assignment."""
        ctx.save(target)
        out = np.zeros(shape, g.dtype)
        out[np.arange(shape[0]), target] = g
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Pick again."""
        (target,) = ctx.values
        return PickRows.apply(g, target), None


class PickRows(Operation, name="Gather"):
    """x[i, target[i]] for each row of x (n, c)."""

    @staticmethod
    def forward(ctx: Any, x: Any, target: Any) -> Any:
        """Indexing by rows."""
        ctx.save(target)
        ctx.shape = x.shape
        return x[np.arange(len(x)), target]

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Put back."""
        (target,) = ctx.values
        return PutRows.apply(g, target, shape=ctx.shape), None


def nll_loss(input: Any, target: Any, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
             reduce: Any = None, reduction: str = "mean") -> Any:
    """-input[i, target[i]], weighted by class; input (n, c, ...) log probabilities, target (n, ...) class numbers.

    The mean is over the weights of the targets, ignored ones left out. IndexError for a target outside [0, c).
    """
    _refuse_legacy(size_average, reduce)
    _check_reduction(reduction)
    if input.ndim == 1:
        losses, weights = _nll_rows(reshape(input, (1, -1)), reshape(target, (1,)), weight, ignore_index)
        shape: tuple[int, ...] = ()
    else:
        _check_target(input, target)
        classes = input.shape[1]
        rows = reshape(movedim(input, 1, -1), (-1 if input.array.size else target.array.size, classes))
        losses, weights = _nll_rows(rows, reshape(target, (target.array.size,)), weight, ignore_index)
        shape = target.shape
    if reduction == "none":
        return reshape(losses, shape)
    total = sum(losses)
    if reduction == "sum":
        return total
    with np.errstate(invalid="ignore"):
        return total / weights.sum()                # nan where nothing counts, as PyTorch


def _check_target(input: Any, target: Any) -> None:
    expected = (input.shape[0], *input.shape[2:])
    if target.shape != expected:
        raise ValueError(f"Expected target of shape {list(expected)} for input of shape {list(input.shape)}, "
                         f"got {list(target.shape)}")


def _nll_rows(rows: Any, target: Any, weight: Any, ignore_index: int) -> tuple[Any, Any]:
    """The loss of each row, and the weight that it counts with."""
    t = target.array
    if t.dtype.kind not in "iu":
        raise RuntimeError(f"nll_loss: targets are class numbers of an integer dtype, not {t.dtype}")
    counted = t != ignore_index
    classes = rows.shape[1]
    wrong = counted & ((t < 0) | (t >= classes))
    if wrong.any():
        raise IndexError(f"Target {t[wrong][0]} is out of bounds for {classes} classes.")
    t = np.where(counted, t, 0)
    weights = counted.astype(rows.dtype)
    if weight is not None:
        if weight.shape != (classes,):
            raise RuntimeError(f"weight tensor should be defined either for all {classes} classes or no classes but "
                               f"got weight tensor of shape: {list(weight.shape)}")
        weights = weights * weight.array[t]
    return NllRows.apply(rows, t, weights.astype(rows.dtype)), weights


class CrossEntropyMean(Operation, name="CrossEntropy"):
    """mean(logsumexp(x) - x[target]) over rows: cross entropy's ordinary case in one node."""

    @staticmethod
    def forward(ctx: Any, x: Any, target: Any) -> Any:
        """log_softmax, one element a row, the mean."""
        ctx.save(x, target)
        shifted = x - x.max(axis=1, keepdims=True)
        total = np.log(np.exp(shifted).sum(axis=1))
        return (total - shifted[np.arange(len(x)), target]).mean(dtype=x.dtype)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """(softmax - one hot) * g / n."""
        x, target = ctx.values
        if not isinstance(x, Tensor):
            out = np.exp(x - x.max(axis=1, keepdims=True))
            out /= out.sum(axis=1, keepdims=True)
            out[np.arange(len(x)), target] -= 1
            out *= np.asarray(g / len(x), x.dtype)
            return out, None
        one_hot = PutRows.apply(np.ones(len(x.array), x.dtype), target, shape=x.shape)
        return (exp(log_softmax(x, 1)) - one_hot) * (g / len(x)), None


def cross_entropy(input: Any, target: Any, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
                  reduce: Any = None, reduction: str = "mean", label_smoothing: float = 0.0) -> Any:
    """-log softmax(input)[target]: input (n, c, ...) or (c,), target class numbers (n, ...) or probabilities as input.

    With class numbers the mean is over the weights of the targets that count; with probabilities over n.
    """
    _refuse_legacy(size_average, reduce)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    dim = 0 if input.ndim == 1 else 1
    if target.dtype.kind not in "iu":
        return _soft_cross_entropy(input, target, weight, reduction, label_smoothing, dim)
    if (input.ndim == 2 and weight is None and reduction == "mean" and not label_smoothing and input.array.size
            and target.shape == input.shape[:1]):
        t = target.array
        classes = input.shape[1]
        if t.min() >= 0 and t.max() < classes and not 0 <= ignore_index < classes:
            return CrossEntropyMean.apply(input, t)
    logp = log_softmax(input, dim)
    loss = nll_loss(logp, target, weight, None, ignore_index, None, reduction)
    if not label_smoothing:
        return loss
    return (1 - label_smoothing) * loss + label_smoothing * _smooth(logp, target, weight, ignore_index, reduction, dim)


def _smooth(logp: Any, target: Any, weight: Any, ignore_index: int, reduction: str, dim: int) -> Any:
    """The loss against equal probabilities for all classes, of the targets that count."""
    classes = logp.shape[dim]
    shape = [1] * logp.ndim
    shape[dim] = classes
    weighted = logp if weight is None else logp * reshape(weight, tuple(shape))
    losses = -sum(weighted, dim) / float(classes)
    counted = target.array != ignore_index
    losses = where(counted, losses, 0.0)
    if reduction == "none":
        return losses
    total = sum(losses)
    if reduction == "sum":
        return total
    t = np.where(counted, target.array, 0)
    n = counted.sum() if weight is None else (weight.array[t] * counted).sum()
    return total / n.astype(logp.dtype)


def _soft_cross_entropy(input: Any, target: Any, weight: Any, reduction: str, label_smoothing: float, dim: int) -> Any:
    """Cross entropy against probabilities."""
    _check_reduction(reduction)
    if target.shape != input.shape:
        raise RuntimeError(f"cross_entropy: probabilities must have the input's shape {list(input.shape)}, got "
                           f"{list(target.shape)}")
    classes = input.shape[dim]
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    logp = log_softmax(input, dim)
    if weight is not None:
        shape = [1] * input.ndim
        shape[dim] = classes
        logp = logp * reshape(weight, tuple(shape))
    losses = -sum(logp * target, dim)
    if reduction == "mean":
        return sum(losses) / float(max(losses.array.size, 1)) if input.ndim > 1 else losses
    return reduced(losses, reduction)


def mse_loss(input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
             weight: Any = None) -> Any:
    """(input - target)^2."""
    _refuse_legacy(size_average, reduce)
    difference = input - target
    losses = difference * difference
    return reduced(losses if weight is None else losses * weight, reduction)


def l1_loss(input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Any:
    """|input - target|."""
    _refuse_legacy(size_average, reduce)
    return reduced(absolute(input - target), reduction)


def binary_cross_entropy_with_logits(input: Any, target: Any, reduction: str = "mean") -> Any:
    """-t log sigmoid(x) - (1 - t) log(1 - sigmoid(x)), without overflow."""
    losses = where(input > 0, input, input * 0) - input * target + log(exp(-absolute(input)) + 1)
    return reduced(cast(losses, input.dtype), reduction)


def _refuse_legacy(size_average: Any, reduce: Any) -> None:
    if size_average is not None or reduce is not None:
        raise NotImplementedError("size_average= and reduce= are deprecated in PyTorch and not supported; "
                                  "use reduction='mean', 'sum' or 'none'")
