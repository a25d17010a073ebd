"""OneByOne: base of optimizers that need a norm or product of each whole parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base.dtypes import default
from ..core.graph import shared_counter
from ..core.tensor import Tensor, result
from .flat import Array
from .optimizer import Optimizer, evaluate


class OneByOne(Optimizer):
    """Base class: subclasses implement `update`, which moves one parameter."""

    def update(self, p: Array, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step of p in place, from the gradient g, which must stay as it is."""
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = evaluate(closure)
        for group in self.param_groups:
            for p in group["params"]:
                if p._grad is None:
                    continue
                if p.array.dtype.kind == "c":
                    raise RuntimeError(f"{type(self).__name__} does not support complex parameters")
                self.update(p.array, p._grad.array, self.state[p], group)
                shared_counter(p).value += 1
        return loss


def array_in(state: dict[str, Any], name: str, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """An array of the state, zeros at first."""
    if name not in state:
        state[name] = result(np.zeros(shape, dtype))
    array: Array = state[name].array
    return array


def count_step(state: dict[str, Any]) -> float:
    """The number of this step, from 1, kept in the state as a tensor."""
    if not isinstance(state.get("step"), Tensor):
        state["step"] = result(np.array(state.get("step", 0), default.dtype))
    state["step"].array += 1
    return float(state["step"].array)


def mean(x: Array, axis: int) -> Array:
    """The mean over an axis, which stays; half precision is added up in single."""
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    return x.mean(axis, wide, keepdims=True).astype(x.dtype, copy=False)


def norm(x: Array) -> float:
    """The Euclidean norm of all elements."""
    return float(np.linalg.norm(x.reshape(-1)))
