"""TakeAlong and PutAlong: gather along one dimension and its adjoint.

Picked: elements that a kernel finds along a dimension, and where they are; max, sort, topk and others are kinds of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...base.types import Array
from ...core.batching import along
from ...core.operation import Operation
from ...core.tensor import Tensor, result
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels.scatter import put_along
from ...kernels.sorting import GONE
from ...kernels.take_along import gather_along
from .._kinds import demand_real
from ..shape import reshape


class TakeAlong(Operation, name="Gather"):
    """The elements of x at `indices` along dim. distinct: no index occurs twice."""

    batched = along("dim")

    @staticmethod
    def forward(ctx: Context, x: Array, indices: Array, *, dim: int, distinct: bool = False) -> Array:
        """The kernel kernels.take_along.gather_along()."""
        ctx.save(indices)
        ctx.dim, ctx.size, ctx.distinct = dim, x.shape[dim], distinct
        return gather_along(x, indices, dim)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """PutAlong, the adjoint."""
        (indices,) = ctx.values
        return PutAlong.apply(g, indices, dim=ctx.dim, size=ctx.size, distinct=ctx.distinct), None


class PutAlong(Operation, name="Scatter"):
    """Zeros of `size` along dim, with g added at `indices`; the adjoint of TakeAlong."""

    batched = along("dim")

    @staticmethod
    def forward(ctx: Context, g: Array, indices: Array, *, dim: int, size: int, distinct: bool = False) -> Array:
        """Indices may repeat, and then add up."""
        ctx.save(indices)
        ctx.dim, ctx.distinct = dim, distinct
        return put_along(g, indices, dim, size, distinct)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The elements at the same indices."""
        (indices,) = ctx.values
        return TakeAlong.apply(g, indices, dim=ctx.dim, distinct=ctx.distinct), None


class Picked(Operation):
    """Elements of x along dim and where they are, which choose(x, dim, *settings) finds: (values, indices). Without keepdim
    that dimension is removed, by choose(..., GONE) if it can."""

    batched = along("dim")
    choose: Any = None
    distinct = True
    real = True

    @staticmethod
    def forward(ctx: Context, x: Array, *, dim: int, settings: tuple[Any, ...] = (), keepdim: bool = True) -> Any:
        """The kernel that the subclass names."""
        choose = ctx.operation.choose
        values, places = choose(x, dim, *settings) if keepdim else choose(x, dim, *settings, GONE)
        if not keepdim and values.ndim == x.ndim:
            shape = without(x.shape, dim)
            values, places = values.reshape(shape), places.reshape(shape)
        ctx.given = dim, x.shape
        ctx.save(places)
        return values, places

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray, _: Any) -> Gradients:
        """PutAlong, the adjoint of gathering at these places."""
        (places,) = ctx.values
        dim, shape = ctx.given
        if g.ndim != len(shape):
            kept = (*shape[:dim], 1, *shape[dim + 1:])
            g, places = reshape(g, kept), reshape(places, kept)
        return PutAlong.apply(g, places, dim=dim, size=shape[dim], distinct=ctx.operation.distinct)


class ValuesIndices(NamedTuple):
    """What max(dim), sort(), topk() and others return."""

    values: Tensor
    indices: Tensor


def picked(operation: type[Picked], x: Tensor, dim: int, *settings: Any, keepdim: bool = True) -> ValuesIndices:
    """What the operation finds along dim, counted from the front. A number is its own."""
    if x.array.ndim == 0:
        demand_real(operation.__name__.lower(), x)
        return ValuesIndices(x * 1 if x.dtype.kind != "b" else x.clone(), result(np.zeros((), np.int64)))
    found = (operation.apply(x, dim=dim, settings=settings) if keepdim else
             operation.apply(x, dim=dim, settings=settings, keepdim=False))
    return tuple.__new__(ValuesIndices, found)       # 0.1 us less


def without(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    """A shape without this dimension."""
    return (*shape[:dim], *shape[dim + 1:])
