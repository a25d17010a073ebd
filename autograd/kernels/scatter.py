"""Adding to, and gathering from, places given by numbers."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ..base.types import Array
from .halves import converted
from .loops import FLOAT32, blocked, kernels_for, loops
from .sorting import order

INT64, UINT64 = np.dtype(np.int64), np.dtype(np.uint64)
add_up_at: Any = np.add.at
SMALL = 1024                         # elements below which NumPy finds places and adds sooner
FEW = 256                            # numbers that np.add.at() adds sooner than what we do begins: 5 us

def add_rows(out: Array, rows: Array, values: Array) -> None:
    """out[rows[i]] += values[i] for all i; rows may repeat. out and values have two dimensions.

    Without compiled loops equal rows are brought together by a stable sort, so that each is written once: 5,000 rows of
    64 in 530 us, 50 with them.
    """
    if values.size <= FEW:
        add_up_at(out, rows, values)
        return
    kernels = loops_for(out, rows, values)
    if kernels is not None:
        kernels.add_rows(out, np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(values), *values.shape)
        return
    if values.shape[1] == 1:
        add_up_at(out[:, 0], rows, values[:, 0])
        return
    found = order(rows, 0)
    ordered = rows[found]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    picked = values[found]
    if len(starts) < len(rows):
        picked = np.add.reduceat(picked, starts, axis=0, dtype=out.dtype)
    out[ordered[starts]] += picked


def loops_for(out: Array, rows: Array, values: Array) -> Any:
    """The compiled kernels, if they take these arrays: they trust the numbers of rows, so these are looked at."""
    if values.dtype is not FLOAT32 or type(rows) is not np.ndarray:
        return None
    kernels = kernels_for(out)
    return kernels if kernels is not None and in_range(rows, len(out)) else None


def add_along(out: Array, dim: int, rows: Array, values: Array) -> None:
    """add_rows() into dimension `dim` of an array whose memory is in order; values have out's other sizes."""
    if not values.size:
        return
    if dim == 0:
        add_rows(out.reshape(out.shape[0], -1), rows, values.reshape(len(rows), -1))
        return
    front = np.ascontiguousarray(np.moveaxis(out, dim, 0))
    add_along(front, 0, rows, np.moveaxis(values, dim, 0))
    out[...] = np.moveaxis(front, 0, dim)


def add_at(shape: tuple[int, ...], dims: tuple[int, ...], arrays: Any, g: Any) -> Any:
    """Zeros of `shape` with g added where x[..., arrays, ...] took its elements; arrays index the dimensions `dims`."""
    out: Any
    if g.size <= FEW:
        out, full = np.zeros(shape, g.dtype), [slice(None)] * (dims[-1] + 1)
        for d, a in zip(dims, arrays, strict=True):
            full[d] = a
        add_up_at(out, tuple(full), g)
        return out
    if dims == (0,):                                 # by far the most frequent; what follows has 20 us of overhead
        out = np.zeros(shape, g.dtype)
        if g.size:
            rows = flat_rows([arrays[0].reshape(-1)], [shape[0]])
            add_rows(out.reshape(shape[0], -1), rows, g.reshape(rows.size, -1))
        return out
    arrays = np.broadcast_arrays(*arrays)
    count = arrays[0].ndim
    rest = [d for d in range(len(shape)) if d not in dims]
    sizes = [shape[d] for d in dims]
    first = dims[0] if dims[-1] - dims[0] == len(dims) - 1 else 0          # NumPy's rule on where they go
    front = np.moveaxis(g, range(first, first + count), range(count))
    rows = flat_rows([a.reshape(-1) for a in arrays], sizes)
    out = np.zeros((*sizes, *[shape[d] for d in rest]), g.dtype)
    if rows.size and out.size:
        add_rows(out.reshape(int(np.prod(sizes)), -1), rows, front.reshape(len(rows), -1))
    axes = (*dims, *rest)
    return out if axes == tuple(range(len(shape))) else out.transpose(np.argsort(axes))


def flat_rows(vectors: list[Any], sizes: list[int]) -> Array:
    """Places in several dimensions as places in one; negative ones count from the end."""
    rows: Any = None
    for vector, size in zip(vectors, sizes, strict=True):
        if vector.size and limits(vector)[0] < 0:
            vector = np.where(vector < 0, vector + size, vector)
        rows = vector if rows is None else rows * size + vector
    return rows


def limits(index: Array) -> tuple[Any, Any]:
    """The smallest and the largest number of an index that is not empty. 0.4 us; by min() and max() 1.7."""
    if not index.flags.c_contiguous:
        return index.min(), index.max()
    return index.item(index.argmin()), index.item(index.argmax())


def in_range(index: Array, size: int) -> bool:
    """Whether the numbers of an index that is not empty are places of a dimension of this size."""
    if index.dtype is INT64 and index.flags.c_contiguous:
        numbers = index.view(UINT64)                 # of which negative ones are large
        return bool(numbers.item(numbers.argmax()) < size)
    low, high = limits(index)
    return bool(low >= 0 and high < size)


def check_places(index: Array, dim: int, size: int) -> None:
    """RuntimeError unless the numbers in an index are places of a dimension with this size."""
    if 0 in index.strides:                           # expanded
        index = index[tuple([slice(None) if step else slice(1) for step in index.strides])]
    if index.size and not in_range(index, size):
        low, high = limits(index)
        raise RuntimeError(f"index {low if low < 0 else high} is out of bounds for dimension {dim} with size {size}")


def _starts(index_shape: tuple[int, ...], dim: int, shape: tuple[int, ...]) -> tuple[Any, int]:
    """In the flattened array of `shape`: the place of each element of an index, were its number 0; and what 1 more adds."""
    starts: Any = np.zeros((1,) * len(shape), np.int64)
    for d, n in enumerate(index_shape):
        if d != dim:
            starts = starts + (np.arange(n) * prod(shape[d + 1:])).reshape((-1,) + (1,) * (len(shape) - 1 - d))
    return starts, prod(shape[dim + 1:])


_known_starts = lru_cache(maxsize=256)(_starts)      # of small ones: they take 5 us


def flat_places(index: Array, dim: int, shape: tuple[int, ...]) -> Array:
    """Where an index along `dim` (and in the other dimensions the place itself) leads, as numbers into the flattened array
    of `shape`."""
    starts, step = (_known_starts if index.size < SMALL else _starts)(index.shape, dim, shape)
    return (starts + (index if step == 1 else index.astype(np.int64, copy=False) * step)).reshape(-1)


def repeated(index: Array, dim: int, shape: tuple[int, ...]) -> Array | None:
    """The one vector that an index along `dim` repeats by expand(), if it covers the other sizes of `shape`; else None."""
    if index.size < 2 or (0 not in index.strides and index.ndim > 1):
        return None
    if any(d != dim and (step or index.shape[d] != shape[d]) for d, step in enumerate(index.strides)):
        return None
    return index[tuple([slice(None) if d == dim else 0 for d in range(index.ndim)])]


def added(x: Any, index: Array, src: Any, dim: int, shape: Any = None) -> Array:
    """A copy of x, or (for an index that was checked) zeros of `shape`, with src[i, j] added at [index[i, j], j] for dim 0,
    and so on; src is as large as the index."""
    out = np.zeros(shape, src.dtype) if x is None else np.array(x, order="C")
    shape = out.shape
    if x is not None:
        check_places(index, dim, shape[dim])
    rows = repeated(index, dim, shape)
    kernels = kernels_along(out, src, index, dim) if rows is None and src.dtype is out.dtype else None
    if rows is not None:
        add_along(out, dim, rows, src)
    elif kernels is not None:
        kernels.scatter_add(out, np.ascontiguousarray(index, np.int64), np.ascontiguousarray(src), *along(out, index, dim))
    elif index.size < SMALL:
        add_up_at(out.reshape(-1), flat_places(index, dim, shape), src.reshape(-1))
    else:
        add_rows(out.reshape(-1, 1), flat_places(index, dim, shape), src.reshape(-1, 1))
    return out


def scatter_copy(x: Any, index: Any, src: Any, dim: int) -> Array:
    """A copy of x with src[i, j] put at [index[i, j], j] for dim 0, and so on; src may be a number."""
    check_places(index, dim, x.shape[dim])
    out = np.array(x, order="C")
    out.reshape(-1)[flat_places(index, dim, x.shape)] = src.reshape(-1) if np.ndim(src) else src
    return out


def gather_along(x: Array, index: Array, dim: int) -> Array:
    """x[index[i, j], j] for dim 0, and so on."""
    check_places(index, dim, x.shape[dim])
    return take_unchecked(x, index, dim)


def take_unchecked(x: Array, index: Array, dim: int) -> Array:
    """gather_along() for an index that was checked."""
    if x.ndim == 1 and type(x) is np.ndarray:
        return x.take(index)
    rows = repeated(index, dim, x.shape)
    if rows is not None:
        return x.take(rows, axis=dim)
    kernels = kernels_along(x, x, index, dim)
    if kernels is None:
        return x.reshape(-1).take(flat_places(index, dim, x.shape)).reshape(index.shape)
    out = np.empty(index.shape, x.dtype)
    kernels.gather(np.ascontiguousarray(x), np.ascontiguousarray(index, np.int64), out, *along(x, index, dim))
    return out


def kernels_along(x: Array, values: Array, index: Array, dim: int) -> Any:
    """The compiled kernels, if they can gather from x, or scatter values into it. They trust the index: it was checked."""
    if (not index.size or x.dtype is not FLOAT32 or type(index) is not np.ndarray or type(values) is not np.ndarray
            or index.shape[:dim] != x.shape[:dim] or index.shape[dim + 1:] != x.shape[dim + 1:]):
        return None
    return loops.for_size(index.size)


def along(x: Array, index: Array, dim: int) -> tuple[int, int, int, int]:
    """Blocks, x's and the index's size along `dim`, and what lies behind it."""
    blocks, n, inner = blocked(x.shape, dim, dim)
    return blocks, n, index.shape[dim], inner


UFUNC: dict[str, np.ufunc] = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def start_value(reduce: str, dtype: np.dtype[Any]) -> Any:
    """The neutral element of a reduction."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind == "b":
        return reduce == "amin"
    limits: Any = np.iinfo(dtype) if dtype.kind in "iu" else None
    if limits is None:
        return -np.inf if reduce == "amax" else np.inf
    return limits.min if reduce == "amax" else limits.max


def reduce_at(x: Array, dim: int, index: Array, src: Array, reduce: str, include_self: bool) -> Array:
    """A copy of x where each element is reduced with those of src that index sends to it.

    sum, mean, prod, amax, amin; without include_self x's own element counts only where nothing else comes.
    """
    check_places(index, dim, x.shape[dim])
    out = np.array(x, order="C")
    given = converted(src[tuple([slice(n) for n in index.shape])], out.dtype, copy=False)
    rows = repeated(index, dim, x.shape) if not dim else None
    if rows is None:
        rows, table, given = flat_places(index, dim, x.shape), out.reshape(-1, 1), given.reshape(-1, 1)
    else:
        table, given = out.reshape(len(out), -1), given.reshape(len(rows), -1)
    if not include_self:
        table[rows] = start_value(reduce, out.dtype)
    reduce_rows(table, rows, given, reduce)
    if reduce == "mean":
        count = np.bincount(rows, minlength=len(table))[:, None] + include_self
        count[count == 0] = 1
        if out.dtype.kind in "fcV":
            table /= count.astype(out.dtype)
        else:
            table[...] = table // count
    return out


def reduce_rows(out: Array, rows: Array, values: Array, reduce: str) -> None:
    """out[rows[i]] is reduced with values[i], for all i."""
    kernels = loops_for(out, rows, values) if reduce in ("amax", "amin") and rows.size else None
    if kernels is not None:
        kernels.extreme_rows(out, np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(values), *values.shape,
                             1.0 if reduce == "amax" else -1.0)
    elif reduce in ("sum", "mean"):
        add_rows(out, rows, values)
    else:                                            # on vectors, which is NumPy's fast case
        n = out.shape[1]
        at = rows if n == 1 else (rows[:, None] * n + np.arange(n)).reshape(-1)
        UFUNC[reduce].at(out.reshape(-1), at, values.reshape(-1))
