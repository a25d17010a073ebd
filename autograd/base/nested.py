"""Nested dicts, lists and tuples, such as batches and what modules return: the values in them, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


__all__ = ["nested_values"]
