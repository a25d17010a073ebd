"""Elementwise: base of optimizers that update each element independently, so one pass updates all parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import is_
from typing import Any

import numpy as np

from ..base.arrays import is_half
from ..base.dtypes import default
from ..core.tensor import Tensor, result
from ..kernels.halves import converted, copy_into
from .arguments import number
from .differentiable import Formula, recorded_step
from .flat import FlatBuffers, Run, flat_buffers
from .optimizer import Optimizer, ParamsT, evaluate

GRADIENT = 1                         # among the vectors of a block: values, gradients, state


class Elementwise(Optimizer):
    """Base class: subclasses define the state of a parameter (`arrays`, `numbers`), the factors of a step (`rates`) and
    the arithmetic (`update`), which a compiler of steps can run by itself: step_plan.py."""

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

    def rates(self, numbers: dict[str, float], group: dict[str, Any], fresh: bool) -> dict[str, Any]:
        """Advance the numbers to this step; return the keyword arguments of update(): rates, and settings (bool or None).

        fresh: the arrays of the state were made just now."""
        raise NotImplementedError

    @staticmethod
    def update(*args: Any, **kwargs: Any) -> None:
        """update(values, gradients, *arrays, **rates) writes to these vectors, to the gradients only if `overwrites`.

        It branches on settings only, and combines rates with vectors only: arrays of one number round as numbers do."""
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = evaluate(closure)
        for index, group in enumerate(self.param_groups):
            if group.get("differentiable") and self.formula is not None:
                recorded_step(self.formula, group["params"], group, self.state, self.arrays(group), self.numbers(group))
                continue
            for run in self.runs(index, group):
                self._advance(run, group)
        return loss

    def runs(self, index: int, group: dict[str, Any]) -> Iterator[Run]:
        """The parameters of a group that have gradients, with their state, which is made where it is missing."""
        arrays, numbers = self.arrays(group), self.numbers(group)
        for buffers in self._group_buffers(index, group["params"]):
            runs = buffers.unchanged_runs(self.state, arrays, numbers)
            if runs is not None:
                yield from runs
                continue
            buffers.prepare(arrays, numbers)
            yield from buffers.runs(self.state, arrays, numbers)
            buffers.remember(self.state, arrays, numbers)

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
        blocks = run.blocks(self.overwrites)         # first of all: it refuses gradients of another dtype
        numbers = run.first_numbers()
        rates = self.rates(numbers, group, run.fresh)
        run.stepped(numbers)
        for parts in blocks:
            if is_half(parts[0]):                    # in float32, rounded once
                wide = [converted(part, np.float32) for part in parts]
                self.update(*wide, **rates)
                for k, part in enumerate(parts):
                    if k != GRADIENT:
                        copy_into(part, wide[k])
                continue
            self.update(*([part.view(part.real.dtype) for part in parts] if parts[0].dtype.kind == "c" else parts), **rates)

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


def moment_rates(beta1: float, beta2: float) -> dict[str, float]:
    """The arguments of optimizer_steps.moments()."""
    return {"beta1": beta1, "rest1": 1 - beta1, "beta2": beta2, "rest2": 1 - beta2}


def direction(group: dict[str, Any]) -> dict[str, Any]:
    """The arguments of optimizer_steps.descent(); weight decay of 0 is None, a setting."""
    decay = number(group["weight_decay"]) or None
    decoupled = group.get("decoupled_weight_decay") and decay is not None
    return {"maximize": bool(group["maximize"]), "decay": None if decoupled else decay,
            "shrink": 1 - number(group["lr"]) * decay if decoupled else None}
