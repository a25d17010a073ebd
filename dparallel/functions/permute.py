"""Permute and SendRecv, which move tensors between places; their adjoints move them back. Barrier, which synchronises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ..autograd import Tensor
from ..comm import Communicator, Handle
from .collective import Collective, PerPlace, arrays_of
from .partnered import Partner, Partnered


class Permute(Partnered):
    """x of every place -> for each pair (source, dest) the source's x at dest, an empty tensor where there is no source.

    No place is a source twice, nor a dest twice; tensors may have any shapes. The adjoint is the permutation back: where x
    went nowhere its gradient is zero. All places name the same pairs.

    Args:
        *xs (Tensor): One for each held place, of any shape.
        comm (Communicator): Of the places that take part. Default: world().
        pairs (list of (int, int)): Source and dest of each move, the same on all places.

    Raises:
        CollectiveError: a place is a source or a dest twice, is out of range, or the places name different pairs; on all
            places.

    Example:
        >>> import dparallel
        >>> def swap(comm):
        ...     x = ag.tensor([1.0 + comm.rank], requires_grad=True)
        ...     y = dparallel.Permute.apply(x, comm=comm, pairs=[(0, 1), (1, 0)])
        ...     ((1 + comm.rank) * y).sum().backward()
        ...     return y.tolist(), x.grad.tolist()
        >>> dparallel.run_ranks(2, swap)
        [([2.0], [2.0]), ([1.0], [1.0])]
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, pairs: Sequence[tuple[int, int]]) -> PerPlace:
        """One tensor per held place -> the tensor of the place paired with it as source, or an empty tensor of shape
        (0,).
        """
        return ctx.function.issue_blocking(ctx, xs, comm=comm, pairs=pairs)

    @staticmethod
    def issue(ctx: Any, blocking: bool, xs: tuple[Any, ...], *, comm: Communicator,
              pairs: Sequence[tuple[int, int]]) -> Handle:
        """Issue comm's permute; keeps the pairs as a list, since backward reads them again."""
        if hasattr(pairs, "__iter__"):
            try:
                pairs = list(pairs)                  # an iterator would be empty in backward
            except Exception as error:               # for the communicator to report on all ranks
                pairs = cast(Any, error)
            ctx.settings = ctx.settings | {"pairs": pairs}
        return completed(comm.start_permute(arrays_of(xs), pairs), blocking)

    @staticmethod
    def adjoint(ctx: Any) -> Partner:
        """Permute with source and dest of each pair exchanged."""
        pairs = [(dest, source) for source, dest in ctx.settings["pairs"]]
        return Permute, {"comm": ctx.settings["comm"], "pairs": pairs}


class SendRecv(Partnered):
    """Shift tensors by `by` places: each place gets the x of the place `by` before it.

    With ring=False nothing wraps around: a place without such a neighbour gets an empty tensor. The adjoint is a shift
    by -by.

    Args:
        *xs (Tensor): One for each held place, of any shape.
        comm (Communicator): Of the places that take part. Default: world().
        by (int): How many places on; negative: back. Default: 1.
        ring (bool): Whether the last place's neighbour is the first. Default: True.

    Raises:
        CollectiveError: by is not a whole number, or the places name different shifts; on all places.

    Example:
        >>> import dparallel
        >>> def neighbours(comm):
        ...     x = ag.tensor([float(comm.rank)])
        ...     left = dparallel.SendRecv.apply(x, comm=comm)
        ...     right = dparallel.SendRecv.apply(x, comm=comm, by=-1, ring=False)
        ...     return left.tolist(), right.tolist()
        >>> dparallel.run_ranks(3, neighbours)
        [([2.0], [1.0]), ([0.0], [2.0]), ([1.0], [])]
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, by: int = 1, ring: bool = True) -> PerPlace:
        """One tensor per held place, of any shapes -> the neighbour's tensor."""
        return ctx.function.issue_blocking(ctx, xs, comm=comm, by=by, ring=ring)

    @staticmethod
    def issue(ctx: Any, blocking: bool, xs: tuple[Any, ...], *, comm: Communicator, by: int = 1,
              ring: bool = True) -> Handle:
        """Issue comm's shift."""
        return completed(comm.start_shift(arrays_of(xs), by, ring=ring), blocking)

    @staticmethod
    def adjoint(ctx: Any) -> Partner:
        """SendRecv in the opposite direction."""
        return SendRecv, ctx.settings | {"by": -ctx.settings.get("by", 1)}


class Barrier(Collective):
    """Wait for all places in forward and in backward; tensors (or None) pass through unchanged.

    Args:
        *xs (Tensor or None): Any number of tensors, of any shapes; they pass through.
        comm (Communicator): Of the places that take part. Default: world().

    Example:
        >>> import dparallel
        >>> def wait(comm):
        ...     x = ag.tensor([1.0 + comm.rank], requires_grad=True)
        ...     y = dparallel.Barrier.apply(x, comm=comm)        # no rank goes on before all are here
        ...     y.sum().backward()                               # nor here
        ...     return y.tolist(), x.grad.tolist()
        >>> dparallel.run_ranks(2, wait)
        [([1.0], [1.0]), ([2.0], [1.0])]
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator) -> PerPlace | None:
        """Wait for all places, then return the inputs: a bare Tensor, a tuple, or None if there is none."""
        ctx.comm = comm
        comm.barrier()
        return xs if len(xs) > 1 else xs[0] if xs else None

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> PerPlace | None:
        """Wait for all places, then return the gradients."""
        return Barrier.apply(*gs, comm=ctx.comm)


def completed(handle: Handle, blocking: bool) -> Handle:
    """The handle, after wait() if `blocking`, which raises a mistake of any place."""
    if blocking:
        handle.wait()
    return handle
