"""Sums over virtual shards in one fixed binary tree: the same bits on any number of ranks. See virtual_shards.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd import Tensor, as_tensor
from autograd.core.engine import current_pass
from autograd.kernels.halves import converted

from ..comm import Communicator, even_split
from ..comm.reference import is_half
from ..functions import AllReduce, Collective
from ..pytree.flat_arrays import map_flattened
from .replicate import looking_into

Array = np.ndarray[Any, Any]


def tree_sum(arrays: Sequence[Any]) -> Any:
    """The sum of 2^k arrays in one fixed order: halves first. None stands for nothing."""
    if len(arrays) == 1:
        return arrays[0]
    half = len(arrays) // 2
    left, right = tree_sum(arrays[:half]), tree_sum(arrays[half:])
    return right if left is None else left if right is None else left + right


def widened(x: Array) -> Array:
    """Half precision as single: it is rounded once, when all is added up."""
    return converted(x, np.float32) if is_half(x.dtype) else x


def tree_allreduce(x: Array, comm: Communicator) -> Array:
    """The vectors of all ranks added in the tree, on every rank: each adds a piece, and all of them share the pieces."""
    if comm.size == 1:
        return x
    sizes = even_split(len(x), comm.size)
    mine = comm.alltoall([x], [sizes])[0].reshape(comm.size, -1)
    return comm.allgather([tree_sum(list(mine))])[0]


def tree_allreduce_all(branches: Sequence[Array], comm: Communicator, scale: float) -> list[Array]:
    """Each rank's branches added over ranks and multiplied by `scale`: one exchange for each dtype."""
    sums = map_flattened(branches, lambda x: tree_allreduce(x, comm))
    return sums if scale == 1 else [total * total.dtype.type(scale) for total in sums]


def check_fresh(params: Sequence[Tensor], comm: Communicator) -> None:
    """Raise, on every rank, if an earlier pass left gradients: what is added to them would depend on the ranks' number."""
    walk = current_pass()
    held = (walk is None or walk.accumulate) and any(p.grad is not None and p.grad.array.any() for p in params)
    if comm.any(held):
        raise RuntimeError("reproducible: gradients of an earlier backward pass are still there, and sums with them would "
                           "depend on the number of ranks. Call optimizer.zero_grad() before each step; instead of "
                           "accumulating over calls, pass all rows at once: each shard runs on its own anyway")


class VirtualBroadcast(Collective):
    """Parameters -> `share` views of each, for this rank's virtual shards; gradients are added up in the tree over all
    shards of all ranks, and multiplied by `scale`."""

    @staticmethod
    def forward(ctx: Any, *params: Tensor, comm: Communicator, share: int, scale: float) -> Any:
        """Views, one after another for each parameter."""
        ctx.settings, ctx.params = {"comm": comm, "share": share, "scale": scale}, params
        return tuple(looking_into(p) for p in params for _ in range(share))

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        """Sum the gradients over all shards of all ranks: VirtualReduce."""
        check_fresh(ctx.params, ctx.settings["comm"])
        return VirtualReduce.apply(*gs, **ctx.settings)


class VirtualReduce(Collective):
    """Gradients of all shards' views -> those of the parameters, the same on every rank."""

    @staticmethod
    def forward(ctx: Any, *gs: Tensor, comm: Communicator, share: int, scale: float) -> Any:
        """The tree's sum: this rank's branch for each parameter, then all of them at once over ranks, one dtype a time."""
        ctx.settings, ctx.share, ctx.scale = {"comm": comm}, share, scale
        branches = [tree_sum([widened(g.array) for g in gs[start:start + share]]) for start in range(0, len(gs), share)]
        sums = tuple(as_tensor(converted(total, g.array.dtype, copy=False)) for total, g in zip(
            tree_allreduce_all(branches, comm, scale), gs[::share], strict=True))
        return sums if len(sums) > 1 else sums[0]

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        """Every shard's gradient is in every rank's sum."""
        totals = [AllReduce.apply(g, **ctx.settings) * ctx.scale for g in gs]
        return tuple(total for total in totals for _ in range(ctx.share))


