"""Extremes: max, min, amax, amin, aminmax, argmax, argmin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...base.dtypes import int64
from ...base.types import Array
from ...core.batching import Level, along, maps
from ...core.operation import Operation
from ...core.out import into
from ...core.primitive import primitive
from ...core.tensor import Tensor, result
from ...core.types import Context, Gradients, TensorOrArray, TensorOrNumber
from ...kernels.memory_format import in_rows
from ...kernels.sorting import largest, smallest
from ...kernels.sums import extremes
from .._kinds import demand_real
from .._names import also
from ..pointwise.cast import cast
from ..pointwise.where import maximum, minimum, passing
from ..shape import reshape
from .dims import Dims, count, dims_of, keepdim_shape, nonempty, one_dim, reduction
from .reduce import sum
from .take_along import Picked, ValuesIndices, picked


class Amax(Operation):
    """The largest element (Amin: the smallest) over dims; equal ones share the gradient, as PyTorch's amax."""

    batched = along("dims")

    real = True

    @staticmethod
    def forward(ctx: Context, x: Array, *, dims: tuple[int, ...], keepdim: bool, pick: Callable[..., Any]) -> Array:
        ctx.shape, ctx.dims = x.shape, dims
        out = in_rows(np.asarray(extremes(x, dims, keepdim, pick)))
        ctx.save(x, out)
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """To the elements equal to the extreme, in equal parts."""
        x, z = ctx.values
        shape = keepdim_shape(ctx.shape, ctx.dims)
        chosen = cast(x == reshape(z, shape), x.dtype)
        return chosen * reshape(g, shape) / sum(chosen, ctx.dims, keepdim=True)


class Amin(Amax):
    """The smallest element over dims."""


class MaxOfAll(Amax, name="Max"):
    """The extreme of all elements: where that is nan, the nans share the gradient."""

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        x, z = ctx.values
        top = z.array if isinstance(z, Tensor) else z
        if top.ndim:                                 # one for each sample of a batch: ctx.dims are the others
            shape = keepdim_shape(ctx.shape, ctx.dims)
            values = x.array if isinstance(x, Tensor) else x
            top = top.reshape(shape)
            every = np.where(np.isnan(top), values != values, values == top)
            return passing(reshape(g, shape) / sum(every.astype(x.dtype), ctx.dims, keepdim=True), every)
        chosen = x != x if np.isnan(top) else x == z
        return passing(g / sum(cast(chosen, x.dtype)), chosen)


class MinOfAll(MaxOfAll, name="Min"):
    """The smallest of all elements."""


class Max(Picked):
    """Node of max() along a dimension."""

    choose = staticmethod(largest)


class Min(Picked):
    """Node of min() along a dimension."""

    choose = staticmethod(smallest)


def _extreme(x: Tensor, dim: Dims, keepdim: bool, pick: Callable[..., Any], name: str) -> Tensor:
    dims = dims_of(dim, x.ndim)
    if count(x.shape, dims) == 0:
        _no_extreme(x, dim, dims, name)
    return (Amax if pick is np.maximum else Amin).apply(x, dims=dims, keepdim=keepdim, pick=pick)


def _no_extreme(x: Any, dim: Any, dims: tuple[int, ...], name: str) -> None:
    """The error for an extreme of nothing; none if there are no results either."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0, shape "
                           f"{list(x.shape)}. Specify the reduction dim with the 'dim' argument.")
    nonempty(x.shape, dims, name)


@reduction
def amax(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """The largest element over `dim`; equal ones share the gradient."""
    return _extreme(input, dim, keepdim, np.maximum, "amax")


@reduction
def amin(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """The smallest element over `dim`; equal ones share the gradient."""
    return _extreme(input, dim, keepdim, np.minimum, "amin")


class MinMax(NamedTuple):
    """What aminmax() returns."""

    min: Tensor
    max: Tensor


@also(axis="dim", keepdims="keepdim")
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False, out: Tensor | None = None) -> MinMax:
    """The smallest and the largest element, of all or along one `dim`."""
    demand_real("aminmax", input)
    if out is not None:
        for o in out:
            if o.dtype != input.dtype:
                raise RuntimeError(f"Expected out tensor to have dtype {input.dtype}, but got {o.dtype} instead")
        return MinMax(*[into(o, v, input) for o, v in zip(out, aminmax(input.detach(), dim=dim, keepdim=keepdim),
                                                           strict=True)])
    if dim is None and input.array.size == 0:
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
                           f"identity; the input has shape {list(input.shape)}")
    dims: Dims = None if dim is None else one_dim(dim, input.ndim)
    return MinMax(amin(input, dims, keepdim), amax(input, dims, keepdim))


def _place_of_each(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """The rule for batches: without a dimension, of all elements of each sample."""
    a, *dim = args
    return call(level.raw(a), dim[0] + 1, **settings) if dim else call(level.raw(a).reshape(level.size, -1), 1, **settings)


_argmax, _argmin = [primitive(maps(_place_of_each)(find)) for find in (np.ndarray.argmax, np.ndarray.argmin)]


def _either(x: Tensor, dim: TensorOrNumber | None, keepdim: bool, other: Tensor | None, pick: Callable[..., Any],
            name: str) -> Any:
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument 'input' must be Tensor, not {type(x).__name__}")
    if other is not None or isinstance(dim, Tensor):
        return (maximum if pick is np.maximum else minimum)(x, dim if other is None else other)
    if dim is not None:
        shape = x.array.shape
        dim = one_dim(dim, len(shape))               # type: ignore[arg-type]
        if 0 in shape:
            nonempty(shape, (dim,), name)
        found: ValuesIndices = picked(Max if pick is np.maximum else Min, x, dim, keepdim=keepdim)
        return found
    if keepdim:
        raise TypeError(f"{name}() takes keepdim only together with dim")
    if x.array.size == 0:
        _no_extreme(x, None, (), name)
    return (MaxOfAll if pick is np.maximum else MinOfAll).apply(x, dims=tuple(range(x.ndim)), keepdim=False, pick=pick)


@reduction
def max(input: Tensor, dim: Tensor | int | None = None, keepdim: bool = False, *, other: Tensor | None = None) -> Any:
    """The largest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    demand_real("max", input)
    return _either(input, dim, keepdim, other, np.maximum, "max")


@reduction
def min(input: Tensor, dim: Tensor | int | None = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The smallest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    demand_real("min", input)
    return _either(input, dim, keepdim, other, np.minimum, "min")


def _arg(x: Tensor, dim: int | None, keepdim: bool, find: Callable[..., Any], name: str) -> Tensor:
    demand_real(name, x)
    a = x.array
    if a.dtype.kind == "b":
        raise RuntimeError(f"\"{name}_cpu\" not implemented for 'Bool'; convert with .int()")
    if dim is None:
        if a.size == 0:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0, shape "
                             f"{list(a.shape)}.")
        out = result(find(a))
        return reshape(out, (1,) * a.ndim) if keepdim else out
    place = one_dim(dim, a.ndim)
    if a.ndim == 0:
        return result(np.zeros((), int64))
    nonempty(a.shape, (place,), name)
    return result(find(a, place, keepdims=keepdim))


@reduction
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The index of the first largest element, of all or along `dim`."""
    return _arg(input, dim, keepdim, _argmax, "argmax")


@reduction
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The index of the first smallest element, of all or along `dim`."""
    return _arg(input, dim, keepdim, _argmin, "argmin")


__all__ = ["amax", "amin", "aminmax", "argmax", "argmin", "max", "min"]
METHODS = ["amax", "amin", "aminmax", "max", "min", "argmax", "argmin"]
