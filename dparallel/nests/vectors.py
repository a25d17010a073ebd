"""Arrays end to end in vectors: views of a vector, one exchange for each dtype, groups of a size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any, TypeVar

import numpy as np

Array = np.ndarray[Any, Any]
T = TypeVar("T")


def views(vector: Array, shapes: Iterable[tuple[int, ...]]) -> list[Array]:
    """The stretches of a vector, one after the other, in these shapes: views."""
    found, start = [], 0
    for shape in shapes:
        stop = start + prod(shape)
        found.append(vector[start:stop].reshape(shape))
        start = stop
    return found


def exchanged(arrays: Sequence[Array], exchange: Callable[[Array], Array]) -> list[Array]:
    """What exchange(vector) makes of the arrays, in their shapes. It is called once for each dtype, in the order in which
    these come first, with the arrays of that dtype end to end."""
    found: list[Any] = [None] * len(arrays)
    for dtype in dict.fromkeys(x.dtype for x in arrays):
        chosen = [i for i, x in enumerate(arrays) if x.dtype == dtype]
        vector = exchange(np.concatenate([arrays[i].reshape(-1) for i in chosen]))
        for i, view in zip(chosen, views(vector, [arrays[i].shape for i in chosen]), strict=True):
            found[i] = view
    return found


def grouped(items: Iterable[T], key: Callable[[T], Any], size: Callable[[T], int], room: float) -> list[list[T]]:
    """Items in order, in groups of one key and of at most `room` by size; what is larger has a group of its own."""
    groups: list[list[T]] = []
    open_groups: dict[Any, tuple[list[T], float]] = {}
    for item in items:
        group, left = open_groups.get(key(item), ([], 0.0))
        if not group or left < size(item):
            group, left = [], room
            groups.append(group)
        group.append(item)
        open_groups[key(item)] = group, left - size(item)
    return groups


def filled(items: Iterable[T], key: Callable[[T], Any], size: Callable[[T], int], room: float,
           first: float) -> list[list[T]]:
    """Items in order, in groups of one key that are closed as soon as they have reached `room` by size, the very first
    `first`: a large item goes with the small ones before it."""
    groups: list[list[T]] = []
    open_groups: dict[Any, tuple[list[T], float]] = {}
    for item in items:
        group, left = open_groups.pop(key(item), ([], 0.0))
        if not group:
            left = room if groups else min(first, room)
            groups.append(group)
        group.append(item)
        if left > size(item):
            open_groups[key(item)] = group, left - size(item)
    return groups


__all__ = ["exchanged", "filled", "grouped", "views"]
