"""Writing to, and adding to, places given by numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.types import Array
from .halves import converted
from .loops import loop_for, loops
from .sorting import order
from .take_along import SMALL, check_places, flat_places, in_range, limits, repeated

add_up_at: Any = np.add.at
FEW = 256                            # numbers that np.add.at() adds sooner than what we do begins: 5 us

def add_rows(out: Array, rows: Array, values: Array) -> None:
    """out[rows[i]] += values[i] for all i; rows may repeat. out and values have two dimensions.

    Without compiled loops equal rows are brought together by a stable sort, so that each is written once: 5,000 rows of
    64 in 530 us, 50 with them.
    """
    if values.size <= FEW:
        add_up_at(out, rows, values)
        return
    loop = loop_at("add_rows", out, rows, values)
    if loop is not None:
        loop(out, np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(values), *values.shape)
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


def loop_at(name: str, out: Array, rows: Array, values: Array) -> Any:
    """The compiled loop, if it takes these arrays: it trusts the numbers of rows, so these are looked at."""
    if values.dtype is not out.dtype or type(rows) is not np.ndarray:
        return None
    loop, _ = loop_for(name, out)
    return loop if loop is not None and in_range(rows, len(out)) else None


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


def added(x: Any, index: Array, src: Any, dim: int, shape: Any = None) -> Array:
    """A copy of x, or zeros of `shape`, with src[i, j] added at [index[i, j], j] for dim 0, and so on; src is as large as
    the index."""
    if x is not None and loops.library is not None:
        made = loops.library.scatter_of(x, index, src, dim, True, True)
        if made is not None:
            return made  # type: ignore[no-any-return]
    out = np.zeros(shape, src.dtype) if x is None else x
    shape = out.shape
    rows = None if index.flags.carray else repeated(index, dim, shape)
    made = put(out, index, src, dim, True, x is not None) if rows is None else None
    if made is not None:
        return made
    check_places(index, dim, shape[dim])
    out = out if x is None else np.array(x, order="C")
    if rows is not None:
        add_along(out, dim, rows, src)
    elif index.size < SMALL:
        add_up_at(out.reshape(-1), flat_places(index, dim, shape), src.reshape(-1))
    else:
        add_rows(out.reshape(-1, 1), flat_places(index, dim, shape), src.reshape(-1, 1))
    return out


def scatter_copy(x: Any, index: Any, src: Any, dim: int) -> Array:
    """A copy of x with src[i, j] put at [index[i, j], j] for dim 0, and so on; src may be a number."""
    if src.__class__ is np.ndarray and loops.library is not None:
        made = loops.library.scatter_of(x, index, src, dim, False, True)
        if made is not None:
            return made  # type: ignore[no-any-return]
    every = isinstance(src, np.ndarray) and src.ndim
    made = put(x, index, src if every else np.full(index.shape, src, x.dtype), dim, False, True)
    if made is not None:
        return made
    check_places(index, dim, x.shape[dim])
    out = np.array(x, order="C")
    out.reshape(-1)[flat_places(index, dim, x.shape)] = src.reshape(-1) if every else src
    return out


def put_along(g: Array, places: Array, dim: int, n: int, distinct: bool) -> Array:
    """Zeros of size n along dim with g added at these places: the adjoint of gather_along()."""
    shape = (*g.shape[:dim], n, *g.shape[dim + 1:])
    if not distinct and places.shape[dim] != 1:
        return added(None, places, g, dim, shape)  # type: ignore[no-any-return]
    out = np.zeros(shape, g.dtype)
    if put(out, places, g, dim, False, False) is None:
        out.reshape(-1)[flat_places(places, dim, shape)] = g.reshape(-1)
    return out


def put(x: Array, index: Array, src: Array, dim: int, add: bool, copied: bool) -> Any:
    """x, or a copy of it, with src written to it, or added, by a compiled loop; None if there is none for these arrays, or
    if the index is out of range."""
    kernels = loops.library
    made = None if kernels is None else kernels.scatter_of(x, index, src, dim, add, copied)
    if made is None and kernels is not None and x.dtype.kind == "f":
        own = np.ascontiguousarray(x)
        made = kernels.scatter_of(own, np.ascontiguousarray(index, np.int64), np.ascontiguousarray(src), dim, add,
                                  copied and own is x)
    return made


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
    loop = loop_at("extreme_rows", out, rows, values) if reduce in ("amax", "amin") and rows.size else None
    if loop is not None:
        loop(out, np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(values), *values.shape,
             1.0 if reduce == "amax" else -1.0)
    elif reduce in ("sum", "mean"):
        add_rows(out, rows, values)
    else:                                            # on vectors, which is NumPy's fast case
        n = out.shape[1]
        at = rows if n == 1 else (rows[:, None] * n + np.arange(n)).reshape(-1)
        UFUNC[reduce].at(out.reshape(-1), at, values.reshape(-1))
