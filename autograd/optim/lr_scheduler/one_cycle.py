"""OneCycleLR: Smith & Topin 2018 (arXiv:1708.07120)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .momenta import set_bounds, uses_beta1, write_momentum
from .scheduler import LRScheduler, checked, for_groups


class OneCycleLR(LRScheduler):
    """The 1cycle policy, per batch: up from max_lr / div_factor to max_lr, then down. Smith & Topin 2018 (arXiv:1708.07120).

    The increase takes the fraction pct_start of all batches; the final rate is the initial one / final_div_factor. With
    three_phase it first returns to the initial rate, as long as the increase took. Momentum moves inversely."""

    def __init__(self, optimizer: Optimizer, max_lr: Any, total_steps: int | None = None, epochs: int | None = None,
                 steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos",
                 cycle_momentum: bool = True, base_momentum: float | Sequence[float] = 0.85, max_momentum: Any = 0.95,
                 div_factor: float = 25.0, final_div_factor: float = 1e4, three_phase: bool = False,
                 last_epoch: int = -1) -> None:
        self.optimizer: Optimizer = checked(optimizer)
        self.total_steps: int = _total(total_steps, epochs, steps_per_epoch)
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        for group, highest in zip(optimizer.param_groups, for_groups("max_lr", optimizer, max_lr), strict=True):
            if last_epoch == -1 or "max_lr" not in group:
                group["initial_lr"], group["max_lr"] = highest / div_factor, highest
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1: bool = uses_beta1(optimizer)
            set_bounds(optimizer, base_momentum, max_momentum, last_epoch == -1)
        super().__init__(optimizer, last_epoch)

    def _between(self, start: float, end: float, part: float) -> Any:
        """Interpolate between start and end, by the annealing strategy; part is in [0, 1]."""
        if self._anneal_func_type == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)

    def get_lr(self) -> list[Any]:
        """The rates of this batch; writes its momentum."""
        self._within_step()
        if self.last_epoch > self.total_steps:
            raise ValueError(f"Tried to step {self.last_epoch} times. The specified number of total steps is "
                             f"{self.total_steps}")
        begun = 0.0
        for phase in self._schedule_phases:
            if self.last_epoch <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            begun = phase["end_step"]
        part = (self.last_epoch - begun) / (phase["end_step"] - begun)
        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                write_momentum(group, self.use_beta1, self._between(
                    group[phase["start_momentum"]], group[phase["end_momentum"]], part))
        return [self._between(group[phase["start_lr"]], group[phase["end_lr"]], part)
                for group in self.optimizer.param_groups]


def _total(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    """The number of batches; ValueError if what gives it is missing or not positive."""
    if total_steps is None and (epochs is None or steps_per_epoch is None):
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    given = {"total_steps": total_steps} if total_steps is not None else {
        "epochs": epochs, "steps_per_epoch": steps_per_epoch}
    for name, value in given.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return math.prod(value for value in given.values() if value is not None)


def _phases(total: int, part: float, three: bool) -> list[dict[str, Any]]:
    """The phases: each one's last batch, and the options of a group between which it interpolates."""
    def phase(end: float, lrs: str, momenta: str) -> dict[str, Any]:
        (start_lr, end_lr), (start_momentum, end_momentum) = lrs.split(), momenta.split()
        return {"end_step": end, "start_lr": start_lr, "end_lr": end_lr, "start_momentum": start_momentum,
                "end_momentum": end_momentum}

    up = phase(float(part * total) - 1, "initial_lr max_lr", "max_momentum base_momentum")
    if not three:
        return [up, phase(total - 1, "max_lr min_lr", "base_momentum max_momentum")]
    return [up, phase(float(2 * part * total) - 2, "max_lr initial_lr", "base_momentum max_momentum"),
            phase(total - 1, "initial_lr min_lr", "max_momentum max_momentum")]
