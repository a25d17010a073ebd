"""ConstantLR, LinearLR, PolynomialLR: scale the initial learning rates for total_iters epochs."""

from __future__ import annotations

from typing import Any

from ..optimizer import Optimizer
from .scheduler import LRScheduler, values_of


class ConstantLR(LRScheduler):
    """Scale the learning rate by `factor` until epoch total_iters."""

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor: float = factor
        self.total_iters: int = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The present rates, times or through the factor at the two ends."""
        self._within_step()
        if self.last_epoch == 0:
            return self._scaled(self.factor if self.total_iters > 0 else 1.0)
        if self.last_epoch != self.total_iters:
            return self._unchanged()
        return self._scaled(1.0 / self.factor) if self.factor else values_of(self.optimizer, "initial_lr")

    def _get_closed_form_lr(self) -> list[Any]:
        factor = 1.0 if self.last_epoch >= self.total_iters else self.factor
        return [lr * factor for lr in self.base_lrs]


class LinearLR(LRScheduler):
    """Scale the learning rate by a factor that changes linearly from start_factor to end_factor."""

    def __init__(self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5,
                 last_epoch: int = -1) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor: float = start_factor
        self.end_factor: float = end_factor
        self.total_iters: int = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The present rates times the quotient of this epoch's factor and the last one's."""
        self._within_step()
        if self.last_epoch == 0:
            return self._scaled(self.start_factor if self.total_iters > 0 else self.end_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._unchanged()
        rise = self.end_factor - self.start_factor
        return self._scaled(1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise))

    def _get_closed_form_lr(self) -> list[Any]:
        rise = self.end_factor - self.start_factor
        factor = self.start_factor + rise * min(self.total_iters, self.last_epoch) / self.total_iters \
            if self.total_iters else self.end_factor
        return [lr * factor for lr in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Scale the learning rate by (1 - epoch / total_iters)^power, and by 0 afterwards."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters: int = total_iters
        self.power: float = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The present rates times the quotient of this epoch's factor and the last one's."""
        self._within_step()
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._unchanged()
        left, before = (1.0 - epoch / self.total_iters for epoch in (self.last_epoch, self.last_epoch - 1))
        return self._scaled((left / before) ** self.power)

    def _get_closed_form_lr(self) -> list[Any]:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [lr * left ** self.power for lr in self.base_lrs]
