"""Elementwise: the base of optimisers whose step treats each element by itself, so that all parameters go in one pass."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any

import numpy as np

from ..base.dtypes import default
from ..core.tensor import Tensor, result
from ..kernels import optimizer_steps
from .arguments import number
from .differentiable import Formula, recorded_step
from .flat import Array, Home, Run, homes
from .optimizer import Optimizer, ParamsT, evaluate

Update = Callable[..., None]


class Elementwise(Optimizer):
    """A subclass names the state of a parameter (`arrays`, `numbers`) and writes the formula (`rule`)."""

    formula: Formula | None = None                   # the same on Tensors, for differentiable=True
    overwrites = True                                # whether the formula may write into the gradients that it is given

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self._homes: list[list[Home]] = []           # by group
        self._whole = 0                               # elements of the group that is stepped, the same on all ranks
        super().__init__(params, defaults)

    def arrays(self, group: dict[str, Any]) -> dict[str, float]:
        """What is shaped like the parameter in its state, in order, and the number that fills it at first."""
        return {}

    def numbers(self, group: dict[str, Any]) -> dict[str, float]:
        """What is one number in the state of a parameter, and its first value. In state_dict these come first."""
        return {"step": 0.0}

    def rule(self, numbers: dict[str, float], group: dict[str, Any], fresh: bool) -> Update:
        """Bring the numbers to this step; give update(values, gradients, *arrays), which works in place on vectors.

        It may overwrite the gradients if the class says so. fresh: the arrays of the state were made just now.
        """
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient. closure recomputes the loss, which is returned."""
        loss = evaluate(closure)
        for index, group in enumerate(self.param_groups):
            arrays, numbers = self.arrays(group), self.numbers(group)
            if group.get("differentiable") and self.formula is not None:
                recorded_step(self.formula, group["params"], group, self.state, arrays, numbers)
                continue
            group_homes = self._group_homes(index, group["params"])
            self._whole = sum([home.values.size for home in group_homes])
            for home in group_homes:
                home.prepare(arrays, numbers)
                runs = home.again(self.state, arrays, numbers)
                for run in home.runs(self.state, arrays, numbers) if runs is None else runs:
                    self._advance(run, group)
                if runs is None:
                    home.remember(self.state, arrays, numbers)
        return loss

    def _group_homes(self, index: int, params: list[Tensor]) -> list[Home]:
        """The homes of a group; new ones if its parameters are others than before, or of other dtypes."""
        while len(self._homes) <= index:
            self._homes.append([])
        held = self._homes[index]
        if len(held) == 1 and len(held[0].params) == len(params) and all(map(is_, held[0].params, params)) and (
                held[0].dtype is params[0].array.dtype):
            return held
        known = {id(p): home.dtype for home in held for p in home.params}
        if [*known.items()] != [(id(p), p.array.dtype) for home in held for p in home.params] or (
                set(known) != set(map(id, params))):
            held = self._homes[index] = homes(params)
        return held

    def _advance(self, run: Run, group: dict[str, Any]) -> None:
        """One step of a run, block by block; complex numbers are pairs of real ones."""
        numbers = {name: vector[0].item() for name, vector in run.numbers.items()}
        blocks = run.blocks(self.overwrites)         # first of all: it refuses gradients of another dtype
        update = self.rule(numbers, group, run.fresh)
        for name, vector in run.numbers.items():
            vector[...] = numbers[name]
        for parts in blocks:
            update(*([part.view(part.real.dtype) for part in parts] if parts[0].dtype.kind == "c" else parts))
        run.stepped()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("_homes", [])
        for group in self.param_groups:
            for name, value in self.defaults.items():
                group.setdefault(name, value)
            for name in self.numbers(group):
                for p in group["params"]:
                    held = self.state[p].get(name) if p in self.state else None
                    if held is not None and not isinstance(held, Tensor):
                        self.state[p][name] = result(np.array(held, default.dtype))

    def check_state(self, param: Tensor, state: dict[str, Any]) -> None:
        """ValueError if an array of the state is not shaped like its parameter."""
        for group in self.param_groups:
            for name in self.arrays(group):
                value = state.get(name)
                if isinstance(value, Tensor) and value.shape != param.shape:
                    raise ValueError(f"state {name!r} has shape {list(value.shape)}, its parameter {list(param.shape)}")


def descent(p: Array, g: Array, maximize: bool, weight_decay: Any) -> Array:
    """The gradient to go down along, with weight decay as the gradient of |p|^2 / 2 has it. Overwrites g."""
    return optimizer_steps.descent(p, g, maximize, number(weight_decay))
