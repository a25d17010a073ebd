"""Scan: prefix sums over places. The adjoint is the prefix sum from the other end."""

from __future__ import annotations

from typing import Any

from ..autograd import Tensor
from ..comm import Communicator, Handle
from .collective import PerPlace, arrays_of
from .partnered import Partner, Partnered
from .permute import completed


class Scan(Partnered):
    """x of every place, of one shape -> at each place the sum over the places before it and itself.

    reverse: over itself and those after it. exclusive: without itself (zeros at the first place, in reverse at the last).
    The adjoint of y_p = sum of x_q over q <= p is x'_q = sum of u_p over p >= q: the same in reverse, computed as that sum
    and not as a difference.

    Args:
        *xs (Tensor): One for each held place, all of one shape and dtype.
        comm (Communicator): Of the places that take part. Default: world().
        reverse (bool): Whether the sum is over the place and those after it. Default: False.
        exclusive (bool): Whether the place itself is left out. Default: False.

    Raises:
        CollectiveError: shapes, dtypes or settings differ; on all places.

    Example:
        >>> import dparallel
        >>> dparallel.Scan.apply(ag.tensor([1.0]), ag.tensor([2.0]), comm=dparallel.Devices(2))
        (tensor([1.]), tensor([3.]))
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, reverse: bool = False, exclusive: bool = False) -> PerPlace:
        """One tensor per held place, all of one shape -> the prefix sum for each held place, of the same shape."""
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
