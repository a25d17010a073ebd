"""TakeAlong and PutAlong: gather along one dimension and its adjoint. Sorting, maxima and medians pass gradients by them.

max, sort, topk and others find the numbers each in its own way; what they record is one operation under their own names.
"""

from __future__ import annotations

from typing import NamedTuple

from ...base.types import Array
from ...core.batching import along
from ...core.operation import Operation
from ...core.tensor import Tensor, result
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels.take_along import put_along, take_along
from ..shape import reshape


class TakeAlong(Operation, name="Gather"):
    """The elements of x at `indices` along dim; without keepdim that dimension is removed. distinct: no index occurs
    twice."""

    batched = along("dim")

    @staticmethod
    def forward(ctx: Context, x: Array, indices: Array, *, dim: int, distinct: bool = False, keepdim: bool = True) -> Array:
        """The kernel kernels.take_along.along()."""
        ctx.save(indices)
        ctx.dim, ctx.size, ctx.distinct = dim, x.shape[dim], distinct
        out = take_along(x, indices, dim)
        return out if keepdim else out.reshape(without(indices.shape, dim))

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """PutAlong, the adjoint."""
        (indices,) = ctx.values
        g = g if g.ndim == indices.ndim else reshape(g, indices.shape)
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


class ValuesIndices(NamedTuple):
    """What max(dim), sort(), topk() and others return."""

    values: Tensor
    indices: Tensor


def selected(operation: type[TakeAlong], x: Tensor, indices: Array, dim: int, keepdim: bool) -> ValuesIndices:
    """One element along dim for each of the others: (values, indices); `indices` an array with size 1 along dim."""
    if x.ndim == 0:
        return ValuesIndices(x * 1 if x.dtype.kind != "b" else x.clone(), result(indices.reshape(())))
    return values_and_indices(operation, x, indices, dim, keepdim=keepdim)


def values_and_indices(operation: type[TakeAlong], x: Tensor, indices: Array, dim: int, *, distinct: bool = False,
          keepdim: bool = True) -> ValuesIndices:
    """The elements of x at `indices`, an array, along dim; and the indices as the Tensor that backward reads them from, so
    that it notices when the caller wrote to them. `operation` names the node.
    """
    given = result(indices)
    values = operation.apply(x, given, dim=dim, distinct=distinct, keepdim=keepdim)
    return ValuesIndices(values, given if keepdim else reshape(given, without(indices.shape, dim)))


def without(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    """A shape without this dimension."""
    return (*shape[:dim], *shape[dim + 1:])
