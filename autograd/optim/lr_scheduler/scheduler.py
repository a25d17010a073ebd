"""LRScheduler: counts epochs and sets the learning rate of each parameter group."""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable
from typing import Any

from ...base.training import reported
from ...core.primitive import primitive
from ...core.tensor import Tensor
from ...core.types import TensorOrNumber
from ..arguments import number
from ..optimizer import Optimizer

MSG_ORDER = ("Detected call of `lr_scheduler.step()` before `optimizer.step()`. Call `optimizer.step()` first, or the first "
             "value of the learning rate schedule is skipped: https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate")
EPOCH_DEPRECATION_WARNING = "The epoch parameter in `scheduler.step()` is deprecated: call scheduler.step() without it."
MSG_GET_LR = "To get the last learning rate computed by the scheduler, please use `get_last_lr()`."


def checked(optimizer: Any) -> Optimizer:
    """The optimizer; TypeError if it is none."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def copy_of(value: TensorOrNumber) -> Any:
    """The value, copied if it is a Tensor, since groups write to their own."""
    return value.clone() if isinstance(value, Tensor) else value


def values_of(optimizer: Optimizer, key: str) -> list[Any]:
    """An option of each group."""
    return [copy_of(group[key]) for group in optimizer.param_groups]


def write(group: dict[str, Any], key: str, value: float) -> None:
    """Set an option of a group; one that is a Tensor is written in place."""
    if isinstance(group[key], Tensor):
        group[key].fill_(number(value))
    else:
        group[key] = value


def for_groups(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """One value for each group, given one or a list."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [copy_of(value) for _ in range(count)]
    if len(value) != count:
        raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
                         f"param_groups has {count}.")
    return [copy_of(v) for v in value]


class LRScheduler:
    """Base class of schedulers: subclasses implement get_lr(), the learning rates of the groups at self.last_epoch.

    _get_closed_form_lr() may compute the same without the present rates, for step(epoch) and for a late last_epoch."""

    _get_lr_called_within_step = False
    _is_initial = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in vars(cls):
            cls.step = primitive(reported("scheduler")(cls.step))        # type: ignore[method-assign]

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        self.optimizer: Optimizer = checked(optimizer)
        for index, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copy_of(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{index}] when resuming scheduler "
                               "with last_epoch >= 0: load the optimizer's state first")
        self.base_lrs: list[float] = values_of(optimizer, "initial_lr")
        self.last_epoch: int = last_epoch
        if not optimizer.__dict__.get("_scheduled"):         # steps count from when the first scheduler came
            optimizer._scheduled, optimizer._opt_called = True, False
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the rates of the first epoch."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """All attributes except the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state from state_dict()."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The learning rates set by the last step()."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The learning rates of the groups at self.last_epoch; step() calls this."""
        raise NotImplementedError(f"{type(self).__name__} has no get_lr()")

    def _within_step(self) -> None:
        """Warn if get_lr() is not called by step()."""
        if not self._get_lr_called_within_step:
            warnings.warn(MSG_GET_LR, UserWarning, stacklevel=3)

    def _scaled(self, factor: float) -> list[Any]:
        """The present rates times a factor."""
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _unchanged(self) -> list[Any]:
        """The present rates."""
        return values_of(self.optimizer, "lr")

    @reported("scheduler")
    def step(self, epoch: int | None = None) -> None:
        """Advance to the next epoch, after optimizer.step()."""
        if self._step_count == 1 and not self.optimizer._opt_called:
            warnings.warn(MSG_ORDER, UserWarning, stacklevel=2)
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._advance(epoch)

    @primitive
    def _advance(self, epoch: int | None) -> None:
        """Count the step, and set its rates."""
        self._step_count += 1
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        """Set the rates of the next epoch, or of the given one."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = getattr(self, "_get_closed_form_lr", None)
        late = self._is_initial and self.last_epoch > 0      # the present rates may be of any epoch
        self._set(closed if closed is not None and (late or epoch is not None) else self.get_lr)

    def _set(self, compute: Callable[[], list[Any]]) -> None:
        """Write computed rates to the groups."""
        self._get_lr_called_within_step = True
        try:
            values = compute()
        finally:
            self._get_lr_called_within_step = False
        for group, lr in zip(self.optimizer.param_groups, values, strict=True):
            write(group, "lr", lr)
        self._last_lr = values_of(self.optimizer, "lr")


def saved_callable(fn: Any) -> dict[str, Any] | None:
    """The part of a callable that state_dict() holds: the attributes of an object, None for a function."""
    return None if fn is None or isinstance(fn, types.FunctionType) else dict(fn.__dict__)
