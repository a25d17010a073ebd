"""Scan: prefix sums over ranks. The adjoint is the prefix sum from the other end."""

from __future__ import annotations

from typing import Any

from ..autograd import Tensor
from ..comm import Communicator, Handle
from .collective import PerRank, arrays_of
from .partnered import Partner, Partnered
from .permute import completed


class Scan(Partnered):
    """Sum x over ranks 0 to this one: a prefix sum over ranks.

    The adjoint of y_r = sum of x_q over q <= r is x'_q = sum of u_r over r >= q, the prefix sum from the other end. It is
    computed as that sum and not as a difference.
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, reverse: bool = False, exclusive: bool = False) -> PerRank:
        """One tensor per local rank, all of one shape -> the prefix sum for each local rank, of the same shape."""
        return ctx.function.issue_blocking(ctx, xs, comm=comm, reverse=reverse, exclusive=exclusive)

    @staticmethod
    def issue(ctx: Any, blocking: bool, xs: tuple[Any, ...], *, comm: Communicator, reverse: bool = False,
              exclusive: bool = False) -> Handle:
        """Issue comm's scan or exscan."""
        start = comm.start_exscan if exclusive else comm.start_scan
        return completed(start(arrays_of(xs), reverse=reverse), blocking)

    @staticmethod
    def adjoint(ctx: Any) -> Partner:
        """Scan from the other end."""
        return Scan, ctx.settings | {"reverse": not ctx.settings.get("reverse", False)}
