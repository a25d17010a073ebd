"""SyncBatchNorm: batch normalisation by the statistics of all ranks' rows, or of all replicas' on local devices.

Each process sends its count, mean and sum of squared differences by channel, which are joined without cancellation (Chan,
Golub & LeVeque 1979); the backward pass sums three numbers by channel. One collective each way; counts may differ, or be 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd import Tensor, as_tensor, nn, stack
from autograd.core.engine import current_pass
from autograd.ops.nn.normalization import total, update_running

from .comm import Communicator, Devices, communicator
from .functions import Collective, as_tuple
from .sync_context import Around, around

Array = np.ndarray[Any, Any]
Weight = Callable[[], float] | None
Meet = Callable[[], object] | None


class PlacesSum(Collective):
    """x of every process -> the sum, on every one.

    weight: what this rank's loss counts in the end, as DataParallel multiplies parameters' gradients by it. A gradient that
    crosses ranks on its way there then has to be multiplied by its origin's weight, and divided by its destination's.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, *, comm: Communicator, weight: Weight = None, meet: Meet = None) -> Tensor:
        """x, one array per process -> its sum over all places, on every process: an allreduce."""
        ctx.settings = {"comm": comm, "weight": weight, "meet": meet}
        return as_tensor(comm.allreduce([x.array])[0])

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        """The weighted sum of the gradients over ranks: see weighted_sum()."""
        return weighted_sum(g, **ctx.settings)


def weighted_sum(g: Tensor, comm: Communicator, weight: Weight, meet: Meet) -> Tensor:
    """The sum of all ranks' gradients at one rank, in a backward pass: what came here counts by this rank's weight."""
    own = 1.0 if weight is None or current_pass() is None else weight()
    settings = {"weight": weight, "meet": meet}
    if meet is not None:
        meet()
    if own == 1.0:
        return PlacesSum.apply(g, comm=comm, **settings)
    there = PlacesSum.apply(g * own if own else g.new_zeros(g.shape), comm=comm, **settings)
    return there / own if own else there             # a rank that counts nothing will multiply it by 0


class Standardized(Collective):
    """x of each replica here, (n, c, ...) -> (x - mean) / sqrt(variance + eps) of each, and 1 / sqrt(variance + eps).

    The mean and variance are those by channel over the rows of all replicas on all ranks. observe(mean, variance, count)
    is told what they are. ValueError on every rank if there is one value per channel in all.
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, weight: Weight, meet: Meet, eps: float, observe: Any) -> Any:
        """One allgather of the summaries."""
        table = np.stack([summary(x.array) for x in xs])
        count, mean, squares = joined(comm.allgather([table])[0])
        if count == 1:
            raise ValueError("Expected more than 1 value per channel when training, got input size "
                             f"{list(next((x for x in xs if x.numel()), xs[0]).shape)} and no other rows on any rank")
        variance = squares / max(count, 1)
        if count:
            observe(mean, variance, count)
        dtype = xs[0].dtype
        centre, scale = mean.astype(dtype), (1 / np.sqrt(variance + eps)).astype(dtype)
        zs = [as_tensor(_standardized(x.array, centre, scale)) for x in xs]
        outputs = (*zs, as_tensor(scale))
        ctx.across, ctx.count = {"comm": comm, "weight": weight, "meet": meet}, max(count, 1)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*outputs)
        return outputs

    @staticmethod
    def backward(ctx: Any, *gs: Tensor | None) -> Any:
        """With means over all rows: (g - mean(g) - z (mean(g z) + scale * the scale's own gradient / count)) * scale."""
        *zs, scale = ctx.saved_tensors
        given = [z.new_zeros(z.shape) if g is None else g for g, z in zip(gs, zs, strict=False)]
        own = scale.new_zeros(scale.shape) if gs[-1] is None else gs[-1]
        plain = sum((_by_channel(g) for g in given), scale.new_zeros(scale.shape))
        product = sum((_by_channel(g * z) for g, z in zip(given, zs, strict=True)), scale.new_zeros(scale.shape))
        plain, product, own = weighted_sum(stack([plain, product, own]), **ctx.across) / ctx.count
        return tuple((g - _form(plain, g) - z * _form(product + scale * own, z)) * _form(scale, z)
                     for g, z in zip(given, zs, strict=True))


def summary(x: Array) -> Array:
    """How many values a channel has, then by channel their mean and their squared differences from it; float64."""
    dims = (0, *range(2, x.ndim))
    count = x.shape[0] * math.prod(x.shape[2:])
    mean = total(x, None, dims) / max(count, 1)
    apart = x - mean.astype(x.dtype)
    return np.concatenate([[count], mean.reshape(-1), total(apart, apart, dims).reshape(-1)], dtype=np.float64)


def joined(table: Array) -> tuple[float, Array, Array]:
    """The count, mean and squared differences of the rows of many summaries together."""
    counts, channels = table[:, :1], table.shape[1] // 2
    count = float(counts.sum())
    mean = (counts * table[:, 1:1 + channels]).sum(0) / max(count, 1)
    squares = (table[:, 1 + channels:] + counts * (table[:, 1:1 + channels] - mean) ** 2).sum(0)
    return count, mean, squares


def _standardized(x: Array, mean: Array, scale: Array) -> Array:
    out = x - mean.reshape(-1, *[1] * (x.ndim - 2))
    out *= scale.reshape(-1, *[1] * (x.ndim - 2))
    return out


def _form(vector: Any, like: Any) -> Any:
    """A vector by channel, to be multiplied with (n, c, ...)."""
    return vector.reshape(1, -1, *[1] * (like.ndim - 2))


def _by_channel(x: Any) -> Any:
    return x.sum((0, *range(2, x.ndim)))


class SyncBatchNorm(nn.SyncBatchNorm):
    """BatchNorm of (n, c, ...), 2 to 5 dimensions and more, over the rows of all ranks: outputs, running statistics and
    gradients of any order are those of one process that has all rows. Ranks may have other numbers of rows, or none.

    process_group: the communicator; by default that of the DataParallel around it, or else world(). In replicas on local
    devices the statistics are those of all replicas (and ranks). Evaluation, one rank alone, and a layer without running
    statistics in evaluation exchange nothing. An input that one rank can't normalise is a CollectiveError on every rank.

    >>> net = SyncBatchNorm.convert_sync_batchnorm(net)
    >>> model = DataParallel(net)
    """

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, process_group: Any = None, device: Any = None,
                 dtype: Any = None, *, bias: bool = True) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    @property
    def process_group(self) -> Any:
        """The communicator, or None. An mpi4py communicator becomes one of ours when it is set, collectively."""
        return self.__dict__.get("_group")

    @process_group.setter
    def process_group(self, group: Any) -> None:
        self.__dict__["_group"] = None if group is None else communicator(group)

    def _problem(self, input: Any) -> str:
        """Why this input can't be normalised."""
        if input.ndim < 2:
            return f"expected at least 2D input (got {input.ndim}D input)"
        if input.shape[1] != self.num_features:
            return f"SyncBatchNorm({self.num_features}): the input has {input.shape[1]} channels, shape {list(input.shape)}"
        if input.shape[1] == 0:
            return "SyncBatchNorm number of input channels should be non-zero"
        return "" if input.dtype.kind in "fV" else f"SyncBatchNorm: the input is {input.dtype}; cast it to floating point"

    def _check_input_dim(self, input: Any) -> None:
        """Nothing yet: normalize() knows whether other ranks have to be told."""

    def normalize(self, input: Any, running_mean: Any, running_var: Any, use_batch: bool, factor: float) -> Any:
        """By the statistics of all ranks, while training."""
        where = self._where() if use_batch and self.training else Around()
        comm = where.comm if where.comm is not None and len(where.comm.held) == 1 else Devices(1)
        problem = self._problem(input)
        if problem and comm.size > 1:
            comm.refuse(problem)
        elif problem:
            raise ValueError(problem)
        if comm.size == 1 and where.replicas is None:
            return super().normalize(input, running_mean, running_var, use_batch, factor)

        def observe(mean: Array, variance: Array, count: float) -> None:
            update_running(running_mean, mean, factor)
            update_running(running_var, variance * (count / (count - 1)), factor)

        wide = input.float() if input.dtype.itemsize == 2 else input
        settings: dict[str, Any] = {"comm": comm, "weight": where.weight, "meet": where.meet, "eps": self.eps}
        if where.meet is not None:
            where.meet()
        if where.replicas is None:
            z = as_tuple(Standardized.apply(wide, observe=observe, **settings))[0]
        else:
            z = where.replicas.together((wide, observe), lambda items: _for_all(items, settings),
                                        f"SyncBatchNorm({self.num_features})")
        return self._scaled(z).to(input.dtype)

    def _scaled(self, z: Any) -> Any:
        """z * weight + bias."""
        if self.weight is not None:
            z = z * _form(self.weight, z)
        return z if self.bias is None else z + _form(self.bias, z)

    def _where(self) -> Around:
        """The ranks and replicas that take part. What checkpoint() runs again, in backward, runs where it ran before."""
        where = around()
        if where == Around() and current_pass() is not None:
            where = self.__dict__.get("_last", where)
            if where.replicas is not None:
                raise NotImplementedError("SyncBatchNorm inside checkpoint() on local devices: replicas can't meet again in "
                                          "the backward pass; leave the layer out of the checkpoint")
        self.__dict__["_last"] = where
        return where._replace(comm=communicator(self.process_group or where.comm))

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: where it ran last is not theirs."""
        return {name: value for name, value in self.__dict__.items() if name != "_last"}


def _for_all(items: Sequence[tuple[Any, Any]], settings: dict[str, Any]) -> list[Any]:
    """The standardized inputs of all replicas."""
    def observe(*found: Any) -> None:
        for _, one in items:
            one(*found)

    return list(Standardized.apply(*[x for x, _ in items], observe=observe, **settings)[:-1])


convert_sync_batchnorm = SyncBatchNorm.convert_sync_batchnorm

__all__ = ["SyncBatchNorm", "convert_sync_batchnorm"]
