"""Sums over virtual shards in one fixed binary tree: bitwise the same on any number of ranks. See virtual_shards.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd.core.engine import current_pass
from autograd.kernels.halves import converted

from ..autograd import Tensor, as_tensor
from ..comm import Communicator, even_split
from ..comm.reference import is_half
from ..functions import AllReduce, Collective
from ..pytree.flat_arrays import map_flattened
from .replicate import shared_view

Array = np.ndarray[Any, Any]


def tree_sum(arrays: Sequence[Array | None]) -> Array | None:
    """The sum of 2^k arrays in one fixed order: those of each half first, recursively. None is a missing summand."""
    if len(arrays) == 1:
        return arrays[0]
    half = len(arrays) // 2
    left, right = tree_sum(arrays[:half]), tree_sum(arrays[half:])
    return right if left is None else left if right is None else left + right


def in_single_precision(x: Array) -> Array:
    """Half precision converted to single, so that the sum is rounded once; other arrays unchanged."""
    return converted(x, np.float32) if is_half(x.dtype) else x


def tree_allreduce(x: Array, comm: Communicator) -> Array:
    """The vectors of all ranks, added in the tree: each rank adds one part (alltoall), and sends the sum to all
    (allgather)."""
    if comm.size == 1:
        return x
    sizes = even_split(len(x), comm.size)
    parts = comm.alltoall([x], [sizes])[0].reshape(comm.size, -1)
    total: Any = tree_sum(list(parts))
    return comm.allgather([total])[0]


def tree_allreduce_all(branches: Sequence[Array], comm: Communicator, scale: float) -> list[Array]:
    """Each rank's partial sums added over ranks and multiplied by `scale`, in one tree_allreduce() for each dtype."""
    sums = map_flattened(branches, lambda x: tree_allreduce(x, comm))
    return sums if scale == 1 else [total * total.dtype.type(scale) for total in sums]


def check_fresh(params: Sequence[Tensor], comm: Communicator) -> None:
    """Raise, on every rank, if .grad has an earlier pass's gradients: sums with them would depend on the number of ranks."""
    backward_pass = current_pass()
    accumulates = backward_pass is None or backward_pass.accumulate
    if comm.any(accumulates and any(p.is_leaf and p.grad is not None and p.grad.array.any() for p in params)):
        raise RuntimeError("reproducible: .grad holds gradients of an earlier backward pass, and sums with them would "
                           "depend on the number of ranks. Call optimizer.zero_grad() before each step; instead of "
                           "accumulating over calls, pass all rows at once: each shard runs separately anyway")


class VirtualBroadcast(Collective):
    """Parameters -> `share` views of each, one for each of this rank's virtual shards. Backward adds the gradients of all
    shards in the tree, and multiplies the sum by `scale`."""

    @staticmethod
    def forward(ctx: Any, *params: Tensor, comm: Communicator, share: int, scale: float) -> tuple[Tensor, ...]:
        """The views of the first parameter, then those of the next."""
        ctx.settings, ctx.params = {"comm": comm, "share": share, "scale": scale}, params
        return tuple(shared_view(p) for p in params for _ in range(share))

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Tensor | tuple[Tensor, ...]:
        """Sum the gradients over all shards of all ranks: VirtualReduce."""
        check_fresh(ctx.params, ctx.settings["comm"])
        return VirtualReduce.apply(*gs, **ctx.settings)


class VirtualReduce(Collective):
    """Gradients of the views of all shards -> gradients of the parameters, the same on every rank."""

    @staticmethod
    def forward(ctx: Any, *gs: Tensor, comm: Communicator, share: int, scale: float) -> Tensor | tuple[Tensor, ...]:
        """Each parameter's sum over this rank's shards, a branch of the tree; then branches are added over ranks, by
        dtype."""
        ctx.settings, ctx.share, ctx.scale = {"comm": comm}, share, scale
        branches: list[Any] = [tree_sum([in_single_precision(g.array) for g in gs[start:start + share]])
                               for start in range(0, len(gs), share)]
        sums = tuple(as_tensor(converted(total, g.array.dtype, copy=False)) for total, g in zip(
            tree_allreduce_all(branches, comm, scale), gs[::share], strict=True))
        return sums if len(sums) > 1 else sums[0]

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> tuple[Tensor, ...]:
        """The gradient of every view of every rank: the sum over ranks, times scale."""
        totals = [AllReduce.apply(g, **ctx.settings) * ctx.scale for g in gs]
        return tuple(total for total in totals for _ in range(ctx.share))
