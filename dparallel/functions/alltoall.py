"""AllToAll: each place sends rows to every place. The adjoint sends them back."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd import Tensor

from ..comm import Communicator, Handle, even_split
from .collective import PerPlace, arrays_of, rows_of
from .partnered import Partner, Partnered


class AllToAll(Partnered):
    """x of every place, cut along dim: piece p goes to place p -> what each place got, in place order along dim.

    sizes: for the held place the rows that it sends to each (a list of lists where several are held); even by default.
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, sizes: Any = None, dim: int = 0) -> PerPlace:
        """One tensor per held place -> one per held place: the rows received, concatenated along dim in place order."""
        return ctx.function.issue_blocking(ctx, xs, comm=comm, sizes=sizes, dim=dim)

    @staticmethod
    def issue(ctx: Any, blocking: bool, xs: tuple[Any, ...], *, comm: Communicator, sizes: Any = None,
              dim: int = 0) -> Handle:
        """Issue comm's alltoall; keeps the sizes received, which are the sizes that the adjoint sends."""
        sizes = per_place(sizes, comm)
        handle = comm.issue("alltoall", arrays_of(xs), blocking=blocking, sizes=sizes, dim=dim)      # checks the sizes
        if ctx.agreed:
            if sizes is None:
                sizes = [even_split(rows_of(x, dim), comm.size) for x in arrays_of(xs)]
            ctx.partner = {"comm": comm, "sizes": comm.alltoall_sizes(sizes), "dim": dim}
        return handle

    @staticmethod
    def adjoint(ctx: Any) -> Partner:
        """AllToAll with the sizes that were received."""
        return AllToAll, ctx.partner


def per_place(sizes: Any, comm: Communicator) -> Any:
    """sizes as one list per held place; where one place is held its list may be given bare."""
    sizes = sizes.tolist() if isinstance(sizes, Tensor) else sizes
    if sizes is None or not isinstance(sizes, (list, tuple, np.ndarray)):
        return sizes
    nested = len(sizes) > 0 and all(isinstance(cut, (list, tuple, np.ndarray)) and np.ndim(cut) == 1 for cut in sizes)
    return list(sizes) if nested or len(comm.held) > 1 else [sizes]
