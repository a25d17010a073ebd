"""Adding to, and gathering from, places given by numbers."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .compiled import FLOAT32, WORTH, compiled, kernels_for


def add_rows(out: Any, rows: Any, values: Any) -> None:
    """out[rows[i]] += values[i] for all i; rows may repeat. out and values have two dimensions.

    Without numba equal rows are brought together by a stable sort, so that each is written once: 5,000 rows of 64 in 630 us,
    50 with it.
    """
    if not rows.size:
        return
    kernels = loops_for(out, rows, values)
    if kernels is not None:
        kernels.add_rows(out, np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(values), *values.shape)
        return
    if values.shape[1] == 1:
        np.add.at(out[:, 0], rows, values[:, 0])
        return
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    picked = values[order]
    if len(starts) < len(rows):
        picked = np.add.reduceat(picked, starts, axis=0, dtype=out.dtype)
    out[ordered[starts]] += picked


def loops_for(out: Any, rows: Any, values: Any) -> Any:
    """The compiled kernels, if they take these arrays: they trust the numbers of rows, so these are looked at."""
    if values.dtype is not FLOAT32 or type(rows) is not np.ndarray:
        return None
    kernels = kernels_for(out, of=values.size)
    return kernels if kernels is not None and rows.min() >= 0 and rows.max() < len(out) else None


def add_along(out: Any, dim: int, rows: Any, values: Any) -> None:
    """add_rows() into dimension `dim` of an array whose memory is in order; values have out's other sizes."""
    if dim == 0:
        add_rows(out.reshape(out.shape[0], -1) if out.size else out.reshape(out.shape[0], 0), rows,
                 values.reshape(len(rows), -1) if values.size else np.zeros((0, 0), out.dtype))
        return
    front = np.ascontiguousarray(np.moveaxis(out, dim, 0))
    add_along(front, 0, rows, np.moveaxis(values, dim, 0))
    out[...] = np.moveaxis(front, 0, dim)


def add_at(shape: tuple[int, ...], dims: tuple[int, ...], arrays: Any, g: Any) -> Any:
    """Zeros of `shape` with g added where x[..., arrays, ...] took its elements; arrays index the dimensions `dims`."""
    out: Any
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
    order = (*dims, *rest)
    return out if order == tuple(range(len(shape))) else out.transpose(np.argsort(order))


def flat_rows(vectors: list[Any], sizes: list[int]) -> Any:
    """Places in several dimensions as places in one; negative ones count from the end."""
    rows: Any = None
    for vector, size in zip(vectors, sizes, strict=True):
        if vector.size and vector.min() < 0:
            vector = np.where(vector < 0, vector + size, vector)
        rows = vector if rows is None else rows * size + vector
    return rows


def places(index: Any, dim: int) -> tuple[Any, ...]:
    """NumPy's index for: index along `dim`, and in the other dimensions the place itself."""
    axes: list[Any] = [np.arange(n).reshape((-1,) + (1,) * (index.ndim - 1 - i)) for i, n in enumerate(index.shape)]
    axes[dim] = index
    return tuple(axes)


def flat_places(index: Any, dim: int, shape: tuple[int, ...]) -> Any:
    """The same as numbers into the flattened array of `shape`."""
    flat: Any = 0
    for axis, size in zip(places(index, dim), shape, strict=True):
        flat = flat * size + axis
    return np.broadcast_to(flat, index.shape).reshape(-1)


def repeated(index: Any, dim: int, shape: tuple[int, ...]) -> Any:
    """The one vector that an index along `dim` repeats by expand(), if it covers the other sizes of `shape`; else None."""
    if index.size < 2 or any(d != dim and (step or index.shape[d] != shape[d]) for d, step in enumerate(index.strides)):
        return None
    return index[tuple([slice(None) if d == dim else 0 for d in range(index.ndim)])]


def added(x: Any, index: Any, src: Any, dim: int) -> Any:
    """A copy of x with src[i, j] added at [index[i, j], j] for dim 0, and so on; src is as large as the index."""
    out = np.array(x, order="C")
    rows = repeated(index, dim, x.shape)
    kernels = kernels_along(out, src, index, dim) if rows is None and src.dtype is x.dtype else None
    if rows is not None:
        add_along(out, dim, rows, src)
    elif kernels is not None:
        kernels.scatter_add(out, np.ascontiguousarray(index, np.int64), np.ascontiguousarray(src), *along(out, index, dim))
    else:
        add_rows(out.reshape(-1, 1), flat_places(index, dim, x.shape), src.reshape(-1, 1))
    return out


def gathered(x: Any, index: Any, dim: int) -> Any:
    """x[index[i, j], j] for dim 0, and so on."""
    rows = repeated(index, dim, x.shape)
    if rows is not None:
        return x.take(rows, axis=dim)
    kernels = kernels_along(x, x, index, dim)
    if kernels is None:
        return x[places(index, dim)]
    out = np.empty(index.shape, x.dtype)
    kernels.gather(np.ascontiguousarray(x), np.ascontiguousarray(index, np.int64), out, *along(x, index, dim))
    return out


def kernels_along(x: Any, values: Any, index: Any, dim: int) -> Any:
    """The compiled kernels, if they can gather from x, or scatter values into it; they trust the index, so it is checked."""
    if (x.dtype is not FLOAT32 or index.shape[:dim] != x.shape[:dim] or index.shape[dim + 1:] != x.shape[dim + 1:]
            or type(index) is not np.ndarray or type(values) is not np.ndarray or index.size < WORTH):
        return None
    return compiled.library() if index.min() >= 0 and index.max() < x.shape[dim] else None


def along(x: Any, index: Any, dim: int) -> tuple[int, int, int, int]:
    """Blocks, x's and the index's size along `dim`, and what lies behind it."""
    return prod(x.shape[:dim]), x.shape[dim], index.shape[dim], prod(x.shape[dim + 1:])


UFUNC = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def start_value(reduce: str, dtype: Any) -> Any:
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


def reduce_at(x: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool) -> Any:
    """A copy of x where each element is reduced with those of src that index sends to it.

    sum, mean, prod, amax, amin; without include_self x's own element counts only where nothing else comes.
    """
    out = np.array(x, order="C")
    given = src[tuple([slice(n) for n in index.shape])].astype(out.dtype, copy=False)
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


def reduce_rows(out: Any, rows: Any, values: Any, reduce: str) -> None:
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
