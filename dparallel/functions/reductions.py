"""AllReduce, ReduceScatter and what all reductions share; and AllGather, the partner of one, and in the derivative of all.

A reduction y = op(x_0, ..., x_n) is followed elementwise by the slopes dy/dx_p:

    sum     1                       prod    the product of the other places' x, zeros among them or not
    mean    1 / n                   max, min  1 where x_p is the one; ties="split": 1/k where k places tie for it,
                                            ties="first": 1 on the first of them, 0 on the others

Its backward is that of the sum, times the slope (conjugate, where complex). Products can be differentiated again, and
again; max and min have a second derivative of zero, almost everywhere.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd import Tensor, as_tensor, ones_like

from ..comm import Communicator, Handle
from .collective import arrays_of, as_tuple, row_counts
from .partnered import Partnered


class AllGather(Partnered):
    """x of every place -> all of them along dim on every place. 0-d ones make a vector."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, dim: int = 0) -> Any:
        """comm.allgather."""
        return ctx.function.run(ctx, xs, comm=comm, dim=dim)

    @staticmethod
    def begin(ctx: Any, now: bool, xs: tuple[Any, ...], *, comm: Communicator, dim: int = 0) -> Handle:
        """comm.allgather."""
        handle = comm.start("allgather", arrays_of(xs), now=now, dim=dim)
        if ctx.agreed:
            ctx.partner = {"comm": comm, "sizes": row_counts(xs, comm, dim), "dim": dim}
        return handle

    @staticmethod
    def adjoint(ctx: Any) -> Any:
        """ReduceScatter."""
        return ReduceScatter, ctx.partner


class Reduction(Partnered):
    """The base of AllReduce, Reduce and ReduceScatter: op is "sum", "mean" (or "avg"), "prod", "max" or "min".

    ties says who gets the gradient of a max or min that several places have: "split" (all of them, equal shares: the
    default) or "first" (the first place). op and ties are the same on all places; CollectiveError if not.
    """

    @staticmethod
    def combine(ctx: Any, name: str, now: bool, xs: tuple[Any, ...], comm: Communicator, op: str, ties: str,
                **where: Any) -> Handle:
        """Begin the reduction `name`."""
        handle = comm.start(name, arrays_of(xs), now=now, op=op, ties=ties, **where)
        ctx.op = "mean" if op == "avg" else op
        if ctx.agreed and ctx.op in ("prod", "max", "min"):
            ctx.save_for_backward(*[x if isinstance(x, Tensor) else as_tensor(x) for x in xs])
        return handle

    @staticmethod
    def finish(ctx: Any, grads: Any) -> Any:
        """Times the slopes."""
        if ctx.op == "sum":
            return grads
        if ctx.op == "mean":
            return tuple(g / ctx.settings["comm"].size for g in as_tuple(grads))
        return tuple(g * (s.conj() if s.dtype.kind == "c" else s)
                     for g, s in zip(as_tuple(grads), slopes(ctx), strict=True))

    @classmethod
    def push(cls, ctx: Any, tangents: tuple[Any, ...]) -> Any:
        """The sum of slopes times tangents."""
        if ctx.op in ("sum", "mean"):
            return cls, tangents, ctx.settings
        inputs = tuple(s * t for s, t in zip(slopes(ctx), tangents, strict=True))
        return cls, inputs, {**ctx.settings, "op": "sum"}


def slopes(ctx: Any) -> list[Tensor]:
    """dy/dx for each place held here, of a prod, max or min; called on all ranks."""
    comm, xs = ctx.settings["comm"], ctx.saved_tensors
    if ctx.op == "prod":
        return _products_of_others(xs, comm)
    return [as_tensor(s) for s in _winners([x.array for x in xs], comm, ctx.op, ctx.settings.get("ties", "split"))]


def _products_of_others(xs: Sequence[Tensor], comm: Communicator) -> list[Tensor]:
    """For each place held the product of all other places' x; made of all places' x, so that zeros do no harm."""
    if comm.size == 1:
        return [ones_like(x) for x in xs]
    everyone = as_tuple(AllGather.apply(*[x.reshape(1, *x.shape) for x in xs], comm=comm))
    return [functools.reduce(operator.mul, [every[other] for other in range(comm.size) if other != place])
            for place, every in zip(comm.held, everyone, strict=True)]


def _winners(xs: list[Any], comm: Communicator, op: str, ties: str) -> list[Any]:
    """For each place held how much of the max or min is its own: 1 or 0, or a share where places tie. nan wins."""
    best = comm.allreduce(xs, op)
    mine = [(x == y) | (np.isnan(x) & np.isnan(y)) for x, y in zip(xs, best, strict=True)]
    if ties == "split":
        counts = comm.allreduce([m.astype(np.int64) for m in mine])
        return [np.asarray(m / n, x.dtype) for m, n, x in zip(mine, counts, xs, strict=True)]
    firsts = comm.allreduce([np.where(m, place, comm.size) for m, place in zip(mine, comm.held, strict=True)], "min")
    return [np.asarray(first == place, x.dtype) for first, place, x in zip(firsts, comm.held, xs, strict=True)]


class AllReduce(Reduction):
    """x of every place -> their sum (or `op`, see Reduction) on every place.

    >>> total = AllReduce.apply(x, comm=comm)
    >>> largest = AllReduce.apply(x, comm=comm, op="max")
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, op: str = "sum", ties: str = "split") -> Any:
        """comm.allreduce."""
        return ctx.function.run(ctx, xs, comm=comm, op=op, ties=ties)

    @staticmethod
    def begin(ctx: Any, now: bool, xs: tuple[Any, ...], *, comm: Communicator, op: str = "sum",
              ties: str = "split") -> Handle:
        """comm.allreduce."""
        return Reduction.combine(ctx, "allreduce", now, xs, comm, op, ties)

    @staticmethod
    def adjoint(ctx: Any) -> Any:
        """AllReduce."""
        return AllReduce, {"comm": ctx.settings["comm"]}


class ReduceScatter(Reduction):
    """x of every place -> their sum (or `op`, see Reduction), cut along dim, a piece for every place: `sizes` rows each,
    or an even split, first ones larger."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, sizes: Sequence[int] | None = None, dim: int = 0,
                op: str = "sum", ties: str = "split") -> Any:
        """comm.reduce_scatter."""
        return ctx.function.run(ctx, xs, comm=comm, sizes=sizes, dim=dim, op=op, ties=ties)

    @staticmethod
    def begin(ctx: Any, now: bool, xs: tuple[Any, ...], *, comm: Communicator, sizes: Sequence[int] | None = None,
              dim: int = 0, op: str = "sum", ties: str = "split") -> Handle:
        """comm.reduce_scatter."""
        ctx.partner = {"comm": comm, "dim": dim}
        return Reduction.combine(ctx, "reduce_scatter", now, xs, comm, op, ties, sizes=sizes, dim=dim)

    @staticmethod
    def adjoint(ctx: Any) -> Any:
        """AllGather."""
        return AllGather, ctx.partner
