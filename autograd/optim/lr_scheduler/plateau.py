"""ReduceLROnPlateau: reduce the learning rate when a metric stops improving."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ...core.tensor import Tensor
from ..optimizer import Optimizer
from .scheduler import EPOCH_DEPRECATION_WARNING, LRScheduler, checked, values_of, write


class ReduceLROnPlateau(LRScheduler):
    """Multiply the learning rate by `factor` when a metric has not improved for more than `patience` epochs.

    `cooldown` epochs follow in which nothing is counted. An improvement exceeds the best value by the threshold, relative
    ("rel") or absolute ("abs")."""

    def __init__(self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10,
                 threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0, min_lr: Any = 0,
                 eps: float = 1e-8) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        self.optimizer: Optimizer = checked(optimizer)
        count = len(optimizer.param_groups)
        listed = isinstance(min_lr, (list, tuple))
        if listed and len(min_lr) != count:
            raise ValueError(f"expected {count} min_lrs, got {len(min_lr)}")
        self.default_min_lr: float | None = None if listed else min_lr
        self.min_lrs = list(min_lr) if listed else [min_lr] * count
        self.patience: int = patience
        self.cooldown: int = cooldown
        self.eps: float = eps
        self.last_epoch: int = 0
        self._last_lr = values_of(optimizer, "lr")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.mode = mode
        self.threshold: float = threshold
        self.threshold_mode = threshold_mode
        self.mode_worse: float = math.inf if mode == "min" else -math.inf
        self._reset()

    def _reset(self) -> None:
        """Reset the best metric and all counters."""
        self.best: float = self.mode_worse
        self.cooldown_counter: int = 0
        self.num_bad_epochs: int = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether it is resting after a reduction."""
        return self.cooldown_counter > 0

    def is_better(self, a: float, best: float) -> bool:
        """Whether a is an improvement on best."""
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "rel":
            best = best * (1.0 + sign * self.threshold)
        else:
            best = best + sign * self.threshold
        return a < best if self.mode == "min" else a > best

    _is_better = is_better

    def step(self, metrics: float | Tensor, epoch: int | None = None) -> None:      # type: ignore[override]
        """Take note of the metric of an epoch."""
        current = float(metrics)
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=3)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(self.last_epoch)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = values_of(self.optimizer, "lr")

    def _reduce_lr(self, epoch: int | None) -> None:
        """Shrink the rates, to min_lr at least, where that changes them by more than eps."""
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                                   f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}): change `min_lrs` too")
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            before = float(group["lr"])
            after = max(before * self.factor, least)
            if before - after > self.eps:
                write(group, "lr", after)
