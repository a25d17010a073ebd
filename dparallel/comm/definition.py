"""What each collective is, in NumPy: the arrays of all places in, fresh arrays of some places out.

Local devices and ranks as threads compute with this. Reductions go in place order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .call import Call, leader

Array = np.ndarray[Any, Any]
Places = Sequence[int]
UFUNCS: dict[str, Any] = {"sum": np.add, "mean": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def results(calls: Sequence[Call], xs: Sequence[Array], places: Places) -> list[Array]:
    """What the collective gives to each of `places`; calls and xs are those of all places and have been checked."""
    return DEFINITIONS[calls[0].name](calls, xs, places)


def combined(xs: Sequence[Array], op: str) -> Array:
    """The arrays combined in place order, float16 and bfloat16 in float32 and rounded once."""
    dtype = xs[0].dtype
    half = is_half(dtype)
    total = np.array(xs[0], np.float32 if half else dtype, order="C")
    for x in xs[1:]:
        UFUNCS[op](total, x.astype(np.float32) if half else x, out=total)
    if op == "mean":
        total /= len(xs)
    return total.astype(dtype) if half else total


def is_half(dtype: Any) -> bool:
    """Whether it is float16 or bfloat16, in which nothing is added up."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def _copies(x: Array, places: Places) -> list[Array]:
    """x, which is fresh, and copies of it."""
    return [x, *(x.copy() for _ in places[1:])]


def _on_root(x: Array, root: int, places: Places) -> list[Array]:
    return [x if place == root else np.empty(0, x.dtype) for place in places]


def _join(parts: Sequence[Array], dtype: Any) -> Array:
    """Rows end to end; 0-d arrays are one element each, arrays of shape (0,) no part."""
    full = [np.atleast_1d(part) for part in parts if part.shape != (0,)]
    return np.ascontiguousarray(np.concatenate(full)) if full else np.empty(0, dtype)


def _cut(x: Array, sizes: Any, place: int) -> Array:
    """The rows for one place, as a view."""
    start = sum(sizes[:place])
    return x[start:start + sizes[place]]


def _broadcast(calls: Sequence[Call], xs: Sequence[Array], places: Places) -> list[Array]:
    return [np.array(xs[calls[0].root], order="C") for _ in places]


def _reduce(calls: Sequence[Call], xs: Sequence[Array], places: Places) -> list[Array]:
    root = calls[0].root
    return _on_root(combined(xs, calls[0].op) if root in places else xs[0], root, places)


def _scatter(calls: Sequence[Call], xs: Sequence[Array], places: Places) -> list[Array]:
    root = calls[0].root
    return [np.array(_cut(xs[root], calls[root].sizes, place), order="C") for place in places]


def _gather(calls: Sequence[Call], xs: Sequence[Array], places: Places) -> list[Array]:
    root, dtype = calls[0].root, leader(calls).dtype
    return _on_root(_join(xs, dtype) if root in places else np.empty(0, dtype), root, places)


def _allreduce(calls: Sequence[Call], xs: Sequence[Array], places: Places) -> list[Array]:
    return _copies(combined(xs, calls[0].op), places)


def _allgather(calls: Sequence[Call], xs: Sequence[Array], places: Places) -> list[Array]:
    return _copies(_join(xs, leader(calls).dtype), places)


def _reduce_scatter(calls: Sequence[Call], xs: Sequence[Array], places: Places) -> list[Array]:
    sizes = calls[0].sizes
    return [combined([_cut(x, sizes, place) for x in xs], calls[0].op) for place in places]


def _alltoall(calls: Sequence[Call], xs: Sequence[Array], places: Places) -> list[Array]:
    lead = leader(calls)
    full = [(x, call.sizes) for x, call in zip(xs, calls, strict=True) if call.shape != (0,)]
    if not full:
        return [np.empty(0, lead.dtype) for _ in places]
    return [np.ascontiguousarray(np.concatenate([_cut(x, sizes, place) for x, sizes in full])) for place in places]


DEFINITIONS: dict[str, Callable[[Sequence[Call], Sequence[Array], Places], list[Array]]] = {
    "broadcast": _broadcast, "reduce": _reduce, "scatter": _scatter, "gather": _gather, "allreduce": _allreduce,
    "allgather": _allgather, "reduce_scatter": _reduce_scatter, "alltoall": _alltoall, "alltoall_sizes": _allgather,
    "broadcast_object": _broadcast, "allgather_object": _allgather, "gather_object": _gather, "scatter_object": _scatter}
