"""CosineAnnealingLR and CosineAnnealingWarmRestarts: Loshchilov & Hutter 2017 (arXiv:1608.03983)."""

from __future__ import annotations

import math
from typing import Any

from ..optimizer import Optimizer
from .scheduler import LRScheduler


class CosineAnnealingLR(LRScheduler):
    """Anneal the learning rate: eta_min + (initial lr - eta_min) * (1 + cos(pi * epoch / T_max)) / 2."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max: int = T_max
        self.eta_min: float = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The present rates' heights above eta_min, times the quotient of this epoch's factor and the last one's."""
        self._within_step()
        if self._is_initial:
            return self._unchanged()
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:       # at the bottom: no quotient
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [group["lr"] + (base - self.eta_min) * rise
                    for base, group in zip(self.base_lrs, self.optimizer.param_groups, strict=True)]
        now, before = (1 + math.cos(math.pi * epoch / self.T_max) for epoch in (self.last_epoch, self.last_epoch - 1))
        return [now / before * (group["lr"] - self.eta_min) + self.eta_min for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Any]:
        height = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Cosine annealing from the initial learning rate to eta_min with restarts: after T_0 epochs, then T_mult times as many.

    step(epoch) accepts fractions of epochs."""

    T_i: int

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        if not isinstance(T_0, int) or T_0 <= 0:
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if not isinstance(T_mult, int) or T_mult < 1:
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = self.T_i = T_0
        self.T_mult: int = T_mult
        self.eta_min: float | int = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The cosine at T_cur of T_i epochs."""
        self._within_step()
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Advance to the next epoch, or to the given one."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None and self._is_initial:       # made with a late last_epoch: any number of cycles may have passed
            epoch = self.last_epoch + 1
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            self._find_cycle(epoch)
        self.last_epoch: int = math.floor(epoch)
        self._set(self.get_lr)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.step(epoch)

    def _find_cycle(self, epoch: float) -> None:
        """Find the cycle that an epoch lies in."""
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        self.T_i, self.T_cur = self.T_0, epoch
        if self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        while self.T_cur >= self.T_i:                # by logarithms the first epoch of a cycle may count to the one before
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult
