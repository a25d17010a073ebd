"""How a DataParallel model takes part in Join: with zeros that count nothing."""

from __future__ import annotations

from typing import Any

from .join import Join, JoinHook
from .model_state import broadcast_state, broadcast_tensors

BACKWARD, BACKWARD_GIVEN = 2, 3      # a summed backward pass begins; with a weight that the user gave


class JoinedModel:
    """What the model's reducer and forward tell while it is inside a Join."""

    def __init__(self, model: Any, join: Join) -> None:
        self.model, self.join = model, join

    def forward_begins(self) -> int:
        """Tell of a step; the rank whose buffers count."""
        Join.notify_join_context(self.model)
        return self.join.active[0]

    def backward_begins(self, given: bool) -> None:
        """Tell of a summed backward pass."""
        self.join.tell(BACKWARD_GIVEN if given else BACKWARD)


class ModelHook(JoinHook):
    """What a rank without batches does. initial: it counts in a mean that all ranks count alike in."""

    def __init__(self, model: Any, initial: bool) -> None:
        self.model, self.initial = model, initial

    def main_hook(self) -> None:
        """The broadcast of buffers in forward."""
        if self.model.training and self.model.forward_sync_buffers:
            broadcast_tensors(self.model.synchronised_buffers(), self.model.comm, self.model._join.active[0])

    def event(self, code: int) -> None:
        """The sums of a backward pass."""
        counts = self.initial and self.model.average == "ranks" and code == BACKWARD
        self.model._reducer.shadow(1.0 if counts else 0.0)

    def post_hook(self, is_last_joiner: bool) -> None:
        """The final weights, from a rank that went on longest."""
        active = self.model._join.active
        if len(active) < self.model.comm.size:
            broadcast_state(self.model.module, self.model.comm, active[0], self.model.ignored)
