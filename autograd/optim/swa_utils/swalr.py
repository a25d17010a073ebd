"""SWALR: anneal the learning rate to a constant for weight averaging."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..lr_scheduler.scheduler import LRScheduler, checked, for_groups

if TYPE_CHECKING:
    from ...optim.optimizer import Optimizer


class SWALR(LRScheduler):
    """Anneal the learning rate to swa_lr, then keep it constant. Izmailov et al. 2018 (arXiv:1803.05407)."""

    def __init__(self, optimizer: Optimizer, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos",
                 last_epoch: int = -1) -> None:
        for group, lr in zip(checked(optimizer).param_groups, for_groups("swa_lr", optimizer, swa_lr), strict=True):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        """The fraction of the way to swa_lr, after the fraction t of the epochs."""
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[Any]:
        """The rates before annealing, found from the present ones, annealed as far as this epoch."""
        self._within_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = (self.anneal_func(max(0, min(1, s / max(1, self.anneal_epochs)))) for s in (step - 1, step))
        rates = []
        for group in self.optimizer.param_groups:
            goal = group["swa_lr"]
            start = goal if before == 1 else (group["lr"] - before * goal) / (1 - before)
            rates.append(goal * now + start * (1 - now))
        return rates
