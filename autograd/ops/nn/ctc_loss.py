"""The CTC loss: label sequences without an alignment in time (Graves et al., 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.types import Array
from ...core.casting import casts_float32
from ...core.operation import Operation
from ...core.primitive import data_dependent
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels import ctc
from ..reductions.reduce import mean, sum
from ..shape import reshape
from .loss_reduction import chosen


class CtcLoss(Operation):
    """The loss of each sample."""

    @staticmethod
    def forward(ctx: Context, log_probs: Array, *, labels: Array, lengths: Array, label_lengths: Array, blank: int,
                zero_infinity: bool) -> Array:
        out, kept = ctc.losses(log_probs, labels, lengths, label_lengths, blank)
        ctx.save(log_probs, (lengths, label_lengths, out, kept, zero_infinity))
        return np.where(np.isinf(out), np.zeros((), out.dtype), out) if zero_infinity else out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        log_probs, given = ctx.values
        return CtcLossBackward.apply(g, log_probs, given=given)


class CtcLossBackward(Operation):
    """The gradient of CtcLoss, times g; linear in g, and not differentiated any further."""

    @staticmethod
    def forward(ctx: Context, g: Array, log_probs: Array, *, given: Any) -> Array:
        """Zero, on demand, where the loss was infinite."""
        lengths, label_lengths, nll, kept, zero_infinity = given
        unit = ctc.gradients(log_probs, lengths, label_lengths, nll, kept)
        if zero_infinity:
            unit[:, np.isinf(nll)] = 0
        ctx.unit = unit
        return unit * g[None, :, None]

    @staticmethod
    def backward(ctx: Context, g: Array) -> Gradients:
        if ctx.needs(1):
            raise NotImplementedError("derivative for ctc_loss's backward is not implemented: the CTC loss has first "
                                      "derivatives only")
        return sum(g * ctx.unit, (0, 2)), None


def _numbers(value: Tensor | Sequence[int], name: str) -> Array:
    """Lengths as an array of integers."""
    a = value.array if isinstance(value, Tensor) else np.asarray(value)
    if a.dtype.kind not in "iu" and a.size:
        raise RuntimeError(f"{name} must be integral, not {a.dtype}")
    return np.atleast_1d(a).astype(np.int64)


@casts_float32
@data_dependent
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int],
             target_lengths: Tensor | Sequence[int], blank: int = 0, reduction: str = "mean",
             zero_infinity: bool = False) -> Tensor:
    """-log of the probability of each label sequence, summed over all alignments.

    log_probs (t, n, c) or (t, c); targets (n, s) padded, or all sequences end to end in a vector; lengths by sample. The
    mean is over samples, each divided by its target's length. zero_infinity: 0, with no gradient, for impossible ones."""
    reduction = chosen(reduction)
    if log_probs.dtype.kind not in "fV":
        raise NotImplementedError(f'"ctc_loss" not implemented for {log_probs.dtype}')
    if targets.dtype.kind not in "iu":
        raise RuntimeError(f"ctc_loss: targets are class numbers of an integer dtype, not {targets.dtype}")
    batched = log_probs.ndim == 3
    if log_probs.ndim not in (2, 3):
        raise RuntimeError(f"ctc_loss: log_probs must be (t, n, c) or (t, c), got {list(log_probs.shape)}")
    x = log_probs if batched else reshape(log_probs, (log_probs.shape[0], 1, log_probs.shape[1]))
    lengths, label_lengths = _numbers(input_lengths, "input_lengths"), _numbers(target_lengths, "target_lengths")
    _check(x.shape, lengths, label_lengths, blank)
    labels = _padded(targets.array if batched else targets.array.reshape(1, -1), label_lengths, x.shape[1])
    out = CtcLoss.apply(x, labels=labels, lengths=lengths, label_lengths=label_lengths, blank=blank,
                        zero_infinity=zero_infinity)
    if reduction == "mean":
        return mean(out / np.maximum(label_lengths, 1).astype(out.dtype))
    if reduction == "sum":
        return sum(out)
    return out if batched else reshape(out, ())


def _check(shape: tuple[int, ...], lengths: Array, label_lengths: Array, blank: int) -> None:
    steps, n, classes = shape
    if not 0 <= blank < classes:
        raise RuntimeError(f"blank must be in label range: {blank} with {classes} classes")
    for name, values in (("input_lengths", lengths), ("target_lengths", label_lengths)):
        if values.shape != (n,):
            raise RuntimeError(f"{name} must be of size batch_size: {list(values.shape)} for a batch of {n}")
        if (values < 0).any():
            raise RuntimeError(f"{name} must be non-negative, got {values.min()}")
    if n and lengths.max() > steps:
        raise RuntimeError(f"Expected input_lengths to have value at most {steps}, but got value {lengths.max()}")
    if steps == 0:
        raise RuntimeError("log_probs tensor must not be empty")


def _padded(targets: Array, label_lengths: Array, n: int) -> Array:
    """The labels as a padded matrix, from either of PyTorch's two forms."""
    longest = int(label_lengths.max()) if n else 0
    if targets.ndim == 2:
        if targets.shape[0] != n or targets.shape[1] < longest:
            raise RuntimeError(f"Expected targets of shape [{n}, at least {longest}], got {list(targets.shape)}")
        return targets[:, :longest]
    if targets.ndim != 1 or targets.size < label_lengths.sum():
        raise RuntimeError(f"Expected targets to be 1D with the sum of target_lengths ({label_lengths.sum()}) elements, "
                           f"or 2D, got {list(targets.shape)}")
    out = np.zeros((n, longest), targets.dtype)
    out[np.arange(longest) < label_lengths[:, None]] = targets[:label_lengths.sum()]
    return out


__all__: list[str] = []
