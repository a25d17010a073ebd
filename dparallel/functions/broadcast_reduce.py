"""Broadcast and Reduce: from one place to all, and their sum on one."""

from __future__ import annotations

from typing import Any

from autograd import Tensor, as_tensor

from ..comm import Communicator
from .collective import Collective, one_per_place, shaped


class Broadcast(Collective):
    """root's x -> a copy for every place.

    >>> y = Broadcast.apply(x, comm=comm, root=0)          # y is x on every rank; x.grad is the sum of all y.grad
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, *, comm: Communicator, root: int = 0) -> Any:
        """comm.broadcast."""
        ctx.settings, ctx.shapes = {"comm": comm, "root": root}, [x.shape]
        return one_per_place(comm.broadcast(x.array, root))

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        """Reduce."""
        return shaped(Reduce.apply(*gs, **ctx.settings), ctx.shapes)


class Reduce(Collective):
    """x of every place -> their sum on root, an empty tensor elsewhere."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, root: int = 0) -> Tensor:
        """comm.reduce."""
        ctx.settings = {"comm": comm, "root": root}
        return as_tensor(comm.reduce([x.array for x in xs], root))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        """Broadcast."""
        return Broadcast.apply(g, **ctx.settings)
