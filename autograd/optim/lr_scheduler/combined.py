"""SequentialLR and ChainedScheduler: several schedulers of one optimizer, in sequence or together."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .plateau import ReduceLROnPlateau
from .scheduler import LRScheduler, values_of, write


class Combined(LRScheduler):
    """Base of both: the states of the schedulers are part of its state."""

    _schedulers: Sequence[Any]

    def _check(self, schedulers: Sequence[Any], optimizer: Optimizer) -> None:
        """Raise if the schedulers are not all of this optimizer, or one needs a metric."""
        name = type(self).__name__
        for number, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {number} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(f"{name} does not support `ReduceLROnPlateau` scheduler as it requires a metric when "
                                 f"calling `step`, but got one at index {number} in the given schedulers sequence.")
            if optimizer is not scheduler.optimizer:
                raise ValueError(f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                                 f"{type(scheduler).__name__} at index {number} has {scheduler.optimizer}, which is "
                                 f"different from {type(optimizer).__name__}.")

    def state_dict(self) -> dict[str, Any]:
        """The state of this scheduler and of its schedulers."""
        return {**super().state_dict(), "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


class SequentialLR(Combined):
    """Run schedulers in sequence: each one from its epoch 0, up to the next milestone."""

    def __init__(self, optimizer: Optimizer, schedulers: list[Any], milestones: list[int], last_epoch: int = -1) -> None:
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no scheduler.")
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError("Sequential Schedulers expects number of schedulers provided to be one more than the number "
                             f"of milestone points, but got number of schedulers {len(schedulers)} and the number of "
                             f"milestones to be equal to {len(milestones)}")
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch: int = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:                 # each constructor has set the rates of its first epoch
            write(group, "lr", group["initial_lr"])
        self.recursive_undo()
        if self.last_epoch > 0:                              # a late start, whatever epochs its schedulers were made for
            self._update_lr(self.last_epoch)
            return
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Undo the step that each scheduler's constructor has made."""
        sched = self if sched is None else sched
        if hasattr(sched, "_schedulers"):
            for inner in sched._schedulers:
                self.recursive_undo(inner)
        elif hasattr(sched, "last_epoch"):
            sched.last_epoch -= 1

    def step(self, epoch: float | None = None) -> None:
        """Advance to the next epoch; at a milestone, to epoch 0 of the next scheduler."""
        if epoch is not None:
            raise TypeError("SequentialLR.step() takes no epoch")
        self._update_lr()

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        index = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[index]
        begun = self._milestones[index - 1] if index > 0 else 0
        if epoch is not None or (index > 0 and begun == self.last_epoch):
            scheduler._update_lr(self.last_epoch - begun)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(Combined):
    """Apply all schedulers at each step, each to the learning rates of the previous one."""

    def __init__(self, schedulers: Sequence[Any], optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler to be chained, but got no scheduler.")
        optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        self._check(schedulers, optimizer)
        self._schedulers, self.optimizer = schedulers, optimizer
        epochs = {scheduler.last_epoch for scheduler in schedulers if not isinstance(scheduler, Combined)}
        if len(epochs) == 1 and max(epochs) > 0 and all(getattr(s, "_step_count", 2) <= 1 for s in schedulers):
            self._update_lr(max(epochs))                     # each was made with a late last_epoch, and set its own rate
        self._last_lr = values_of(optimizer, "lr")

    def _update_lr(self, epoch: int) -> None:                # type: ignore[override]
        """Set the rates of an epoch: all schedulers step from the first epoch up to it."""
        for group in self.optimizer.param_groups:
            write(group, "lr", group["initial_lr"])
        for scheduler in self._schedulers:
            scheduler.last_epoch = -1
        for passed in range(epoch + 1):
            for scheduler in self._schedulers:
                scheduler._is_initial = passed == 0
                scheduler._update_lr()
        self._last_lr = values_of(self.optimizer, "lr")

    def step(self, epoch: float | None = None) -> None:
        """Advance all schedulers by one epoch."""
        if epoch is not None:
            raise TypeError("ChainedScheduler.step() takes no epoch")
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = values_of(self.optimizer, "lr")
