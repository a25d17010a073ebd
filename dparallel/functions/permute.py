"""Permute and SendRecv, which move tensors between ranks; their adjoints move them back. Barrier, which synchronizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ..autograd import Tensor
from ..comm import Communicator, Handle
from .collective import Collective, PerRank, arrays_of
from .partnered import Partner, Partnered


class Permute(Partnered):
    """Move each source's x to its dest, for pairs (source, dest). A rank without a source gets an empty tensor.

    No rank is a source twice, nor a dest twice. The adjoint is the inverse permutation; an x that is not moved has a zero
    gradient.
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, pairs: Sequence[tuple[int, int]]) -> PerRank:
        """One tensor per local rank -> the tensor of its source, or an empty tensor of shape (0,)."""
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
    """Shift tensors by `by` ranks: each rank gets the x of the rank `by` before it. The adjoint is a shift by -by."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, by: int = 1, ring: bool = True) -> PerRank:
        """One tensor per local rank, of any shapes -> the neighbour's tensor."""
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
    """Wait for all ranks in forward and in backward; tensors (or None) pass through unchanged."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator) -> PerRank | None:
        """Wait for all ranks, then return the inputs: a bare Tensor, a tuple, or None if there is none."""
        ctx.comm = comm
        comm.barrier()
        return xs if len(xs) > 1 else xs[0] if xs else None

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> PerRank | None:
        """Wait for all ranks, then return the gradients."""
        return Barrier.apply(*gs, comm=ctx.comm)


def completed(handle: Handle, blocking: bool) -> Handle:
    """The handle, after wait() if `blocking`, which raises an error of any rank."""
    if blocking:
        handle.wait()
    return handle
