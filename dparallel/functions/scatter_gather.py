"""Scatter and Gather: one place's rows cut for all, and all places' rows joined on one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd import Tensor

from ..comm import Communicator, Handle
from .collective import array_of, arrays_of, row_counts
from .partnered import Partnered


class Scatter(Partnered):
    """root's x, cut along dim -> a piece for every place: `sizes` rows each, or an even split, first ones larger.

    >>> piece = Scatter.apply(x, comm=comm, sizes=[3, 2], root=0)
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, *, comm: Communicator, sizes: Sequence[int] | None = None, root: int = 0,
                dim: int = 0) -> Any:
        """comm.scatter."""
        return ctx.function.run(ctx, (x,), comm=comm, sizes=sizes, root=root, dim=dim)

    @staticmethod
    def begin(ctx: Any, now: bool, xs: tuple[Any, ...], *, comm: Communicator, sizes: Sequence[int] | None = None,
              root: int = 0, dim: int = 0) -> Handle:
        """comm.scatter."""
        ctx.partner = {"comm": comm, "root": root, "dim": dim}
        return comm.start("scatter", array_of(*xs), now=now, sizes=sizes, root=root, dim=dim)

    @staticmethod
    def adjoint(ctx: Any) -> Any:
        """Gather."""
        return Gather, ctx.partner


class Gather(Partnered):
    """x of every place -> all of them along dim on root, an empty tensor elsewhere. 0-d ones make a vector."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, root: int = 0, dim: int = 0) -> Tensor:
        """comm.gather."""
        return ctx.function.run(ctx, xs, comm=comm, root=root, dim=dim)

    @staticmethod
    def begin(ctx: Any, now: bool, xs: tuple[Any, ...], *, comm: Communicator, root: int = 0, dim: int = 0) -> Handle:
        """comm.gather."""
        handle = comm.start("gather", arrays_of(xs), now=now, root=root, dim=dim)
        if ctx.agreed:
            ctx.partner = {"comm": comm, "sizes": row_counts(xs, comm, dim), "root": root, "dim": dim}
        return handle.then(lambda h: [h.value()])

    @staticmethod
    def adjoint(ctx: Any) -> Any:
        """Scatter."""
        return Scatter, ctx.partner
