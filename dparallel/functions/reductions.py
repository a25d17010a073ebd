"""Reduction, the base class of reductions; AllReduce, ReduceScatter, and AllGather, which the derivatives of reductions use.

The slopes dy/dx_r of a reduction y = op(x_0, ..., x_n), elementwise:

    sum     1                       prod    the product of the other ranks' x, with or without zeros among them
    mean    1 / n                   max, min  1 where x_r is the extremum; ties="split": 1/k where k ranks tie for it,
                                            ties="first": 1 on the first of them, 0 on the others

The backward is that of the sum, times the slope (conjugated, if complex). Products can be differentiated repeatedly; max and
min have a second derivative of zero almost everywhere.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..autograd import Tensor, as_tensor, ones_like
from ..comm import Communicator, Handle
from ..comm.base import Array
from .collective import PerRank, arrays_of, as_tuple, row_counts
from .partnered import Issue, Partner, Partnered


class AllGather(Partnered):
    """Concatenate every rank's x along dim, on every rank. 0-d tensors become one vector."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, dim: int = 0) -> PerRank:
        """One tensor per local rank, (rows_r, ...) along dim -> (sum of rows, ...) for each local rank."""
        return ctx.function.issue_blocking(ctx, xs, comm=comm, dim=dim)

    @staticmethod
    def issue(ctx: Any, blocking: bool, xs: tuple[Any, ...], *, comm: Communicator, dim: int = 0) -> Handle:
        """Issue comm's allgather; if recorded, exchange the row counts that the adjoint needs."""
        handle = comm.issue("allgather", arrays_of(xs), blocking=blocking, dim=dim)
        if ctx.agreed:
            ctx.partner = {"comm": comm, "sizes": row_counts(xs, comm, dim), "dim": dim}
        return handle

    @staticmethod
    def adjoint(ctx: Any) -> Partner:
        """ReduceScatter with every rank's number of rows."""
        return ReduceScatter, ctx.partner


class Reduction(Partnered):
    """Base of AllReduce, Reduce and ReduceScatter."""

    @staticmethod
    def combine(ctx: Any, name: str, blocking: bool, xs: tuple[Any, ...], comm: Communicator, op: str, ties: str,
                **settings: Any) -> Handle:
        """Issue the reduction `name`; save the inputs if its slopes depend on them (prod, max, min)."""
        handle = comm.issue(name, arrays_of(xs), blocking=blocking, op=op, ties=ties, **settings)
        ctx.op = "mean" if op == "avg" else op
        if ctx.agreed and ctx.op in ("prod", "max", "min"):
            ctx.save_for_backward(*[x if isinstance(x, Tensor) else as_tensor(x) for x in xs])
        return handle

    @staticmethod
    def finish(ctx: Any, grads: PerRank) -> PerRank:
        """The inputs' gradients: the adjoint of the sum times the slopes dy/dx (conjugated)."""
        if ctx.op == "sum":
            return grads
        if ctx.op == "mean":
            return tuple(g / ctx.settings["comm"].size for g in as_tuple(grads))
        return tuple(g * (s.conj() if s.dtype.kind == "c" else s)
                     for g, s in zip(as_tuple(grads), slopes(ctx), strict=True))

    @classmethod
    def tangent_collective(cls, ctx: Any, tangents: tuple[Any, ...]) -> Issue:
        """The collective of the tangents: the sum over ranks of slope times tangent."""
        if ctx.op in ("sum", "mean"):
            return cls, tangents, ctx.settings
        inputs = tuple(s * t for s, t in zip(slopes(ctx), tangents, strict=True))
        return cls, inputs, {**ctx.settings, "op": "sum"}


def slopes(ctx: Any) -> list[Tensor]:
    """dy/dx of a prod, max or min for each local rank. Collective: called on all ranks."""
    comm, xs = ctx.settings["comm"], ctx.saved_tensors
    if ctx.op == "prod":
        return _products_of_others(xs, comm)
    return [as_tensor(s) for s in _extremum_shares([x.array for x in xs], comm, ctx.op, ctx.settings.get("ties", "split"))]


def _products_of_others(xs: Sequence[Tensor], comm: Communicator) -> list[Tensor]:
    """For each local rank the product of all other ranks' x (not the total over x, which would divide by zero)."""
    if comm.size == 1:
        return [ones_like(x) for x in xs]
    gathered = as_tuple(AllGather.apply(*[x.reshape(1, *x.shape) for x in xs], comm=comm))
    return [functools.reduce(operator.mul, [x[other] for other in range(comm.size) if other != rank])
            for rank, x in zip(comm.held, gathered, strict=True)]


def _extremum_shares(xs: list[Array], comm: Communicator, op: str, ties: str) -> list[Array]:
    """For each local rank its share of the max or min: 1 or 0, or a fraction where ranks tie. nan is the max and the min."""
    extrema = comm.allreduce(xs, op)
    attained = [(x == y) | (np.isnan(x) & np.isnan(y)) for x, y in zip(xs, extrema, strict=True)]
    if ties == "split":
        counts = comm.allreduce([m.astype(np.int64) for m in attained])
        return [np.asarray(m / n, x.dtype) for m, n, x in zip(attained, counts, xs, strict=True)]
    firsts = comm.allreduce([np.where(m, rank, comm.size) for m, rank in zip(attained, comm.held, strict=True)], "min")
    return [np.asarray(first == rank, x.dtype) for first, rank, x in zip(firsts, comm.held, xs, strict=True)]


class AllReduce(Reduction):
    """Reduce every rank's x, with the result on every rank."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, op: str = "sum", ties: str = "split") -> PerRank:
        """One tensor per local rank, all of one shape -> their reduction, a copy for each local rank."""
        return ctx.function.issue_blocking(ctx, xs, comm=comm, op=op, ties=ties)

    @staticmethod
    def issue(ctx: Any, blocking: bool, xs: tuple[Any, ...], *, comm: Communicator, op: str = "sum",
              ties: str = "split") -> Handle:
        """Issue comm's allreduce."""
        return Reduction.combine(ctx, "allreduce", blocking, xs, comm, op, ties)

    @staticmethod
    def adjoint(ctx: Any) -> Partner:
        """AllReduce with op="sum" for every op: finish() multiplies by the slopes."""
        return AllReduce, {"comm": ctx.settings["comm"]}


class ReduceScatter(Reduction):
    """Reduce every rank's x and split the result along dim: rank r gets sizes[r] rows."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, sizes: Sequence[int] | None = None, dim: int = 0,
                op: str = "sum", ties: str = "split") -> PerRank:
        """One tensor per local rank, all of one shape (rows, ...) -> (sizes[r], ...) for each local rank r."""
        return ctx.function.issue_blocking(ctx, xs, comm=comm, sizes=sizes, dim=dim, op=op, ties=ties)

    @staticmethod
    def issue(ctx: Any, blocking: bool, xs: tuple[Any, ...], *, comm: Communicator, sizes: Sequence[int] | None = None,
              dim: int = 0, op: str = "sum", ties: str = "split") -> Handle:
        """Issue comm's reduce_scatter."""
        ctx.partner = {"comm": comm, "dim": dim}
        return Reduction.combine(ctx, "reduce_scatter", blocking, xs, comm, op, ties, sizes=sizes, dim=dim)

    @staticmethod
    def adjoint(ctx: Any) -> Partner:
        """AllGather along the same dimension."""
        return AllGather, ctx.partner
