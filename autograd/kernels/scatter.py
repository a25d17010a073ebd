"""Adding to, and gathering from, places given by numbers."""

from __future__ import annotations

from typing import Any

import numpy as np


def add_rows(out: Any, rows: Any, values: Any) -> None:
    """out[rows[i]] += values[i] for all i; rows may repeat. out and values have two dimensions.

    Equal rows are brought together by a stable sort, so that each is written once.
    """
    if not rows.size:
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
    rows = 0
    for vector, size in zip(vectors, sizes, strict=True):
        rows = rows * size + np.where(vector < 0, vector + size, vector)
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


# What each reduction starts from where the old elements shall not count.
UFUNC = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


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
    flat, at = out.reshape(-1), flat_places(index, dim, x.shape)
    given = src[tuple([slice(n) for n in index.shape])].reshape(-1)
    if not include_self:
        flat[at] = start_value(reduce, out.dtype)
    UFUNC[reduce].at(flat, at, given.astype(out.dtype, copy=False))
    if reduce == "mean":
        count = np.bincount(at, minlength=flat.size) + include_self
        count[count == 0] = 1
        if out.dtype.kind in "fcV":
            flat /= count.astype(out.dtype)
        else:
            flat[...] = flat // count
    return out
