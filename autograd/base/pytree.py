"""Nested dicts, lists and tuples, such as batches and outputs of modules: list their leaves, or map a function over them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any


def nested_values(nested: Any) -> Iterator[Any]:
    """All values that are no mapping, list or tuple themselves; what is none of these is its own only value."""
    if isinstance(nested, Mapping):
        nested = nested.values()
    elif not isinstance(nested, (list, tuple)):
        yield nested
        return
    for value in nested:
        yield from nested_values(value)


def nested_map(function: Callable[[Any], Any], nested: Any) -> Any:
    """The same nest with function(value) in the place of each value."""
    if isinstance(nested, Mapping):
        made: Any = copy.copy(nested)                # keeps what else it has, such as defaultdict's factory
        for key, value in nested.items():
            made[key] = nested_map(function, value)
        return made
    if not isinstance(nested, (list, tuple)):
        return function(nested)
    values = [nested_map(function, value) for value in nested]
    return type(nested)(*values) if hasattr(nested, "_fields") else type(nested)(values)
