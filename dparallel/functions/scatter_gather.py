"""Scatter splits one rank's rows across all ranks; Gather concatenates all ranks' rows on one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autograd import Tensor
from ..comm import Communicator, Handle
from .collective import PerRank, array_of, arrays_of, row_counts
from .partnered import Partner, Partnered


class Scatter(Partnered):
    """Split root's x along dim across ranks: rank r gets sizes[r] rows."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *, comm: Communicator, sizes: Sequence[int] | None = None, root: int = 0,
                dim: int = 0) -> PerRank:
        """root's x (rows, ...) along dim -> (sizes[r], ...) for each local rank r. Other ranks pass None or any tensor."""
        return ctx.function.issue_blocking(ctx, (x,), comm=comm, sizes=sizes, root=root, dim=dim)

    @staticmethod
    def issue(ctx: Any, blocking: bool, xs: tuple[Any, ...], *, comm: Communicator, sizes: Sequence[int] | None = None,
              root: int = 0, dim: int = 0) -> Handle:
        """Issue comm's scatter."""
        ctx.partner = {"comm": comm, "root": root, "dim": dim}
        return comm.issue("scatter", array_of(*xs), blocking=blocking, sizes=sizes, root=root, dim=dim)

    @staticmethod
    def adjoint(ctx: Any) -> Partner:
        """Gather to the same root."""
        return Gather, ctx.partner


class Gather(Partnered):
    """Concatenate every rank's x along dim on root; other ranks get an empty tensor. 0-d tensors become one vector."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, root: int = 0, dim: int = 0) -> Tensor:
        """One tensor per local rank, (rows_r, ...) along dim -> (sum of rows, ...) on root, shape (0,) elsewhere."""
        return ctx.function.issue_blocking(ctx, xs, comm=comm, root=root, dim=dim)

    @staticmethod
    def issue(ctx: Any, blocking: bool, xs: tuple[Any, ...], *, comm: Communicator, root: int = 0, dim: int = 0) -> Handle:
        """Issue comm's gather; if recorded, exchange the row counts that the adjoint needs."""
        handle = comm.issue("gather", arrays_of(xs), blocking=blocking, root=root, dim=dim)
        if ctx.agreed:
            ctx.partner = {"comm": comm, "sizes": row_counts(xs, comm, dim), "root": root, "dim": dim}
        return handle.then(lambda h: [h.value()])

    @staticmethod
    def adjoint(ctx: Any) -> Partner:
        """Scatter from the same root with every rank's number of rows."""
        return Scatter, ctx.partner
