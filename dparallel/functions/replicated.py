"""The pair of Functions for one replicated loss: every place computes the same loss, and it counts once.

Collectives here have the gradients of the SUM of all places' losses. Where a part of a model is split over places (its
rows or columns), and all that is before and after it is the same on every place, so is the loss, and the sum counts it N
times. Between these two, which are Megatron's f and g (Shoeybi et al. 2019), gradients are those of the one loss:

    x, the same everywhere -> CopyToPlaces -> each place's part of the work -> ReduceFromPlaces -> y, the same everywhere
              forward:        identity                                         sum over places
              backward:       sum over places                                  identity

They are each other's partners, so double backward stays inside the convention. See docs/convention.md.
"""

from __future__ import annotations

from typing import Any

from autograd import Tensor, as_tensor

from ..comm import Communicator
from . import Collective
from .collective import PerPlace


class CopyToPlaces(Collective):
    """Identity in forward; backward sums the gradients over places. x must be the same on every place.

    >>> y = ReduceFromPlaces.apply(CopyToPlaces.apply(x, comm=comm) @ my_columns @ my_rows, comm=comm)
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator) -> PerPlace:
        """One tensor per held place -> a copy of each; no communication."""
        ctx.comm = comm
        return _bare(tuple(x.clone() for x in xs))

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        """Sum the gradients over places: ReduceFromPlaces."""
        return ReduceFromPlaces.apply(*gs, comm=ctx.comm)


class ReduceFromPlaces(Collective):
    """Sum over places in forward, the result on every place; backward is the identity."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator) -> PerPlace:
        """One tensor per held place, all of one shape -> their sum for each held place."""
        ctx.comm = comm
        return _bare(tuple(as_tensor(array) for array in comm.allreduce([x.array for x in xs])))

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        """Pass the gradients through: CopyToPlaces."""
        return CopyToPlaces.apply(*gs, comm=ctx.comm)


def _bare(values: tuple[Any, ...]) -> PerPlace:
    """One place's result alone, those of several as they are."""
    return values[0] if len(values) == 1 else values
