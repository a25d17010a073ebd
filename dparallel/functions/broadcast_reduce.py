"""Broadcast, from one place to all, and Reduce, a combination of all places' tensors on one."""

from __future__ import annotations

from typing import Any

from ..autograd import Tensor
from ..comm import Communicator, Handle
from .collective import PerPlace, array_of
from .partnered import Partner, Partnered
from .reductions import Reduction


class Broadcast(Partnered):
    """root's x -> a copy for every place.

    Args:
        x (Tensor): root's, of any shape; other places may pass None.
        comm (Communicator): Of the places that take part. Default: world().
        root (int): The place that sends. Default: 0.

    Raises:
        CollectiveError: root is out of range or differs, or root has no tensor; on all places.

    Example:
        >>> import dparallel
        >>> dparallel.Broadcast.apply(ag.tensor([1.0]), comm=dparallel.Devices(2))
        (tensor([1.]), tensor([1.]))
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, *, comm: Communicator, root: int = 0) -> PerPlace:
        """root's x of any shape -> a copy on each held place."""
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
    """x of every place -> their sum (or `op`, see Reduction) on root, an empty tensor elsewhere.

    Args:
        *xs (Tensor): One for each held place, all of one shape and dtype.
        comm (Communicator): Of the places that take part. Default: world().
        root (int): The place that gets the result. Default: 0.
        op (str): "sum", "mean" (or "avg"), "prod", "max" or "min". Default: "sum".
        ties (str): Where places tie for a max or min: "split" or "first", see Reduction. Default: "split".

    Raises:
        CollectiveError: root, op or ties is invalid or differs, or shapes or dtypes differ; on all places.

    Example:
        >>> import dparallel
        >>> dparallel.Reduce.apply(ag.tensor([1.0]), ag.tensor([2.0]), comm=dparallel.Devices(2))
        tensor([3.])
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, comm: Communicator, root: int = 0, op: str = "sum", ties: str = "split") -> Tensor:
        """One tensor per held place, all of one shape -> their combination on root, an empty tensor of shape (0,)
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
