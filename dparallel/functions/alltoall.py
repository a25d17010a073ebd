"""AllToAll: each place sends rows to each. Its adjoint sends them back."""

from __future__ import annotations

from typing import Any

from autograd import Tensor

from ..comm import Communicator, even_split
from .collective import Collective, one_per_place, rows_first, shaped


class AllToAll(Collective):
    """x of every place, cut along dim: piece p goes to place p -> what each place got, in place order along dim.

    sizes: for the held place the rows that it sends to each (a list of lists where several are held); even by default.
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, sizes: Any = None, dim: int = 0) -> Any:
        """comm.alltoall."""
        rows = rows_first(xs, dim)
        if sizes is None:
            sizes = [even_split(len(x) if x.ndim else 0, comm.size) for x in rows]
        elif len(comm.held) == 1 and not (len(sizes) and isinstance(sizes[0], (list, tuple))):
            sizes = [sizes]
        out = comm.alltoall(rows, sizes)                  # first: it refuses bad sizes on every rank
        ctx.settings = {"comm": comm, "sizes": comm.alltoall_sizes(sizes), "dim": dim}
        ctx.shapes = [x.shape for x in xs]
        return one_per_place(out, dim)

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        """AllToAll, with the sizes that were received."""
        return shaped(AllToAll.apply(*gs, **ctx.settings), ctx.shapes)
