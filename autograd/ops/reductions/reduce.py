"""Sums, means, counts and truth over dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.dtypes import float16, float32, int64, uint8
from ...base.types import Array, DTypeLike
from ...core.batching import along, maps, placed
from ...core.batching import whole as whole_rule
from ...core.operation import Expand, Operation, SumTo
from ...core.out import into
from ...core.primitive import primitive
from ...core.tensor import Tensor, result
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels.halves import converted
from ...kernels.memory_format import in_rows
from ...kernels.sums import total
from .._kinds import demand_real
from ..pointwise.cast import cast
from ..shape import reshape, sizes
from .dims import Dims, count, dims_of, keepdim_shape, reduction

every: Any = np.logical_and.reduce
some: Any = np.logical_or.reduce
accumulate: Any = np.add.reduce                      # half the overhead of x.sum()


def add_up(x: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    """The sum of an array over dims, in its dtype; half precision adds up in single."""
    if x.dtype is float16:
        return converted(np.asarray(total(converted(x, float32), dims, keepdim)), float16)
    if len(dims) == x.ndim and not keepdim:          # one number, for which NumPy is fastest
        return accumulate(x, axis=dims, dtype=x.dtype)
    return in_rows(total(x, dims, keepdim))


class Sum(Operation):
    """The sum over dims."""

    batched = along("dims")

    @staticmethod
    def forward(ctx: Context, x: Array, *, dims: tuple[int, ...], keepdim: bool) -> Array:
        ctx.shape, ctx.dims = x.shape, dims
        return add_up(x, dims, keepdim)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        return Expand.apply(g.reshape(keepdim_shape(ctx.shape, ctx.dims)), shape=ctx.shape)


def sum(input: Any, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None, axis: Dims = None,
        keepdims: bool = False) -> Any:
    """The sum of all elements, or over the dimensions `dim`; integers and booleans add up in int64."""
    if axis is not None:
        dim = axis
    if out is not None:
        return into(out, sum(input.detach(), dim, keepdim or keepdims, dtype=dtype), input, dtype=dtype)
    if dtype is None:
        if input.dtype.kind in "iub":
            array = input.array if isinstance(input, Tensor) else input
            whole = _whole(array, dims_of(dim, array.ndim), keepdim or keepdims)
            return result(whole) if isinstance(input, Tensor) else whole
    else:
        input = cast(input, dtype)
    ndim = input.ndim
    return Sum.apply(input, dims=tuple(range(ndim)) if dim is None else dims_of(dim, ndim), keepdim=keepdim or keepdims)


@primitive
@maps(placed(1))
def _whole(a: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    """The sum of integers or booleans."""
    return in_rows(accumulate(a, axis=dims, dtype=int64, keepdims=keepdim))


class Mean(Operation):
    """The mean over dims."""

    batched = along("dims")

    @staticmethod
    def forward(ctx: Context, x: Array, *, dims: tuple[int, ...], keepdim: bool) -> Array:
        ctx.shape, ctx.dims = x.shape, dims
        ctx.count = count(x.shape, dims)
        wide = float32 if x.dtype is float16 else x.dtype
        whole = in_rows(total(converted(x, wide, copy=False), dims, keepdim))
        if ctx.count:
            return converted(np.true_divide(whole, wide.type(ctx.count)), x.dtype, copy=False)
        with np.errstate(invalid="ignore", divide="ignore"):      # the mean of nothing is nan, as in PyTorch
            return converted(np.true_divide(whole, np.asarray(ctx.count, wide)), x.dtype, copy=False)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        return Expand.apply((g / float(ctx.count)).reshape(keepdim_shape(ctx.shape, ctx.dims)), shape=ctx.shape)


def mean(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DTypeLike = None, out: Tensor | None = None,
         axis: Dims = None, keepdims: bool = False) -> Tensor:
    """The mean of all elements, or over the dimensions `dim`; floating point only."""
    if axis is not None:
        dim = axis
    if out is not None:
        return into(out, mean(input.detach(), dim, keepdim or keepdims, dtype=dtype), input, dtype=dtype)
    if dtype is not None:
        input = cast(input, dtype)
    if input.dtype.kind not in "fcV":
        raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating point or "
                           f"complex dtype. Got: {input.dtype}. Pass dtype=, or convert with .float()")
    return Mean.apply(input, dims=dims_of(dim, input.ndim), keepdim=keepdim or keepdims)


class Nansum(Operation):
    """The sum over dims of what is not nan."""

    batched = along("dims")

    real = True

    @staticmethod
    def forward(ctx: Context, x: Array, *, dims: tuple[int, ...], keepdim: bool) -> Array:
        present = ~np.isnan(x)
        ctx.save(present)
        ctx.dims = dims
        return add_up(np.where(present, x, np.zeros((), x.dtype)), dims, keepdim)

    @staticmethod
    def backward(ctx: Context, g: Tensor) -> Gradients:
        (present,) = ctx.values
        return reshape(g, keepdim_shape(present.shape, ctx.dims)) * present


@reduction
def nansum(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DTypeLike = None) -> Tensor:
    """The sum of the elements that are not nan."""
    demand_real("nansum", input)
    if input.dtype.kind not in "fV":
        return sum(input, dim, keepdim, dtype=dtype)
    x = input if dtype is None else cast(input, dtype)
    if x.dtype.kind not in "fV":
        return sum(x, dim, keepdim, dtype=dtype)
    return Nansum.apply(x, dims=dims_of(dim, x.ndim), keepdim=keepdim)


@primitive
@maps(whole_rule)
def _present(a: Array) -> Array:
    """Where there is no nan."""
    return ~np.isnan(a)


@primitive
@maps(placed(1))
def _count(a: Array, dims: tuple[int, ...]) -> Array:
    return np.asarray(np.count_nonzero(a, axis=dims), int64)


@reduction
def nanmean(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DTypeLike = None) -> Tensor:
    """The mean of the elements that are not nan; nan where there are none."""
    demand_real("nanmean", input)
    if input.dtype.kind not in "fcV":
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype}")
    whole = nansum(input, dim, keepdim, dtype=dtype)
    present = sum(result(_present(input.array)), dim, keepdim)
    return whole / cast(present, whole.dtype)


@reduction
def count_nonzero(input: Tensor, dim: Dims = None) -> Tensor:
    """How many elements, of all or over `dim`, are not 0."""
    return result(_count(input.array, dims_of(dim, input.ndim)))


def _truth(x: Tensor, dim: Dims, keepdim: bool, reduce: Callable[..., Array]) -> Tensor:
    """all and any: bool, but uint8 for uint8. An empty list of dims reduces none, unlike in sum()."""
    none = isinstance(dim, (tuple, list)) and not dim
    dims = () if none else dims_of(dim, x.ndim)
    return result(reduce(x.array, dims, keepdim))


@primitive
@maps(placed(1))
def _all(a: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    return _of_kind(a, every(a, axis=dims, keepdims=keepdim))


@primitive
@maps(placed(1))
def _any(a: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    return _of_kind(a, some(a, axis=dims, keepdims=keepdim))


def _of_kind(a: Array, truth: Any) -> Array:
    """uint8 where a is."""
    out = in_rows(np.asarray(truth))
    return out if a.dtype != uint8 else out.astype(uint8)


@reduction
def all(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Whether all elements are true."""
    return _truth(input, dim, keepdim, _all)


@reduction
def any(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Whether any element is true."""
    return _truth(input, dim, keepdim, _any)


def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """input summed over the dimensions that broadcasting would add to, or repeat in, a tensor of `size`."""
    shape = sizes(size)
    tail = input.shape[input.ndim - len(shape):] if len(shape) <= input.ndim else None
    if tail is None or not every([n in (1, have) for n, have in zip(shape, tail, strict=True)]):
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(input.shape)}}}.")
    if shape == input.shape and shape:
        return input
    return SumTo.apply(cast(input, int64) if input.dtype.kind in "iub" else input, shape=shape)


__all__ = ["all", "any", "count_nonzero", "mean", "nanmean", "nansum", "sum"]
METHODS = ["sum", "mean", "nansum", "nanmean", "all", "any", "count_nonzero", "sum_to_size"]
