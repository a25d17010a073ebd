"""A Python function of each element, in place: apply_, map_, map2_. Slow, and without derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.graph import shared_counter
from ...core.tensor import Tensor


def _write(name: str, x: Tensor, function: Callable[..., Any], *others: Tensor) -> Tensor:
    if any(t.tracked for t in (x, *others)):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    if not callable(function):
        raise TypeError(f"{name}() takes a callable, not {type(function).__name__}")
    arrays = [x.array, *(np.broadcast_to(t.array, x.array.shape) for t in others)]
    values = [function(*items) for items in zip(*(a.ravel().tolist() for a in arrays), strict=True)]
    x.array[...] = np.array(values, x.array.dtype).reshape(x.array.shape)
    shared_counter(x).value += 1
    return x


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element by callable(element). Returns self."""
    return _write("apply_", self, callable)


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace each element by callable(element, element of tensor). Returns self."""
    return _write("map_", self, callable, tensor)


def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replace each element by callable(element, element of x, element of y). Returns self."""
    return _write("map2_", self, callable, x, y)


__all__: list[str] = []
METHODS = ["apply_", "map2_", "map_"]
