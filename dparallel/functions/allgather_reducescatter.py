"""AllGather and ReduceScatter: all places' rows joined everywhere, and sums cut for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd import Tensor

from ..comm import Communicator
from .collective import Collective, one_per_place, rows_first, shaped


class AllGather(Collective):
    """x of every place -> all of them along dim on every place. 0-d ones make a vector."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, dim: int = 0) -> Any:
        """comm.allgather."""
        rows = rows_first(xs, dim)
        ctx.settings = {"comm": comm, "sizes": comm.rows(rows), "dim": dim}
        ctx.shapes = [x.shape for x in xs]
        return one_per_place(comm.allgather(rows), dim)

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        """ReduceScatter."""
        return shaped(ReduceScatter.apply(*gs, **ctx.settings), ctx.shapes)


class ReduceScatter(Collective):
    """x of every place -> their sum, cut along dim, a piece for every place: `sizes` rows each, or an even split."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, sizes: Sequence[int] | None = None, dim: int = 0) -> Any:
        """comm.reduce_scatter."""
        ctx.settings = {"comm": comm, "dim": dim}
        return one_per_place(comm.reduce_scatter(rows_first(xs, dim), sizes), dim)

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        """AllGather."""
        return AllGather.apply(*gs, **ctx.settings)
