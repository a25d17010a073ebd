"""AllToAll: each place sends rows to every place. The adjoint sends them back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ..autograd import Tensor
from ..comm import Communicator, Handle, even_split
from .collective import PerPlace, arrays_of, rows_of
from .partnered import Partner, Partnered

AllToAllSizes: TypeAlias = Sequence[int] | Sequence[Sequence[int]] | Tensor | None


class AllToAll(Partnered):
    """x of every place, split along dim: part p goes to place p -> the parts that each place received, concatenated along
    dim in place order.

    Args:
        *xs (Tensor): One for each held place, of one dtype; shapes may differ along dim only.
        comm (Communicator): Of the places that take part. Default: world().
        sizes (list of int): How many rows the held place sends to each place; a list of lists if several are held; None:
            an even split. Default: None.
        dim (int): The dimension of rows. Default: 0.

    Raises:
        CollectiveError: sizes do not add up to the rows of an x, or shapes beyond dim, dtypes or dim do not fit; on all
            places.

    Example:
        >>> import dparallel
        >>> dparallel.AllToAll.apply(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]), comm=dparallel.Devices(2))
        (tensor([1., 3.]), tensor([2., 4.]))
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, sizes: AllToAllSizes = None, dim: int = 0) -> PerPlace:
        """One tensor per held place -> one per held place: the rows received, concatenated along dim in place order."""
        return ctx.function.issue_blocking(ctx, xs, comm=comm, sizes=sizes, dim=dim)

    @staticmethod
    def issue(ctx: Any, blocking: bool, xs: tuple[Any, ...], *, comm: Communicator, sizes: AllToAllSizes = None,
              dim: int = 0) -> Handle:
        """Issue comm's alltoall; keeps the sizes received, which are the sizes that the adjoint sends."""
        counts: Any = sizes_per_place(sizes, comm)
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


def sizes_per_place(sizes: AllToAllSizes, comm: Communicator) -> AllToAllSizes:
    """sizes as one list for each held place; a process that holds one place may pass the list itself."""
    sizes = sizes.tolist() if isinstance(sizes, Tensor) else sizes
    if sizes is None or not isinstance(sizes, (list, tuple, np.ndarray)):
        return sizes
    nested = len(sizes) > 0 and all(isinstance(row, (list, tuple, np.ndarray)) and np.ndim(row) == 1 for row in sizes)
    return list(sizes) if nested or len(comm.held) > 1 else [sizes]
