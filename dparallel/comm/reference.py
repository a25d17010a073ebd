"""The reference implementation of each collective in NumPy: arrays of all ranks in, new arrays of some ranks out.

Local devices and ranks as threads compute with it. Reductions combine in rank order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd.kernels.halves import converted

from .header import SCANS, Call, first_with_rows

Array = np.ndarray[Any, Any]
Ranks = Sequence[int]
UFUNCS: dict[str, Any] = {"sum": np.add, "mean": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum,
                          "band": np.bitwise_and, "bor": np.bitwise_or, "bxor": np.bitwise_xor}


def results(calls: Sequence[Call], xs: Sequence[Array], ranks: Ranks) -> list[Array]:
    """The collective's result for each of `ranks`. calls and xs are those of all ranks, and were checked."""
    return DEFINITIONS[calls[0].name](calls, xs, ranks)


def combined(xs: Sequence[Array], op: str) -> Array:
    """The arrays combined in rank order; float16 and bfloat16 in float32, rounded once."""
    dtype = xs[0].dtype
    half = is_half(dtype)
    if len(xs) == 1 or half or xs[0].ndim == 0:      # of 0-d arrays NumPy makes scalars
        total, rest = np.array(converted(xs[0], np.float32) if half else xs[0], order="C"), xs[1:]
    else:                                            # one pass over memory less than copying the first
        total, rest = np.ascontiguousarray(UFUNCS[op](xs[0], xs[1])), xs[2:]
    for x in rest:
        UFUNCS[op](total, converted(x, np.float32) if half else x, out=total)
    if op == "mean":
        total /= len(xs)
    return converted(total, dtype) if half else total


def is_half(dtype: np.dtype[Any]) -> bool:
    """Whether the dtype is float16 or bfloat16, in which sums are not computed."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def _copies(x: Array, ranks: Ranks) -> list[Array]:
    """x, which is new, for the first rank, and copies of it for the others."""
    return [x, *(x.copy() for _ in ranks[1:])]


def _on_root(x: Array, root: int, ranks: Ranks) -> list[Array]:
    return [x if rank == root else np.empty(0, x.dtype) for rank in ranks]


def _join(parts: Sequence[Array], dtype: np.dtype[Any]) -> Array:
    """Rows concatenated; 0-d arrays are one element each, arrays of shape (0,) contribute nothing."""
    full = [np.atleast_1d(part) for part in parts if part.shape != (0,)]
    return np.ascontiguousarray(np.concatenate(full)) if full else np.empty(0, dtype)


def _rows_of(x: Array, sizes: Sequence[int], rank: int) -> Array:
    """The rows for one rank, as a view."""
    start = sum(sizes[:rank])
    return x[start:start + sizes[rank]]


def _broadcast(calls: Sequence[Call], xs: Sequence[Array], ranks: Ranks) -> list[Array]:
    return [np.array(xs[calls[0].root], order="C") for _ in ranks]


def _reduce(calls: Sequence[Call], xs: Sequence[Array], ranks: Ranks) -> list[Array]:
    root = calls[0].root
    return _on_root(combined(xs, calls[0].op) if root in ranks else xs[0], root, ranks)


def _scatter(calls: Sequence[Call], xs: Sequence[Array], ranks: Ranks) -> list[Array]:
    root = calls[0].root
    sizes: Any = calls[root].sizes
    return [np.array(_rows_of(xs[root], sizes, rank), order="C") for rank in ranks]


def _gather(calls: Sequence[Call], xs: Sequence[Array], ranks: Ranks) -> list[Array]:
    root, dtype = calls[0].root, first_with_rows(calls).dtype
    return _on_root(_join(xs, dtype) if root in ranks else np.empty(0, dtype), root, ranks)


def _allreduce(calls: Sequence[Call], xs: Sequence[Array], ranks: Ranks) -> list[Array]:
    return _copies(combined(xs, calls[0].op), ranks)


def _allgather(calls: Sequence[Call], xs: Sequence[Array], ranks: Ranks) -> list[Array]:
    return _copies(_join(xs, first_with_rows(calls).dtype), ranks)


def _reduce_scatter(calls: Sequence[Call], xs: Sequence[Array], ranks: Ranks) -> list[Array]:
    sizes: Any = calls[0].sizes
    return [combined([_rows_of(x, sizes, rank) for x in xs], calls[0].op) for rank in ranks]


def _alltoall(calls: Sequence[Call], xs: Sequence[Array], ranks: Ranks) -> list[Array]:
    reference = first_with_rows(calls)
    full: list[tuple[Array, Any]] = [(x, call.sizes) for x, call in zip(xs, calls, strict=True) if call.shape != (0,)]
    if not full:
        return [np.empty(0, reference.dtype) for _ in ranks]
    return [np.ascontiguousarray(np.concatenate([_rows_of(x, sizes, rank) for x, sizes in full])) for rank in ranks]


def _permute(calls: Sequence[Call], xs: Sequence[Array], ranks: Ranks) -> list[Array]:
    flat: Any = calls[0].sizes
    sources = dict(zip(flat[1::2], flat[::2], strict=True))
    return [np.array(xs[sources[rank]], order="C") if rank in sources else np.empty(0, xs[rank].dtype)
            for rank in ranks]


def _scan(calls: Sequence[Call], xs: Sequence[Array], ranks: Ranks) -> list[Array]:
    """Each rank gets the combination of the ranks before it and, unless it is an exscan, itself."""
    name, op, n = calls[0].name, calls[0].op, len(xs)
    own, backwards = "exscan" not in name, name.startswith("reverse")
    out = []
    for rank in ranks:
        part = [xs[i] for i in (range(n - 1, rank - own, -1) if backwards else range(rank + own))]
        out.append(combined(part, op) if part else neutral(xs[rank], op))
    return out


def neutral(x: Array, op: str) -> Array:
    """An array like x of op's neutral element: 0, 1, or the lowest or highest number."""
    if op in ("sum", "prod"):
        return np.full(x.shape, op == "prod", x.dtype)
    if x.dtype.kind in "iu":
        return np.full(x.shape, getattr(np.iinfo(x.dtype), "min" if op == "max" else "max"), x.dtype)
    return np.full(x.shape, op == "min" if x.dtype.kind == "b" else np.inf if op == "min" else -np.inf, x.dtype)


DEFINITIONS: dict[str, Callable[[Sequence[Call], Sequence[Array], Ranks], list[Array]]] = {
    "broadcast": _broadcast, "reduce": _reduce, "scatter": _scatter, "gather": _gather, "allreduce": _allreduce,
    "allgather": _allgather, "reduce_scatter": _reduce_scatter, "alltoall": _alltoall, "alltoall_sizes": _allgather,
    "broadcast_object": _broadcast, "allgather_object": _allgather, "gather_object": _gather, "scatter_object": _scatter}
DEFINITIONS |= {"permute": _permute, **dict.fromkeys(SCANS, _scan)}
