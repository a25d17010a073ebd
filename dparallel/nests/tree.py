"""Nested tuples, lists, dicts and dataclasses of tensors: batches and outputs as users' modules take and give them."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autograd import Tensor


def is_namedtuple(obj: Any) -> bool:
    """Whether obj is an instance of a class made by collections.namedtuple or typing.NamedTuple."""
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def is_dataclass(obj: Any) -> bool:
    """Whether obj is an instance of a dataclass."""
    return dataclasses.is_dataclass(obj) and not isinstance(obj, type)


def leaves(nest: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Everything in a nest that is no container, with its path, in a fixed order."""
    if isinstance(nest, dict):
        for key, value in nest.items():
            yield from leaves(value, f"{path}[{key!r}]")
    elif is_namedtuple(nest):
        for name, value in zip(nest._fields, nest, strict=True):
            yield from leaves(value, f"{path}.{name}")
    elif isinstance(nest, (tuple, list)):
        for index, value in enumerate(nest):
            yield from leaves(value, f"{path}[{index}]")
    elif is_dataclass(nest):
        for field in dataclasses.fields(nest):
            yield from leaves(getattr(nest, field.name), f"{path}.{field.name}")
    else:
        yield path, nest


def nests(given: Any) -> Sequence[Any]:
    """A list, one nest for each place held; what is no list, tuple or iterator is the nest of the one place held."""
    return given if isinstance(given, (list, tuple)) else list(given) if isinstance(given, Iterator) else [given]


def tensors(nest: Any) -> list[Tensor]:
    """The tensors in a nest, in order."""
    return [value for _, value in leaves(nest) if isinstance(value, Tensor)]


def rebuilt(nest: Any, function: Callable[[Any], Any]) -> Any:
    """The same nest with function(leaf) for every leaf."""
    if isinstance(nest, Tensor):                     # as outputs mostly are
        return function(nest)
    if isinstance(nest, dict):
        new = copy.copy(nest)                        # keeps what a subclass knows besides, as defaultdict does
        for key, value in nest.items():
            new[key] = rebuilt(value, function)
        return new
    if is_namedtuple(nest):
        return type(nest)._make(rebuilt(value, function) for value in nest)
    if isinstance(nest, (tuple, list)):
        return type(nest)(rebuilt(value, function) for value in nest)
    if is_dataclass(nest):
        new = copy.copy(nest)
        for field in dataclasses.fields(nest):       # also of frozen ones, and of those that __init__ does not take
            object.__setattr__(new, field.name, rebuilt(getattr(nest, field.name), function))
        return new
    return function(nest)
