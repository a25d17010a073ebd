"""Nested tuples, lists and dicts of tensors: batches and outputs as users' modules take and give them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from autograd import Tensor


def leaves(nest: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Everything in a nest that is no container, with its path, in a fixed order."""
    if isinstance(nest, dict):
        for key, value in nest.items():
            yield from leaves(value, f"{path}[{key!r}]")
    elif isinstance(nest, (tuple, list)):
        for index, value in enumerate(nest):
            yield from leaves(value, f"{path}[{index}]")
    else:
        yield path, nest


def tensors(nest: Any) -> list[Tensor]:
    """The tensors in a nest, in order."""
    return [value for _, value in leaves(nest) if isinstance(value, Tensor)]


def rebuilt(nest: Any, function: Callable[[Any], Any]) -> Any:
    """The same nest with function(leaf) for every leaf."""
    if isinstance(nest, dict):
        return type(nest)((key, rebuilt(value, function)) for key, value in nest.items())
    if isinstance(nest, tuple) and hasattr(nest, "_fields"):
        return type(nest)(*(rebuilt(value, function) for value in nest))
    if isinstance(nest, (tuple, list)):
        return type(nest)(rebuilt(value, function) for value in nest)
    return function(nest)
