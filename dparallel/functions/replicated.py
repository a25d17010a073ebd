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
    """Identity in forward; backward sums the gradients over ranks."""

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
    """Sum over ranks in forward, the result on every rank; backward is the identity."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator) -> PerRank:
        """One tensor per local rank, all of one shape -> their sum for each local rank."""
        ctx.comm = comm
        return one_per_rank(comm.allreduce([x.array for x in xs]))

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> PerRank:
        """Pass the gradients through: CopyToRanks."""
        return CopyToRanks.apply(*gs, comm=ctx.comm)
