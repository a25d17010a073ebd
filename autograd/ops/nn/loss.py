"""Losses of numbers and of distributions: squared, absolute and Huber errors, likelihoods, the KL divergence."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...base.types import Array
from ...core.batching import Level, elementwise, maps, whole
from ...core.casting import casts_float32
from ...core.operation import Operation
from ...core.primitive import primitive
from ...core.tensor import Tensor, result
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels import activations
from ...kernels.halves import converted, in_single
from ...kernels.openblas import alone
from .._pointwise import lifted, pointwise
from ..pointwise.arithmetic import mul
from ..pointwise.exponential import exp, log
from ..pointwise.sign import abs as absolute
from ..pointwise.where import clamp, where
from ..reductions.reduce import sum
from ..shape import reshape
from .loss_reduction import all_finite, broadcast_pair, chosen, reduced

PART = 512                                           # squares that are added up in single precision
BLOCK = 1 << 15                                      # numbers that stay in the cache


def _squares(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """MseLoss's rule for batches."""
    difference = _differences(level, args)
    return sum(difference * difference, 1) * settings["scale"]


def _differences(level: Level, args: Any) -> Any:
    """Two tensors' difference, a row for each sample."""
    x, y = [reshape(level.front(x), (level.size, math.prod(x.shape))) for x in args]
    return x - y


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
                       lambda g, d, beta: g * (_within(d, beta) / beta), kernel="smooth_l1")


class SmoothL1Sum(Operation, name="SmoothL1Loss"):
    """The sum of smooth_l1(x - y) times scale, for x and y of one shape and dtype: in blocks, which stay in the cache."""

    batched = staticmethod(lambda level, call, args, settings: sum(
        _smooth_l1(_differences(level, args), settings["beta"]), 1) * settings["scale"])

    real = True

    @staticmethod
    def forward(ctx: Context, x: Array, y: Array, *, beta: float, scale: float) -> Array:
        """The blocks' sums are added up in double precision."""
        ctx.save(x, y)
        ctx.given = beta, scale
        whole = activations.smooth_l1_sum(x, y, beta)
        if whole is None:
            whole = 0.0
            for a, b in _blocks(x, y):
                whole += float(np.add.reduce(_huber_forward(a - b, beta) / beta))
        return np.asarray(whole * scale, x.dtype)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """scale g (x - y) / beta, the quotient limited to [-1, 1], and minus that."""
        x, y = ctx.values
        beta, scale = ctx.given
        if isinstance(g, Tensor):
            gx = _within(x - y, beta) * (g * (scale / beta))
        else:
            factor = x.dtype.type(g * (scale / beta))
            gx = activations.smooth_l1_slopes(x, y, beta, factor)
            if gx is None:
                gx = np.clip(x - y, -beta, beta) * factor
        return gx if ctx.needs(0) else None, -gx if ctx.needs(1) else None


def _blocks(*arrays: Array) -> Iterator[list[Array]]:
    """Arrays of one size in parts of BLOCK numbers, in order."""
    flat = [array.reshape(-1) for array in arrays]
    return ([array[k:k + BLOCK] for array in flat] for k in range(0, flat[0].size, BLOCK))


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
    size = math.prod(input.shape)
    if reduction != "none" and size and input.dtype.kind == "f" and input.dtype != np.float16 and isinstance(input, Tensor):
        return SmoothL1Sum.apply(input, target, beta=float(beta), scale=1.0 if reduction == "sum" else 1 / size)
    return reduced(_smooth_l1(input - target, float(beta)), reduction)


@casts_float32
def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Any = None) -> Tensor:
    """d^2 / 2 where d = |input - target| < delta, delta (d - delta / 2) elsewhere."""
    reduction = chosen(reduction)
    input, target = broadcast_pair(input, target)
    if delta <= 0:
        raise RuntimeError(f"huber_loss does not support non-positive values for delta, got {delta}.")
    return _weighted(_huber(input - target, float(delta)), weight, reduction)



@casts_float32
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False,
                     size_average: bool | None = None, eps: float = 1e-8, reduce: bool | None = None,
                     reduction: str = "mean") -> Tensor:
    """exp(input) - target input, or input - target log(input + eps) if not log_input."""
    reduction = chosen(reduction, size_average, reduce)
    if log_input:
        finite = input if all_finite(input.array) else where((target == 0) | (input == np.inf), 0.0, input)
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
    """target (log(target) - input), input being log probabilities, target too if log_target."""
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
        losses = exp(target) * (apart if all_finite(target.array) else where(target == -np.inf, 0.0, apart))
    else:
        losses = Xlogy.apply(target) - mul(target, input if all_finite(input.array) else where(target == 0, 0.0, input))
    out = reduced(losses, reduction)
    return out / input.shape[0] if batch and input.ndim else out

__all__: list[str] = []
