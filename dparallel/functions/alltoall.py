"""AllToAll: each rank sends rows to every rank. The adjoint sends them back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ..autograd import Tensor
from ..comm import Communicator, Handle, even_split
from .collective import PerRank, arrays_of, rows_of
from .partnered import Partner, Partnered

AllToAllSizes: TypeAlias = Sequence[int] | Sequence[Sequence[int]] | Tensor | None


class AllToAll(Partnered):
    """Split every rank's x along dim, send part r to rank r, and concatenate received parts along dim in rank order."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, sizes: AllToAllSizes = None, dim: int = 0) -> PerRank:
        """One tensor per local rank -> one per local rank: the received rows, concatenated along dim in rank order."""
        return ctx.function.issue_blocking(ctx, xs, comm=comm, sizes=sizes, dim=dim)

    @staticmethod
    def issue(ctx: Any, blocking: bool, xs: tuple[Any, ...], *, comm: Communicator, sizes: AllToAllSizes = None,
              dim: int = 0) -> Handle:
        """Issue comm's alltoall; store the received sizes, which the adjoint sends."""
        counts: Any = sizes_per_rank(sizes, comm)
        handle = comm.issue("alltoall", arrays_of(xs), blocking=blocking, sizes=counts, dim=dim)     # checks the sizes
        if ctx.agreed:
            if counts is None:
                counts = [even_split(rows_of(x, dim), comm.size) for x in arrays_of(xs)]
            ctx.partner = {"comm": comm, "sizes": comm.alltoall_sizes(counts), "dim": dim}
        return handle

    @staticmethod
    def adjoint(ctx: Any) -> Partner:
        """AllToAll with the sizes that were received."""
        return AllToAll, ctx.partner


def sizes_per_rank(sizes: AllToAllSizes, comm: Communicator) -> AllToAllSizes:
    """sizes as one list for each local rank; a process with one local rank may pass the list itself."""
    sizes = sizes.tolist() if isinstance(sizes, Tensor) else sizes
    if sizes is None or not isinstance(sizes, (list, tuple, np.ndarray)):
        return sizes
    nested = len(sizes) > 0 and all(isinstance(row, (list, tuple, np.ndarray)) and np.ndim(row) == 1 for row in sizes)
    return list(sizes) if nested or len(comm.held) > 1 else [sizes]
