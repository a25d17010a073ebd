"""Indexing: every form that NumPy's arrays take, its adjoint, and rows picked by number."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import int64
from ..tensor import Tensor
from ._declare import Operation


def plain(index: Any) -> Any:
    """An index with arrays where it had Tensors, lists as arrays; bounds are NumPy's to check."""
    if isinstance(index, tuple):
        return tuple(plain(i) for i in index)
    if isinstance(index, Tensor):
        index = index.array
        if index.dtype.kind not in "iub":
            raise IndexError(f"tensors used as indices must be integer or bool tensors, not {index.dtype}")
        return index.item() if index.ndim == 0 and index.dtype.kind in "iu" else index
    if isinstance(index, list):
        return np.asarray([plain(i) for i in index], dtype=None if index else int64)
    return index


def is_basic(index: Any) -> bool:
    """Whether an index has only integers, slices, None and ..., so that the result is a view and takes no element twice."""
    parts = index if isinstance(index, tuple) else (index,)
    return not any(isinstance(p, (np.ndarray, bool, np.bool_)) for p in parts)


class Index(Operation):
    """x[index]."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, index: Any) -> Any:
        """NumPy's indexing."""
        ctx.index, ctx.shape = index, x.shape
        return np.asarray(x[index])

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Zeros, with g added at the index."""
        return IndexAdd.apply(g, index=ctx.index, shape=ctx.shape)


class Select(Index, name="Slice"):
    """x[index] with integers and slices only: a view."""

    view = True

    @staticmethod
    def forward(ctx: Any, x: Any, *, index: Any) -> Any:
        """NumPy's indexing; with "..." added it gives a view of a single element too, not a copy."""
        ctx.index, ctx.shape = index, x.shape
        parts = index if isinstance(index, tuple) else (index,)
        return x[index] if Ellipsis in parts else x[parts + (Ellipsis,)]


class IndexAdd(Operation, name="IndexPut"):
    """Zeros of `shape` with g added at `index`, the adjoint of Index; elements indexed twice get both."""

    @staticmethod
    def forward(ctx: Any, g: Any, *, index: Any, shape: tuple[int, ...]) -> Any:
        """Assignment where no element comes twice, np.add.at elsewhere."""
        ctx.index = index
        out = np.zeros(shape, g.dtype)
        if is_basic(index):
            out[index] = g
        else:
            np.add.at(out, index, g)
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Index again."""
        return Index.apply(g, index=ctx.index)


def getitem(x: Any, index: Any) -> Any:
    """x[index], any form that NumPy takes; integer and bool Tensors and lists count as arrays."""
    index = plain(index)
    return (Select if is_basic(index) else Index).apply(x, index=index)


class IndexPut(Operation):
    """x with the elements at `index` replaced by value."""

    mixes = True

    @staticmethod
    def forward(ctx: Any, x: Any, value: Any, *, index: Any) -> Any:
        """A copy, assigned to."""
        ctx.index, ctx.value_shape = index, np.shape(value)
        out = x.copy()
        out[index] = value
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """x gets all but what was replaced, value the rest (fitted to its shape afterwards)."""
        gx = IndexPut.apply(g, 0, index=ctx.index) if ctx.needs(0) else None
        return gx, Index.apply(g, index=ctx.index) if ctx.needs(1) else None


def index_select(x: Any, dim: int, index: Any) -> Any:
    """The slices of x along `dim` that the vector `index` names."""
    rows = plain(index)
    return Index.apply(x, index=(*[slice(None)] * (dim % x.ndim), np.atleast_1d(rows)))


__all__ = ["index_select"]
METHODS = ["index_select"]
