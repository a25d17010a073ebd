"""The momentum that CyclicLR and OneCycleLR move against the learning rate: `momentum`, or the first of `betas`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .scheduler import for_groups


def uses_beta1(optimizer: Optimizer) -> bool:
    """Whether the momentum is betas[0]; ValueError if the optimizer has neither."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    return "betas" in optimizer.defaults


def write_momentum(group: dict[str, Any], beta1: bool, value: float) -> None:
    """Set the momentum of a group."""
    if beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def set_bounds(optimizer: Optimizer, base: float | Sequence[float], largest: float | Sequence[float],
               fresh: bool) -> tuple[list[Any], list[Any]]:
    """The lowest and largest momentum of each group; unless resuming from groups that hold them, written there too."""
    beta1 = uses_beta1(optimizer)
    lows, highs = for_groups("base_momentum", optimizer, base), for_groups("max_momentum", optimizer, largest)
    for group, low, high in zip(optimizer.param_groups, lows, highs, strict=True):
        if fresh or "max_momentum" not in group:
            write_momentum(group, beta1, high)
            group["max_momentum"], group["base_momentum"] = high, low
    return lows, highs
