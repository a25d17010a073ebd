"""Elements taken along one dimension by their numbers, and put back: how sorting, maxima and medians pass gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..tensor import result
from ._declare import Operation
from .dims import squeezed


class Pick(Operation, name="Max"):
    """The elements of x at `indices` along dim. distinct: no element is taken twice."""

    @staticmethod
    def forward(ctx: Any, x: Any, indices: Any, *, dim: int, distinct: bool = False) -> Any:
        """np.take_along_axis."""
        ctx.save(indices)
        ctx.dim, ctx.size, ctx.distinct = dim, x.shape[dim], distinct
        return np.take_along_axis(x, indices, dim)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Put back where they were taken."""
        (indices,) = ctx.values
        return Put.apply(g, indices, dim=ctx.dim, size=ctx.size, distinct=ctx.distinct), None


class Put(Operation, name="Scatter"):
    """Zeros of `size` along dim, with g added at `indices`; the adjoint of Pick."""

    @staticmethod
    def forward(ctx: Any, g: Any, indices: Any, *, dim: int, size: int, distinct: bool = False) -> Any:
        """np.put_along_axis; indices may repeat, and then add up."""
        ctx.save(indices)
        ctx.dim, ctx.distinct = dim, distinct
        out = np.zeros((*g.shape[:dim], size, *g.shape[dim + 1:]), g.dtype)
        if distinct or indices.shape[dim] == 1:
            np.put_along_axis(out, indices, g, dim)
        else:
            places = list(np.indices(indices.shape, sparse=True))
            places[dim] = indices
            np.add.at(out, tuple(places), g)
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Pick again."""
        (indices,) = ctx.values
        return Pick.apply(g, indices, dim=ctx.dim, distinct=ctx.distinct), None


class ValuesIndices(NamedTuple):
    """What max(dim), sort(), topk() and others return."""

    values: Any
    indices: Any


def selected(x: Any, indices: Any, dim: int, keepdim: bool) -> ValuesIndices:
    """One element along dim for each of the others: (values, indices); `indices` an array with size 1 along dim."""
    if x.ndim == 0:
        return ValuesIndices(x * 1 if x.dtype.kind != "b" else x.clone(), result(indices.reshape(())))
    values = Pick.apply(x, indices, dim=dim)
    shape = indices.shape
    return ValuesIndices(squeezed(values, dim, keepdim),
                         result(indices if keepdim else indices.reshape((*shape[:dim], *shape[dim + 1:]))))
