"""Broadcast, from one rank to all, and Reduce, a reduction of all ranks' tensors onto one."""

from __future__ import annotations

from typing import Any

from ..autograd import Tensor
from ..comm import Communicator, Handle
from .collective import PerRank, array_of
from .partnered import Partner, Partnered
from .reductions import Reduction


class Broadcast(Partnered):
    """Copy root's x to every rank."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *, comm: Communicator, root: int = 0) -> PerRank:
        """root's x of any shape -> a copy for each local rank."""
        return ctx.function.issue_blocking(ctx, (x,), comm=comm, root=root)

    @staticmethod
    def issue(ctx: Any, blocking: bool, xs: tuple[Any, ...], *, comm: Communicator, root: int = 0) -> Handle:
        """Issue comm's broadcast."""
        return comm.issue("broadcast", array_of(*xs), blocking=blocking, root=root)

    @staticmethod
    def adjoint(ctx: Any) -> Partner:
        """Reduce to the same root."""
        return Reduce, ctx.settings


class Reduce(Reduction):
    """Reduce every rank's x onto root; other ranks get an empty tensor."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, root: int = 0, op: str = "sum", ties: str = "split") -> Tensor:
        """One tensor per local rank, all of one shape -> their reduction on root, an empty tensor of shape (0,)
        elsewhere.
        """
        return ctx.function.issue_blocking(ctx, xs, comm=comm, root=root, op=op, ties=ties)

    @staticmethod
    def issue(ctx: Any, blocking: bool, xs: tuple[Any, ...], *, comm: Communicator, root: int = 0, op: str = "sum",
              ties: str = "split") -> Handle:
        """Issue comm's reduce."""
        return Reduction.combine(ctx, "reduce", blocking, xs, comm, op, ties, root=root).then(lambda h: [h.value()])

    @staticmethod
    def adjoint(ctx: Any) -> Partner:
        """Broadcast from the same root."""
        return Broadcast, {"comm": ctx.settings["comm"], "root": ctx.settings.get("root", 0)}
