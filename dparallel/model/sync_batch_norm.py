"""The statistics of autograd.nn.SyncBatchNorm: those of all ranks' rows, or of all replicas' on local devices.

In forward each process sends the count, mean and sum of squared differences of each channel in one allgather; they are
combined without cancellation (Chan, Golub & LeVeque 1979). Backward is one allreduce of three numbers per channel. Ranks may
have different numbers of rows, including 0. sync_context.py defines the ranks and replicas over which a layer synchronizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd.core.engine import current_pass
from autograd.nn import SyncBatchNorm
from autograd.ops.nn.normalization import total, update_running

from ..autograd import Tensor, as_tensor, stack
from ..comm import Communicator, Devices, communicator
from ..functions import Collective, as_tuple
from ..replicas.sync_context import BeforeCollective, LossWeight, SyncContext, current_context

Array = np.ndarray[Any, Any]
Observe = Callable[[Array, Array, float], None]      # mean, variance, count


class WeightedAllReduce(Collective):
    """x of every process -> the sum, on every process.

    weight: of this rank's loss. DataParallel multiplies the parameters' gradients by it after backward. A gradient that
    crosses ranks before that is therefore multiplied by its source's weight, and divided by its destination's.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, *, comm: Communicator, weight: LossWeight | None = None,
                before_collective: BeforeCollective | None = None) -> Tensor:
        """x, one array per process -> its sum over all ranks, on every process: an allreduce."""
        ctx.settings = {"comm": comm, "weight": weight, "before_collective": before_collective}
        return as_tensor(comm.allreduce([x.array])[0])

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        """The weighted sum of the gradients over ranks: see weighted_sum()."""
        return weighted_sum(g, **ctx.settings)


def weighted_sum(g: Tensor, comm: Communicator, weight: LossWeight | None,
                 before_collective: BeforeCollective | None) -> Tensor:
    """In a backward pass, the sum over ranks of gradient times weight, divided by this rank's weight. Outside one, the
    sum."""
    w = 1.0 if weight is None or current_pass() is None else weight()
    settings = {"weight": weight, "before_collective": before_collective}
    if before_collective is not None:
        before_collective()
    if w == 1.0:
        return WeightedAllReduce.apply(g, comm=comm, **settings)
    total = WeightedAllReduce.apply(g * w if w else g.new_zeros(g.shape), comm=comm, **settings)
    return total / w if w else total                 # DataParallel multiplies the gradients of a rank of weight 0 by 0


class Standardized(Collective):
    """x of each local replica, (n, c, ...) -> (x - mean) / sqrt(variance + eps) of each, and 1 / sqrt(variance + eps).

    The mean and variance of each channel are those over the rows of all replicas on all ranks, and are passed to
    observe(mean, variance, count). ValueError on every rank if a channel has one value in total.
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, weight: LossWeight | None,
                before_collective: BeforeCollective | None, eps: float, observe: Observe) -> tuple[Tensor, ...]:
        """One allgather of channel_statistics()."""
        table = np.stack([channel_statistics(x.array) for x in xs])
        count, mean, squares = combined_statistics(comm.allgather([table])[0])
        if count == 1:
            raise ValueError("Expected more than 1 value per channel when training, got input size "
                             f"{list(next((x for x in xs if x.numel()), xs[0]).shape)} and no other rows on any rank")
        variance = squares / max(count, 1)
        if count:
            observe(mean, variance, count)
        dtype = xs[0].array.dtype
        mean, scale = mean.astype(dtype), (1 / np.sqrt(variance + eps)).astype(dtype)
        zs = [as_tensor(_standardized(x.array, mean, scale)) for x in xs]
        outputs = (*zs, as_tensor(scale))
        ctx.settings, ctx.count = {"comm": comm, "weight": weight, "before_collective": before_collective}, max(count, 1)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*outputs)
        return outputs

    @staticmethod
    def backward(ctx: Any, *gs: Tensor | None) -> tuple[Tensor, ...]:
        """With means over all rows, (g - mean(g) - z (mean(g z) + scale * g_scale / count)) * scale."""
        *zs, scale = ctx.saved_tensors
        z_grads = [z.new_zeros(z.shape) if g is None else g for g, z in zip(gs, zs, strict=False)]
        g_scale = scale.new_zeros(scale.shape) if gs[-1] is None else gs[-1]
        g_sum = sum((_channel_sums(g) for g in z_grads), scale.new_zeros(scale.shape))
        gz_sum = sum((_channel_sums(g * z) for g, z in zip(z_grads, zs, strict=True)), scale.new_zeros(scale.shape))
        g_mean, gz_mean, scale_mean = weighted_sum(stack([g_sum, gz_sum, g_scale]), **ctx.settings) / ctx.count
        slope = gz_mean + scale * scale_mean
        return tuple((g - _per_channel(g_mean, g) - z * _per_channel(slope, z)) * _per_channel(scale, z)
                     for g, z in zip(z_grads, zs, strict=True))


def channel_statistics(x: Array) -> Array:
    """One float64 vector: the number of values in a channel, the channels' means, and their sums of squared differences."""
    dims = (0, *range(2, x.ndim))
    count = x.shape[0] * math.prod(x.shape[2:])
    mean = total(x, None, dims) / max(count, 1)
    difference = x - mean.astype(x.dtype)
    return np.concatenate([[count], mean.reshape(-1), total(difference, difference, dims).reshape(-1)], dtype=np.float64)


def combined_statistics(table: Array) -> tuple[float, Array, Array]:
    """The count, means and sums of squared differences of all rows, from a table with channel_statistics() in each row."""
    counts, channels = table[:, :1], table.shape[1] // 2
    count = float(counts.sum())
    mean = (counts * table[:, 1:1 + channels]).sum(0) / max(count, 1)
    squares = (table[:, 1 + channels:] + counts * (table[:, 1:1 + channels] - mean) ** 2).sum(0)
    return count, mean, squares


def _standardized(x: Array, mean: Array, scale: Array) -> Array:
    out = x - mean.reshape(-1, *[1] * (x.ndim - 2))
    out *= scale.reshape(-1, *[1] * (x.ndim - 2))
    return out


def _per_channel(vector: Tensor, like: Tensor) -> Tensor:
    """A vector with one number per channel, reshaped to broadcast with (n, c, ...)."""
    return vector.reshape(1, -1, *[1] * (like.ndim - 2))


def _channel_sums(x: Tensor) -> Tensor:
    """The sum of each channel of (n, c, ...)."""
    return x.sum((0, *range(2, x.ndim)))


def normalized(layer: SyncBatchNorm, input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, use_batch: bool,
               factor: float) -> Tensor | None:
    """The output of a SyncBatchNorm, which updates the running statistics with weight `factor`. None where there is only
    this rank: the layer then normalizes as BatchNorm does.
    """
    context = _sync_context(layer) if use_batch and layer.training else SyncContext()
    comm = context.comm if context.comm is not None and len(context.comm.held) == 1 else Devices(1)
    problem = _problem(layer, input)
    if problem and comm.size > 1:
        comm.refuse(problem)
    elif problem:
        raise ValueError(problem)
    if comm.size == 1 and context.replica is None:
        return None

    def observe(mean: Array, variance: Array, count: float) -> None:
        update_running(running_mean, mean, factor)
        update_running(running_var, variance * (count / (count - 1)), factor)

    wide = input.float() if input.dtype.itemsize == 2 else input
    settings: dict[str, Any] = {"comm": comm, "weight": context.weight,
                                "before_collective": context.before_collective, "eps": layer.eps}
    if context.before_collective is not None:
        context.before_collective()
    if context.replica is None:
        z = as_tuple(Standardized.apply(wide, observe=observe, **settings))[0]
    else:
        z = context.replica.call_once((wide, observe), lambda items: _standardize_all(items, settings),
                                      f"SyncBatchNorm({layer.num_features})")
    if layer.weight is not None:
        z = z * _per_channel(layer.weight, z)
    if layer.bias is not None:
        z = z + _per_channel(layer.bias, z)
    return z.to(input.dtype)                         # type: ignore[no-any-return]


def _problem(layer: SyncBatchNorm, input: Tensor) -> str:
    """Why this input can't be normalized; "" if it can."""
    if input.ndim < 2:
        return f"expected at least 2D input (got {input.ndim}D input)"
    if input.shape[1] != layer.num_features:
        return f"SyncBatchNorm({layer.num_features}): the input has {input.shape[1]} channels, shape {list(input.shape)}"
    if input.shape[1] == 0:
        return "SyncBatchNorm number of input channels should be non-zero"
    return "" if input.dtype.kind in "fV" else f"SyncBatchNorm: the input is {input.dtype}; cast it to floating point"


def _sync_context(layer: SyncBatchNorm) -> SyncContext:
    """The ranks and replicas that take part. A forward that checkpoint() repeats in backward uses that of the first."""
    context = current_context()
    if context == SyncContext() and current_pass() is not None:
        context = layer.__dict__.get("_last_context", context)
        if context.replica is not None:
            raise NotImplementedError("SyncBatchNorm inside checkpoint() on local devices: replicas can't synchronize again "
                                      "in the backward pass; exclude the layer from the checkpoint")
    layer.__dict__["_last_context"] = context
    return context._replace(comm=communicator(layer.process_group or context.comm))


def _standardize_all(items: Sequence[tuple[Tensor, Observe]], settings: dict[str, Any]) -> list[Tensor]:
    """The standardized inputs of all replicas. items: each replica's input, and its function that receives the
    statistics.
    """
    def observe(mean: Array, variance: Array, count: float) -> None:
        for _, replica_observes in items:
            replica_observes(mean, variance, count)

    return list(Standardized.apply(*[x for x, _ in items], observe=observe, **settings)[:-1])


convert_sync_batchnorm = SyncBatchNorm.convert_sync_batchnorm
