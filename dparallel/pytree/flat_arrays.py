"""Arrays concatenated into one flat vector: gradient buckets, comm hooks, ZeRO's parameters, broadcast_coalesced()."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from math import prod
from typing import Any, TypeVar

import numpy as np

Array = np.ndarray[Any, Any]
T = TypeVar("T")


def unflatten(vector: Array, shapes: Iterable[tuple[int, ...]]) -> list[Array]:
    """Consecutive parts of the vector as views of these shapes."""
    views, start = [], 0
    for shape in shapes:
        stop = start + prod(shape)
        views.append(vector[start:stop].reshape(shape))
        start = stop
    return views


def map_flattened(arrays: Sequence[Array], function: Callable[[Array], Array]) -> list[Array]:
    """Results of function(vector) in the shapes of the arrays. It is called once per dtype, in the order of their first
    arrays, with all arrays of the dtype joined."""
    results: list[Any] = [None] * len(arrays)
    for dtype in dict.fromkeys(x.dtype for x in arrays):
        indices = [i for i, x in enumerate(arrays) if x.dtype == dtype]
        vector = function(np.concatenate([arrays[i].reshape(-1) for i in indices]))
        for i, view in zip(indices, unflatten(vector, [arrays[i].shape for i in indices]), strict=True):
            results[i] = view
    return results


def group_within(items: Iterable[T], key: Callable[[T], Hashable], size: Callable[[T], int], limit: float) -> list[list[T]]:
    """Items in order, in groups of equal keys whose sizes sum to `limit` at most. A larger item is a group by itself."""
    groups: list[list[T]] = []
    open_groups: dict[Hashable, tuple[list[T], float]] = {}
    for item in items:
        group, remaining = open_groups.get(key(item), ([], 0.0))
        if not group or remaining < size(item):
            group, remaining = [], limit
            groups.append(group)
        group.append(item)
        open_groups[key(item)] = group, remaining - size(item)
    return groups


def group_until(items: Iterable[T], key: Callable[[T], Hashable], size: Callable[[T], int], limit: float,
                first_limit: float) -> list[list[T]]:
    """Items in order, in groups of equal keys. A group closes when its sizes sum to `limit` (the first: `first_limit`)."""
    groups: list[list[T]] = []
    open_groups: dict[Hashable, tuple[list[T], float]] = {}
    for item in items:
        group, remaining = open_groups.pop(key(item), ([], 0.0))
        if not group:
            remaining = limit if groups else min(first_limit, limit)
            groups.append(group)
        group.append(item)
        if remaining > size(item):
            open_groups[key(item)] = group, remaining - size(item)
    return groups
