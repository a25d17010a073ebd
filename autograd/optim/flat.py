"""Parameters of one dtype laid end to end in one buffer, so that a step is a few passes over one array.

A parameter moves into the buffer only while nobody else holds its array (an alias made by detach(), state_dict() or
NumPy would be left behind); one that can't move is a unit of its own. The arithmetic is the same either way.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph import shared_counter
from ..tensor import Tensor

Array = np.ndarray[Any, Any]
State = dict[str, Any]


class Unit:
    """Parameters that are stepped together: their values and state as vectors, each one's part as views."""

    def __init__(self, params: Sequence[Tensor], names: Sequence[str]) -> None:
        self.params = list(params)
        dtype, size = params[0].array.dtype, sum(p.array.size for p in params)
        self.values: Array = np.empty(size, dtype)
        self.gradients: Array = np.empty(size, dtype)
        self.state: State = {"step": 0, **{name: np.zeros(size, dtype) for name in names}}
        self.views: list[Array] = []
        self.states: list[State] = []                # of each parameter: its step, and views of the unit's arrays
        start = 0
        for p in self.params:
            part = slice(start, start + p.array.size)
            start = part.stop
            view = self.values[part].reshape(p.array.shape)
            view[...] = p.array
            self.views.append(view)
            self.states.append({"step": 0, **{n: self.state[n][part].reshape(p.array.shape) for n in names}})
        if len(self.params) > 1:
            for p, view in zip(self.params, self.views, strict=True):
                p.array = view

    def whole(self) -> bool:
        """Whether all parameters live in the buffer still, have gradients, and have made the same number of steps."""
        step = self.state["step"]
        for p, view, state in zip(self.params, self.views, self.states, strict=True):
            if p.array is not view or p._grad is None or state["step"] != step:
                return False
        return True

    def gather(self) -> Array:
        """The gradients as one vector, in a buffer that may be overwritten."""
        return np.concatenate([p._grad.array.reshape(-1) for p in self.params], out=self.gradients)

    def stepped(self) -> None:
        """Count the step, and the write to every parameter."""
        step = self.state["step"]
        for p, state in zip(self.params, self.states, strict=True):
            state["step"] = step
            shared_counter(p).value += 1


def movable(param: Tensor) -> bool:
    """Whether nobody but the parameter holds its array: no alias would be left behind if it moved."""
    array = param.array
    return array.base is None and sys.getrefcount(array) <= ALONE


def _references_alone() -> int:
    """What movable() counts for an array that only one object holds; it depends on the interpreter."""
    holder = Tensor(np.zeros(1))
    array = holder.array
    return sys.getrefcount(array)


ALONE = _references_alone()
