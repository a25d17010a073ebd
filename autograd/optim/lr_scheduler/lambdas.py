"""LambdaLR and MultiplicativeLR: learning rates from functions of the epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..optimizer import Optimizer
from .scheduler import LRScheduler, checked, saved_callable


class LambdaLR(LRScheduler):
    """Set the learning rate to the initial one times lr_lambda(epoch).

    state_dict() excludes functions; of callable objects it has the attributes."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
                 last_epoch: int = -1) -> None:
        self.optimizer: Optimizer = checked(optimizer)
        count = len(optimizer.param_groups)
        given: Any = lr_lambda
        if isinstance(given, (list, tuple)) and len(given) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(given)}")
        self.lr_lambdas: list[Callable[[int], float]] = list(given) if isinstance(given, (list, tuple)) else [given] * count
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """All attributes except the optimizer and functions."""
        return {**super().state_dict(), "lr_lambdas": [saved_callable(fn) for fn in self.lr_lambdas]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state from state_dict(); the functions are unchanged."""
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
        for fn, saved in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if saved is not None:
                fn.__dict__.update(saved)

    def get_lr(self) -> list[Any]:
        """The initial rates times the functions."""
        self._within_step()
        return [lr * fn(self.last_epoch) for fn, lr in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(LambdaLR):
    """Multiply the learning rate by lr_lambda(epoch) at every epoch."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
                 last_epoch: int = -1) -> None:
        for fn in lr_lambda if isinstance(lr_lambda, (list, tuple)) else [lr_lambda]:
            if not callable(fn):
                raise TypeError(f"lr_lambda should be a function, but got {type(fn).__name__}")
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self) -> list[Any]:
        """The present rates times the functions."""
        self._within_step()
        if self._is_initial:
            return self._unchanged()
        return [group["lr"] * fn(self.last_epoch)
                for fn, group in zip(self.lr_lambdas, self.optimizer.param_groups, strict=True)]

    def _get_closed_form_lr(self) -> list[Any]:
        return [lr * math.prod(fn(epoch) for epoch in range(1, self.last_epoch + 1))
                for fn, lr in zip(self.lr_lambdas, self.base_lrs, strict=True)]
