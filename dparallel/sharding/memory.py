"""The memory of parameters, gradients and optimizer state on each rank, by stage of sharding, computed without running."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

from autograd.base.arguments import listed
from autograd.optim import Optimizer
from autograd.optim.state_size import state_bytes

from .parameters import ParameterSlice
from .reducer import stage_of


def model_memory(parameters: Iterable[Any], optimizer: Optimizer | None = None, *, world_size: int = 1,
                 shard: Any = None) -> dict[str, int]:
    """Bytes that rank 0 of `world_size` keeps of a model and its optimizer, by the uses that memory_summary() names.

    "parameters", "gradient buckets" (with all gradients; "gradients" on one rank) and "optimizer state"; sharded values
    count one `world_size`-th, rounded up. Activations and gathered units are not included: model.predict_memory() measures
    these.
    """
    if world_size < 1:
        raise ValueError(f"world_size={world_size} must be the number of ranks, at least 1")
    stage = stage_of(shard)
    seen = {id(p): p for p in listed("model_memory: `parameters`", parameters)}.values()
    values = sum(map(whole_bytes, seen))
    gradients = sum(whole_bytes(p) for p in seen if p.requires_grad)
    state = 0
    if optimizer is not None:
        stepped = [p for group in optimizer.param_groups for p in group["params"]]
        here = sum(p.array.nbytes for p in stepped)
        state = state_bytes(optimizer) * sum(map(whole_bytes, stepped)) // max(here, 1)

    def share(size: int, cut_from: int) -> int:
        return -(-size // world_size) if stage >= cut_from else size

    return {"parameters": share(values, 3), "gradients" if world_size == 1 else "gradient buckets": share(gradients, 2),
            "optimizer state": share(state, 1)}


def whole_bytes(p: Any) -> int:
    """Bytes of a parameter; for a slice, those of the whole."""
    return prod(p.shard.shape) * p.array.itemsize if isinstance(p, ParameterSlice) else int(p.array.nbytes)
