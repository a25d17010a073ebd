"""AllReduce: the sum over places, everywhere. Its own adjoint."""

from __future__ import annotations

from typing import Any

from autograd import Tensor

from ..comm import Communicator
from .collective import Collective, one_per_place


class AllReduce(Collective):
    """x of every place -> their sum on every place."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator) -> Any:
        """comm.allreduce."""
        ctx.settings = {"comm": comm}
        return one_per_place(comm.allreduce([x.array for x in xs]))

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        """AllReduce."""
        return AllReduce.apply(*gs, **ctx.settings)
