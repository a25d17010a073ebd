"""Scatter and Gather: one place's rows cut for all, and all places' rows joined on one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd import Tensor, as_tensor

from ..comm import Communicator
from .collective import Collective, moved, one_per_place, rows_first, shaped


class Scatter(Collective):
    """root's x, cut along dim -> a piece for every place: `sizes` rows each, or an even split, first ones larger.

    >>> piece = Scatter.apply(x, comm=comm, sizes=[3, 2], root=0)
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, *, comm: Communicator, sizes: Sequence[int] | None = None, root: int = 0,
                dim: int = 0) -> Any:
        """comm.scatter."""
        ctx.settings, ctx.shapes = {"comm": comm, "root": root, "dim": dim}, [x.shape]
        return one_per_place(comm.scatter(moved(x.array, dim, 0), sizes, root), dim)

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        """Gather."""
        return shaped(Gather.apply(*gs, **ctx.settings), ctx.shapes)


class Gather(Collective):
    """x of every place -> all of them along dim on root, an empty tensor elsewhere. 0-d ones make a vector."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, root: int = 0, dim: int = 0) -> Tensor:
        """comm.gather."""
        rows = rows_first(xs, dim)
        ctx.settings = {"comm": comm, "sizes": comm.rows(rows), "root": root, "dim": dim}
        ctx.shapes = [x.shape for x in xs]
        return as_tensor(moved(comm.gather(rows, root), 0, dim))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        """Scatter."""
        return shaped(Scatter.apply(g, **ctx.settings), ctx.shapes)
