"""Elementwise: base of optimizers that update each element independently, so one pass updates all parameters."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any

import numpy as np

from ..base.arrays import is_half
from ..base.dtypes import default
from ..core.tensor import Tensor, result
from ..kernels import optimizer_steps
from ..kernels.halves import converted, copy_into
from .arguments import number
from .differentiable import Formula, recorded_step
from .flat import Array, FlatBuffers, Run, flat_buffers
from .optimizer import Optimizer, ParamsT, evaluate

Update = Callable[..., None]
GRADIENT = 1                         # among the vectors of a block: values, gradients, state


class Elementwise(Optimizer):
    """Base class: subclasses define the state of a parameter (`arrays`, `numbers`) and the update (`rule`)."""

    formula: Formula | None = None                   # the same on Tensors, for differentiable=True
    overwrites = True                                # whether the formula may write into the gradients that it is given

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self._flat_buffers: list[list[FlatBuffers]] = []           # by group
        super().__init__(params, defaults)

    def arrays(self, group: dict[str, Any]) -> dict[str, float]:
        """The arrays in a parameter's state that have its shape, in order, each with its initial value."""
        return {}

    def numbers(self, group: dict[str, Any]) -> dict[str, float]:
        """The numbers in a parameter's state, each with its initial value. In state_dict() they come before the arrays."""
        return {"step": 0.0}

    def rule(self, numbers: dict[str, float], group: dict[str, Any], fresh: bool) -> Update:
        """Advance the numbers to this step; return update(values, gradients, *arrays), which writes to these vectors.

        It may overwrite the gradients if the class says so. fresh: the arrays of the state were made just now."""
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = evaluate(closure)
        for index, group in enumerate(self.param_groups):
            arrays, numbers = self.arrays(group), self.numbers(group)
            if group.get("differentiable") and self.formula is not None:
                recorded_step(self.formula, group["params"], group, self.state, arrays, numbers)
                continue
            for buffers in self._group_buffers(index, group["params"]):
                buffers.prepare(arrays, numbers)
                runs = buffers.unchanged_runs(self.state, arrays, numbers)
                for run in buffers.runs(self.state, arrays, numbers) if runs is None else runs:
                    self._advance(run, group)
                if runs is None:
                    buffers.remember(self.state, arrays, numbers)
        return loss

    def _group_buffers(self, index: int, params: list[Tensor]) -> list[FlatBuffers]:
        """The FlatBuffers of a group; new ones if its parameters or their dtypes have changed."""
        while len(self._flat_buffers) <= index:
            self._flat_buffers.append([])
        current = self._flat_buffers[index]
        if len(current) == 1 and len(current[0].params) == len(params) and all(map(is_, current[0].params, params)) and (
                current[0].dtype is params[0].array.dtype):
            return current
        known = {id(p): buffers.dtype for buffers in current for p in buffers.params}
        if [*known.items()] != [(id(p), p.array.dtype) for buffers in current for p in buffers.params] or (
                set(known) != set(map(id, params))):
            current = self._flat_buffers[index] = flat_buffers(params)
        return current

    def _advance(self, run: Run, group: dict[str, Any]) -> None:
        """One step of a run, block by block; complex numbers are pairs of real ones."""
        numbers = {name: vector[0].item() for name, vector in run.numbers.items()}
        blocks = run.blocks(self.overwrites)         # first of all: it refuses gradients of another dtype
        update = self.rule(numbers, group, run.fresh)
        for name, vector in run.numbers.items():
            vector[...] = numbers[name]
        for parts in blocks:
            if is_half(parts[0]):                    # in float32, rounded once
                wide = [converted(part, np.float32) for part in parts]
                update(*wide)
                for k, part in enumerate(parts):
                    if k != GRADIENT:
                        copy_into(part, wide[k])
                continue
            update(*([part.view(part.real.dtype) for part in parts] if parts[0].dtype.kind == "c" else parts))
        run.stepped()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("_flat_buffers", [])
        for group in self.param_groups:
            for name, value in self.defaults.items():
                group.setdefault(name, value)
            for name in self.numbers(group):
                for p in group["params"]:
                    current = self.state[p].get(name) if p in self.state else None
                    if current is not None and not isinstance(current, Tensor):
                        self.state[p][name] = result(np.array(current, default.dtype))

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
