"""The collective Functions. Each backward calls its partner's apply.

A communicator joins `size` places; this process holds one of them (an MPI rank, a thread) or all (local devices).
Read the tensors of all places as one long vector, a place without a part holding an empty tensor of shape (0,). Then a
collective is a linear map, and its backward is the adjoint under the inner product summed over places:

    Broadcast <-> Reduce    Scatter <-> Gather    AllGather <-> ReduceScatter    AllReduce and AllToAll <-> themselves

so gradients are those of the SUM of all places' losses. DataParallel is the only code that divides.

Arguments and results that belong to places (`*xs`, pieces, copies) come one for each place held here: a bare Tensor
where the process holds one place, a tuple where it holds several. `comm` defaults to dparallel.world().
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd import Function, Tensor, as_tensor

from .comm import Communicator, even_split, world


class Collective(Function):
    """A Function that all ranks call together. It is recorded on all ranks or on none: on all if any rank's input
    requires grad; and its backward runs on every rank whose backward pass reaches it, whatever that rank needs."""

    always_runs = True
    asks = True

    @classmethod
    def records(cls, tracked: int, settings: dict[str, Any]) -> int:
        """Ask all ranks: a rank that decided for itself would leave the others waiting in backward."""
        return (settings.get("comm") or world()).any(bool(tracked))

    @classmethod
    def apply(cls, *args: Any, comm: Communicator | None = None, **settings: Any) -> Any:
        """Run on every rank; None as an input stands for having no part."""
        return super().apply(*[as_tensor(np.empty(0, np.float32)) if x is None else x for x in args],
                             comm=comm or world(), **settings)


def one_per_place(arrays: Sequence[Any], dim: int = 0) -> Any:
    """Arrays of the held places as Tensors, rows back along dim; one alone comes bare."""
    tensors = tuple(as_tensor(moved(array, 0, dim)) for array in arrays)
    return tensors[0] if len(tensors) == 1 else tensors


def moved(array: Any, source: int, destination: int) -> Any:
    """The array with one dimension moved, except where it has no part."""
    if source == destination or array.shape == (0,) or array.ndim < 2:
        return array
    return np.moveaxis(array, source, destination)


def rows_first(xs: Sequence[Tensor], dim: int) -> list[Any]:
    """The arrays with dim in front, where communicators cut and join."""
    return [moved(x.array, dim, 0) for x in xs]


def as_tuple(value: Any) -> tuple[Any, ...]:
    """A lone Tensor as a tuple of one."""
    return value if isinstance(value, tuple) else (value,)


def shaped(grads: Any, shapes: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
    """Gradients in their inputs' shapes: 0-d inputs were rows of one. An input that was not read has none."""
    return tuple(g if g.shape == shape else g.reshape(shape) if g.numel() == np.prod(shape, dtype=int) else None
                 for g, shape in zip(as_tuple(grads), shapes, strict=True))


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


class Scatter(Collective):
    """root's x, cut along dim -> a piece for every place: `sizes` rows each, or an even split, first ones larger.

    >>> piece = Scatter.apply(x, comm=comm, sizes=[3, 2], root=0)
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, *, comm: Communicator, sizes: Sequence[int] | None = None, root: int = 0,
                dim: int = 0) -> Any:
        """comm.scatter."""
        ctx.settings, ctx.shapes = {"comm": comm, "root": root, "dim": dim}, [x.shape]
        return one_per_place(comm.scatter(moved(x.array, dim, 0), sizes, root), dim)

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        """Gather."""
        return shaped(Gather.apply(*gs, **ctx.settings), ctx.shapes)


class Gather(Collective):
    """x of every place -> all of them along dim on root, an empty tensor elsewhere. 0-d ones make a vector."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, root: int = 0, dim: int = 0) -> Tensor:
        """comm.gather."""
        rows = rows_first(xs, dim)
        ctx.settings = {"comm": comm, "sizes": comm.rows(rows), "root": root, "dim": dim}
        ctx.shapes = [x.shape for x in xs]
        return as_tensor(moved(comm.gather(rows, root), 0, dim))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        """Scatter."""
        return shaped(Scatter.apply(g, **ctx.settings), ctx.shapes)


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
