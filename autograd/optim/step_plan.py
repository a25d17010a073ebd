"""The step of an Elementwise optimizer for a compiler: NumPy on vectors, with rates that are read again before each step.

For each of StepPlan(optimizer).parts the compiler once calls `optimizer.update(part.values, g, *part.arrays,
**part.arguments)` on arrays that record the calls. g holds the gradients of part.params, end to end. Since update() treats
elements independently, it may also be called for each parameter, on the slices of these vectors.
"""

from __future__ import annotations

from itertools import chain
from operator import is_, itemgetter
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from .elementwise import Elementwise
from .flat import Array, Run
from .optimizer import Optimizer, every_optimizer


def interception(optimizer: Optimizer) -> str:
    """What in its steps is no update(): a step() of its own, hooks, recording; else empty."""
    if not isinstance(optimizer, Elementwise) or type(optimizer).step is not Elementwise.step or "step" in vars(optimizer):
        return f"{type(optimizer).__name__} has its own step()"
    if (every_optimizer.pre or every_optimizer.post or optimizer._optimizer_step_pre_hooks
            or optimizer._optimizer_step_post_hooks):
        return "a hook is registered on the optimizer's step()"
    if any(group.get("differentiable") for group in optimizer.param_groups):
        return "differentiable=True records each step"
    return ""


def refusal(optimizer: Optimizer, closure: Any = None) -> str:
    """Why a step of an optimizer has to be called and can't be compiled; empty if it can."""
    if reason := interception(optimizer) or ("" if closure is None else "step(closure) computes the loss itself"):
        return reason
    for group in optimizer.param_groups:
        for p in group["params"]:
            state = optimizer.state.get(p, {})
            if type(p.array) is not np.ndarray or p.array.dtype.char not in "fd":
                return f"a parameter is {type(p.array).__name__} of {p.array.dtype}, not ndarray of float32 or float64"
            if p._grad is not None and not optimizer.arrays(group).keys() <= state.keys():  # type: ignore[attr-defined]
                return "the optimizer has no state before its first step()"
    if not all(array is None or array.flags.c_contiguous for array in held_arrays(optimizer)):
        return "a parameter or an array of its state is not contiguous"
    return ""


def held_arrays(optimizer: Optimizer) -> list[Array | None]:
    """The arrays of all parameters, then of their state, with None for each group before them and for what is no tensor."""
    groups, state = optimizer.param_groups, optimizer.state
    params = [*chain.from_iterable(map(itemgetter("params"), groups))]
    held = chain(groups, params, chain.from_iterable(map(dict.values, filter(None, map(state.get, params)))))
    return [getattr(x, "array", None) for x in held]


class Part:
    """Parameters that one call of update() moves, as vectors. `settings` select its branches: a program for each."""

    def __init__(self, optimizer: Elementwise, index: int, run: Run) -> None:
        self.index: int = index                      # of the group
        self.run: Run = run
        self.params: list[Tensor] = run.params
        self.values: Array = run.values
        self.arrays: tuple[Array, ...] = run.arrays
        self.settings: dict[str, bool | None]
        _, self.settings, rates = self.next_step(optimizer)
        self.rates: Array = np.array([*rates.values()], run.values.dtype)
        self.arguments: dict[str, Any] = {**self.settings, **{name: self.rates[i:i + 1].reshape(())
                                                              for i, name in enumerate(rates)}}

    def next_step(self, optimizer: Elementwise) -> tuple[dict[str, float], dict[str, Any], dict[str, float]]:
        """The numbers after the next step, and the settings and rates of its update()."""
        numbers = self.run.first_numbers()
        settings: dict[str, Any] = {}
        rates: dict[str, float] = {}
        for name, x in optimizer.rates(numbers, optimizer.param_groups[self.index], False).items():
            (settings if x is None or x is True or x is False else rates)[name] = x
        return numbers, settings, rates


class StepPlan:
    """The parts of a step in which those parameters move that have a gradient now. refusal() must be empty."""

    def __init__(self, optimizer: Elementwise) -> None:
        self.optimizer: Elementwise = optimizer
        self.parts: list[Part] = [Part(optimizer, index, run) for index, group in enumerate(optimizer.param_groups)
                                  for run in optimizer.runs(index, group)]
        self.held: list[Array | None] = held_arrays(optimizer)

    def _unchanged(self) -> bool:
        """Whether the arrays are those of then."""
        held = held_arrays(self.optimizer)
        return len(held) == len(self.held) and all(map(is_, held, self.held))

    def read_rates(self) -> bool:
        """Advance the optimizer's numbers by a step, and write the rates of this step to `rates` of each part.

        False, and nothing is changed, if step() must be called this time: something was moved, or has other settings."""
        optimizer = self.optimizer
        if interception(optimizer) or not self._unchanged():
            return False
        steps = [(part, *part.next_step(optimizer)) for part in self.parts]
        if any(settings != part.settings or len(optimizer.arrays(optimizer.param_groups[part.index])) != len(part.arrays)
               or any(len(set(vector.tolist())) > 1 for vector in part.run.numbers.values())
               for part, _, settings, _ in steps):
            return False
        for part, numbers, _, rates in steps:
            part.run.stepped(numbers)
            part.rates[:] = [*rates.values()]
        optimizer._opt_called = True
        optimizer.steps_taken += 1
        every_optimizer.steps += 1
        return True
