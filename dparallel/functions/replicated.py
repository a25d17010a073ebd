"""The pair of Functions for one replicated loss: every rank computes the same loss, which counts once.

Collectives here have the gradients of the SUM of all ranks' losses. If a part of a model is split over ranks (its rows or
columns), and everything before and after it is the same on every rank, then so is the loss, and the sum has it N times.
Between these two Functions, Megatron's f and g (Shoeybi et al. 2019), gradients are those of one loss:

    x, the same everywhere -> CopyToRanks -> each rank's part of the work -> ReduceFromRanks -> y, the same everywhere
              forward:        identity                                        sum over ranks
              backward:       sum over ranks                                  identity

Each is the other's backward, also in double backward. See docs/convention.md.
"""

from __future__ import annotations

from typing import Any

from ..autograd import Tensor
from ..comm import Communicator
from . import Collective
from .collective import PerRank, one_per_rank, per_rank


class CopyToRanks(Collective):
    """Identity in forward; backward sums the gradients over ranks.

    Args:
        *xs (Tensor): One for each local rank, the same on every rank.
        comm (Communicator): The participating ranks. Default: world().

    Example:
        >>> def two_parts(comm):                         # a layer whose hidden units are split over two ranks
        ...     x = ag.ones(1, 2).requires_grad_()
        ...     columns, rows = ag.full((2, 3), 1.0 + comm.rank), ag.ones(3, 1)
        ...     hidden = dparallel.CopyToRanks.apply(x, comm=comm) @ columns
        ...     y = dparallel.ReduceFromRanks.apply(hidden @ rows, comm=comm)
        ...     y.sum().backward()
        ...     return y.item(), x.grad.tolist()
        >>> dparallel.run_ranks(2, two_parts)
        [(18.0, [[9.0, 9.0]]), (18.0, [[9.0, 9.0]])]
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator) -> PerRank:
        """One tensor per local rank -> a copy of each; no communication."""
        ctx.comm = comm
        return per_rank(tuple(x.clone() for x in xs))

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> PerRank:
        """Sum the gradients over ranks: ReduceFromRanks."""
        return ReduceFromRanks.apply(*gs, comm=ctx.comm)


class ReduceFromRanks(Collective):
    """Sum over ranks in forward, the result on every rank; backward is the identity.

    Args:
        *xs (Tensor): One for each local rank, all of one shape and dtype.
        comm (Communicator): The participating ranks. Default: world().

    Raises:
        CollectiveError: shapes or dtypes differ.

    Example:
        >>> dparallel.ReduceFromRanks.apply(ag.ones(1), ag.ones(1), comm=dparallel.Devices(2))
        (tensor([2.]), tensor([2.]))
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator) -> PerRank:
        """One tensor per local rank, all of one shape -> their sum for each local rank."""
        ctx.comm = comm
        return one_per_rank(comm.allreduce([x.array for x in xs]))

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> PerRank:
        """Pass the gradients through: CopyToRanks."""
        return CopyToRanks.apply(*gs, comm=ctx.comm)
