"""Nested tuples, lists, dicts and dataclasses of tensors: batches and outputs as users' modules take and give them."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from autograd import Tensor


def is_record(nest: Any) -> bool:
    """Whether it is a dataclass's instance."""
    return dataclasses.is_dataclass(nest) and not isinstance(nest, type)


def leaves(nest: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Everything in a nest that is no container, with its path, in a fixed order."""
    if isinstance(nest, dict):
        for key, value in nest.items():
            yield from leaves(value, f"{path}[{key!r}]")
    elif isinstance(nest, (tuple, list)):
        for index, value in enumerate(nest):
            yield from leaves(value, f"{path}[{index}]")
    elif is_record(nest):
        for field in dataclasses.fields(nest):
            yield from leaves(getattr(nest, field.name), f"{path}.{field.name}")
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
    if is_record(nest):
        record = copy.copy(nest)                     # not replace(): that would run __init__, and needs init=True fields
        for field in dataclasses.fields(nest):
            object.__setattr__(record, field.name, rebuilt(getattr(nest, field.name), function))
        return record
    return function(nest)
