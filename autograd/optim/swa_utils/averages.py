"""Averaging functions: the equal mean (SWA) and the exponential one (EMA)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.modes import no_grad
from ...core.tensor import Tensor
from ...core.types import TensorOrNumber


def _checked(decay: float) -> float:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")
    return decay


def get_swa_avg_fn() -> Callable[[Any, Any, Any], Any]:
    """The default avg_fn of AveragedModel: the equal mean of all models."""

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: TensorOrNumber) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], Any]:
    """An avg_fn for AveragedModel: decay * averaged + (1 - decay) * current."""
    _checked(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Tensor) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_multi_avg_fn() -> Callable[[Sequence[Any], Sequence[Any], Any], None]:
    """A multi_avg_fn for AveragedModel: the equal mean, in place."""
    return _for_lists(lambda averaged, current, count: averaged + (current - averaged) * (1 / (float(count) + 1)))


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[Sequence[Any], Sequence[Any], Any], None]:
    """A multi_avg_fn for AveragedModel: decay * averaged + (1 - decay) * current, in place."""
    _checked(decay)
    return _for_lists(lambda averaged, current, count: averaged + (current - averaged) * (1 - decay)
                     if averaged.array.dtype.kind in "fcV" else averaged * decay + current * (1 - decay))


def _for_lists(rule: Callable[[Any, Any, Any], Any]) -> Callable[[Sequence[Any], Sequence[Any], Any], None]:
    @no_grad()
    def update(averaged_list: Sequence[Any], current_list: Sequence[Any], num_averaged: Tensor) -> None:
        for averaged, current in zip(averaged_list, current_list, strict=True):
            averaged.copy_(rule(averaged, current, num_averaged))

    return update
