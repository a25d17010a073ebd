"""Reduction, the base class of reductions; AllReduce, ReduceScatter, and AllGather, which the derivatives of reductions use.

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

from ..autograd import Tensor, as_tensor, ones_like
from ..comm import Communicator, Handle
from ..comm.base import Array
from .collective import PerPlace, arrays_of, as_tuple, row_counts
from .partnered import Issue, Partner, Partnered


class AllGather(Partnered):
    """x of every place -> all of them concatenated along dim on every place. 0-d tensors become one vector.

    Args:
        *xs (Tensor): One for each held place, of one dtype; shapes may differ along dim only.
        comm (Communicator): Of the places that take part. Default: world().
        dim (int): The dimension of rows. Default: 0.

    Raises:
        CollectiveError: shapes beyond dim, dtypes or dim differ, or dim is out of range; on all places.

    Example:
        >>> import dparallel
        >>> dparallel.AllGather.apply(ag.tensor([1.0]), ag.tensor([2.0, 3.0]), comm=dparallel.Devices(2))[0]
        tensor([1., 2., 3.])
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, dim: int = 0) -> PerPlace:
        """One tensor per held place, (rows_p, ...) along dim -> (sum of rows, ...) for each held place."""
        return ctx.function.issue_blocking(ctx, xs, comm=comm, dim=dim)

    @staticmethod
    def issue(ctx: Any, blocking: bool, xs: tuple[Any, ...], *, comm: Communicator, dim: int = 0) -> Handle:
        """Issue comm's allgather; if recorded, exchange the row counts that the adjoint cuts by."""
        handle = comm.issue("allgather", arrays_of(xs), blocking=blocking, dim=dim)
        if ctx.agreed:
            ctx.partner = {"comm": comm, "sizes": row_counts(xs, comm, dim), "dim": dim}
        return handle

    @staticmethod
    def adjoint(ctx: Any) -> Partner:
        """ReduceScatter with every place's number of rows."""
        return ReduceScatter, ctx.partner


class Reduction(Partnered):
    """Base of AllReduce, Reduce and ReduceScatter: op is "sum", "mean" (or "avg"), "prod", "max" or "min".

    ties says which places get the gradient of a max or min that several places attain: "split" (all of them, in equal
    shares; the default) or "first" (the first of them). CollectiveError unless op and ties are the same on all places.

    Args:
        *xs (Tensor): One for each held place, all of one shape and dtype.
        comm (Communicator): Of the places that take part. Default: world().
        op (str): "sum", "mean" (or "avg"), "prod", "max" or "min". Default: "sum".
        ties (str): Where places tie for a max or min: "split" or "first", see Reduction. Default: "split".

    Raises:
        CollectiveError: op or ties is unknown or differs, or shapes or dtypes differ; on all places.

    Example:
        >>> import dparallel
        >>> x, y = ag.ones(1, requires_grad=True), ag.ones(1, requires_grad=True)
        >>> dparallel.Reduce.apply(x, y, comm=dparallel.Devices(2), op="max", ties="first").sum().backward()
        >>> x.grad, y.grad
        (tensor([1.]), tensor([0.]))
    """

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
    def finish(ctx: Any, grads: PerPlace) -> PerPlace:
        """The inputs' gradients: the adjoint of the sum times the slopes dy/dx (conjugated)."""
        if ctx.op == "sum":
            return grads
        if ctx.op == "mean":
            return tuple(g / ctx.settings["comm"].size for g in as_tuple(grads))
        return tuple(g * (s.conj() if s.dtype.kind == "c" else s)
                     for g, s in zip(as_tuple(grads), slopes(ctx), strict=True))

    @classmethod
    def tangent_collective(cls, ctx: Any, tangents: tuple[Any, ...]) -> Issue:
        """The collective of the tangents: the sum over places of slope times tangent."""
        if ctx.op in ("sum", "mean"):
            return cls, tangents, ctx.settings
        inputs = tuple(s * t for s, t in zip(slopes(ctx), tangents, strict=True))
        return cls, inputs, {**ctx.settings, "op": "sum"}


def slopes(ctx: Any) -> list[Tensor]:
    """dy/dx of a prod, max or min for each held place. Collective: called on all ranks."""
    comm, xs = ctx.settings["comm"], ctx.saved_tensors
    if ctx.op == "prod":
        return _products_of_others(xs, comm)
    return [as_tensor(s) for s in _extremum_shares([x.array for x in xs], comm, ctx.op, ctx.settings.get("ties", "split"))]


def _products_of_others(xs: Sequence[Tensor], comm: Communicator) -> list[Tensor]:
    """For each held place the product of all other places' x (not the total over x, which would divide by zero)."""
    if comm.size == 1:
        return [ones_like(x) for x in xs]
    gathered = as_tuple(AllGather.apply(*[x.reshape(1, *x.shape) for x in xs], comm=comm))
    return [functools.reduce(operator.mul, [x[other] for other in range(comm.size) if other != place])
            for place, x in zip(comm.held, gathered, strict=True)]


def _extremum_shares(xs: list[Array], comm: Communicator, op: str, ties: str) -> list[Array]:
    """For each held place its share of the max or min: 1 or 0, or a fraction where places tie. nan is the max and the
    min."""
    extrema = comm.allreduce(xs, op)
    attained = [(x == y) | (np.isnan(x) & np.isnan(y)) for x, y in zip(xs, extrema, strict=True)]
    if ties == "split":
        counts = comm.allreduce([m.astype(np.int64) for m in attained])
        return [np.asarray(m / n, x.dtype) for m, n, x in zip(attained, counts, xs, strict=True)]
    firsts = comm.allreduce([np.where(m, place, comm.size) for m, place in zip(attained, comm.held, strict=True)], "min")
    return [np.asarray(first == place, x.dtype) for first, place, x in zip(firsts, comm.held, xs, strict=True)]


class AllReduce(Reduction):
    """x of every place -> their sum (or `op`, see Reduction) on every place.

    Args:
        *xs (Tensor): One for each held place, all of one shape and dtype.
        comm (Communicator): Of the places that take part. Default: world().
        op (str): "sum", "mean" (or "avg"), "prod", "max" or "min". Default: "sum".
        ties (str): Where places tie for a max or min: "split" or "first", see Reduction. Default: "split".

    Raises:
        CollectiveError: op or ties is unknown or differs, or shapes or dtypes differ; on all places.

    Example:
        >>> import dparallel
        >>> comm = dparallel.Devices(2)
        >>> x, y = ag.tensor([1.0]).requires_grad_(), ag.tensor([2.0]).requires_grad_()
        >>> dparallel.AllReduce.apply(x, y, comm=comm)
        (tensor([3.], grad_fn=<AllReduceBackward>), tensor([3.], grad_fn=<AllReduceBackward>))
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, op: str = "sum", ties: str = "split") -> PerPlace:
        """One tensor per held place, all of one shape -> their combination, a copy for each held place."""
        return ctx.function.issue_blocking(ctx, xs, comm=comm, op=op, ties=ties)

    @staticmethod
    def issue(ctx: Any, blocking: bool, xs: tuple[Any, ...], *, comm: Communicator, op: str = "sum",
              ties: str = "split") -> Handle:
        """Issue comm's allreduce."""
        return Reduction.combine(ctx, "allreduce", blocking, xs, comm, op, ties)

    @staticmethod
    def adjoint(ctx: Any) -> Partner:
        """AllReduce, a sum whatever the op: finish() multiplies by the slopes."""
        return AllReduce, {"comm": ctx.settings["comm"]}


class ReduceScatter(Reduction):
    """x of every place -> their sum (or `op`, see Reduction), cut along dim: place p gets sizes[p] rows.

    Without sizes the split is even, with the larger pieces first.

    Args:
        *xs (Tensor): One for each held place, all of one shape and dtype.
        comm (Communicator): Of the places that take part. Default: world().
        sizes (list of int): Rows for each place, the same on all; None: an even split. Default: None.
        dim (int): The dimension that is cut. Default: 0.
        op (str): "sum", "mean" (or "avg"), "prod", "max" or "min". Default: "sum".
        ties (str): Where places tie for a max or min: "split" or "first", see Reduction. Default: "split".

    Raises:
        CollectiveError: sizes do not add up to the rows, dim is out of range, op or ties is unknown, or the places differ in
            them; on all places.

    Example:
        >>> import dparallel
        >>> dparallel.ReduceScatter.apply(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]), comm=dparallel.Devices(2))
        (tensor([4.]), tensor([6.]))
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, sizes: Sequence[int] | None = None, dim: int = 0,
                op: str = "sum", ties: str = "split") -> PerPlace:
        """One tensor per held place, all of one shape (rows, ...) -> (sizes[p], ...) for each held place p."""
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
