"""CyclicLR: Smith 2017 (arXiv:1506.01186)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..optimizer import Optimizer
from .momenta import set_bounds, uses_beta1, write_momentum
from .scheduler import LRScheduler, checked, for_groups, saved_callable, write

MODES = ("triangular", "triangular2", "exp_range")


class CyclicLR(LRScheduler):
    """Cycle the learning rate between base_lr and max_lr; momentum moves inversely. Smith 2017 (arXiv:1506.01186).

    The amplitude is constant ("triangular"), halves every cycle ("triangular2"), or is scaled by gamma every batch
    ("exp_range") or by scale_fn of the cycle's number (from 1) or of the batch's (`scale_mode`)."""

    base_momentums: list[float]
    max_momentums: list[float]

    def __init__(self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000,
                 step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
                 scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle",
                 cycle_momentum: bool = True, base_momentum: float | Sequence[float] = 0.8,
                 max_momentum: float | Sequence[float] = 0.9, last_epoch: int = -1) -> None:
        self.optimizer: Optimizer = checked(optimizer)
        base_lrs = for_groups("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                write(group, "lr", lr)
        self.max_lrs: list[float] = for_groups("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        if not 0 < up < math.inf or not 0 <= down < math.inf:
            raise ValueError(f"CyclicLR(step_size_up={step_size_up!r}, step_size_down={step_size_down!r}): the first is a "
                             "number of steps above 0, the second one of at least 0")
        self.total_size: float = up + down
        self.step_ratio: float = up / self.total_size
        if mode not in MODES and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode: str = mode
        self.gamma: float = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode: str = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1: bool = uses_beta1(optimizer)
            self.base_momentums, self.max_momentums = set_bounds(optimizer, base_momentum, max_momentum, last_epoch == -1)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """The height of a cycle or batch."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular2":
            return 1 / (2.0 ** (x - 1))
        return self.gamma ** x if self.mode == "exp_range" else 1.0

    def get_lr(self) -> list[Any]:
        """The rates of this batch; writes its momentum."""
        self._within_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        way = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height = way * self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True):
                write_momentum(group, self.use_beta1, high - (high - low) * height)
        return [low + (high - low) * height for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """All attributes except the optimizer; of scale_fn the attributes, if it is an object."""
        return {**super().state_dict(), "_scale_fn_custom": saved_callable(self._scale_fn_custom)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state from state_dict(); scale_fn is unchanged."""
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_scale_fn_custom"})
        if state_dict["_scale_fn_custom"] is not None:
            self._scale_fn_custom.__dict__.update(state_dict["_scale_fn_custom"])
