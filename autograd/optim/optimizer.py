"""Optimizer: parameter groups, state, and a step over flat buffers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph import shared_counter
from ..mode import enable_grad
from ..tensor import Tensor
from .flat import State, Unit, movable

Array = np.ndarray[Any, Any]


class Optimizer:
    """The base of optimisers: a subclass gives defaults, names the arrays of its state, and writes `update`.

    params: Tensors, or (name, Tensor) pairs, or dicts with "params" and options of their own.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self._units: list[list[Unit]] = []           # for each group, what is stepped together
        if isinstance(params, (Tensor, dict)):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                            f"{type(params).__name__}")
        given = list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    def state_names(self, group: dict[str, Any]) -> tuple[str, ...]:
        """The arrays, shaped like the parameter, that the state of one parameter holds."""
        return ()

    def update(self, values: Array, g: Array, state: State, group: dict[str, Any]) -> None:
        """One step of `values` in place, from gradients g (may be overwritten); state["step"] counts from 1."""
        raise NotImplementedError

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own; missing options are the defaults."""
        group = {**self.defaults, **param_group}
        params = group["params"]
        params = [params] if isinstance(params, Tensor) else [p[1] if isinstance(p, tuple) else p for p in params]
        known = {id(p) for g in self.param_groups for p in g["params"]}
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not p.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
            if id(p) in known:
                raise ValueError("some parameters appear in more than one parameter group")
            known.add(id(p))
        group["params"] = params
        self.param_groups.append(group)
        self._units.append([])

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget (or fill with zeros) the gradients."""
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none or p._grad is None:
                    p._grad = None
                else:
                    p.grad = Tensor(np.zeros_like(p.array))

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient. closure recomputes the loss, which is returned."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for number, group in enumerate(self.param_groups):
            for unit in self._units[number] or self._lay_out(number):
                if unit.whole() and len(unit.params) > 1:
                    unit.state["step"] += 1
                    self.update(unit.values, unit.gather(), unit.state, group)
                    unit.stepped()
                else:
                    self._step_each(unit, group)
        return loss

    def _lay_out(self, number: int) -> list[Unit]:
        """The units of a group: parameters that can move together by dtype, in order; the others alone."""
        group = self.param_groups[number]
        names = self.state_names(group)
        together: dict[Any, list[Tensor]] = {}
        units = []
        for p in group["params"]:
            if movable(p):
                together.setdefault(p.array.dtype, []).append(p)
            else:
                units.append(Unit([p], names))
        self._units[number] = [Unit(params, names) for params in together.values()] + units
        return self._units[number]

    def _step_each(self, unit: Unit, group: dict[str, Any]) -> None:
        """Step the parameters of a unit one by one: those that have a gradient."""
        for p, state in zip(unit.params, unit.states, strict=True):
            if p._grad is None:
                continue
            if p._grad.array.dtype != p.array.dtype:
                raise RuntimeError(f"gradient of dtype {p._grad.dtype} for a parameter of dtype {p.dtype}")
            for name in self.state_names(group):
                if state[name].dtype != p.array.dtype:       # the model was cast since
                    state[name] = state[name].astype(p.array.dtype)
            state["step"] += 1
            self.update(p.array, p._grad.array.copy(), state, group)
            shared_counter(p).value += 1
        steps = {state["step"] for state in unit.states}
        if len(steps) == 1:
            unit.state["step"] = steps.pop()

    @property
    def state(self) -> dict[Tensor, State]:
        """The state of each parameter that has made a step."""
        return {p: s for units in self._units for u in units for p, s in zip(u.params, u.states, strict=True)
                if s["step"]}

    def state_dict(self) -> dict[str, Any]:
        """State and options, parameters by number, in PyTorch's form."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            indices = [numbers.setdefault(id(p), len(numbers)) for p in group["params"]]
            groups.append({**{k: v for k, v in group.items() if k != "params"}, "params": indices})
        states = {numbers[id(p)]: {k: Tensor(np.array(v, np.float32) if k == "step" else v) for k, v in s.items()}
                  for p, s in self.state.items()}
        return {"state": dict(sorted(states.items())), "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over state and options that state_dict() gave; ValueError, and nothing changed, if they do not fit."""
        groups = state_dict["param_groups"]
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for mine, theirs in zip(self.param_groups, groups, strict=True):
            if len(mine["params"]) != len(theirs["params"]):
                raise ValueError("loaded state dict contains a parameter group that doesn't match the size of "
                                 "optimizer's group")
        params = [p for group in self.param_groups for p in group["params"]]
        numbers = [n for group in groups for n in group["params"]]
        loaded = {id(p): state_dict["state"][n] for p, n in zip(params, numbers, strict=True)
                  if n in state_dict["state"]}
        for p in params:
            for name, value in loaded.get(id(p), {}).items():
                if name != "step" and np.shape(_array(value)) != p.shape:
                    raise ValueError(f"state {name!r} has shape {list(np.shape(_array(value)))}, its parameter "
                                     f"{list(p.shape)}")
        for mine, theirs in zip(self.param_groups, groups, strict=True):
            mine.update({k: v for k, v in theirs.items() if k != "params"})
        for number in range(len(self.param_groups)):
            for unit in self._units[number] or self._lay_out(number):
                for p, state in zip(unit.params, unit.states, strict=True):
                    _take(state, loaded.get(id(p), {}))
                unit.state["step"] = unit.states[0]["step"]


def _array(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else np.asarray(value)


def _take(state: State, given: dict[str, Any]) -> None:
    """Write the given state of one parameter over its own."""
    state["step"] = int(_array(given["step"])) if "step" in given else int(bool(given))
    for name, value in given.items():
        if name != "step" and name in state:
            np.copyto(state[name], _array(value), casting="same_kind")
