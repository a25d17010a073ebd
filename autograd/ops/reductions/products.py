"""Products: of all elements, along a dimension, running. Zeros have their gradient too, in every order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.dtypes import float16, float32, int64
from ...base.types import Array, DTypeLike
from ...core.batching import along
from ...core.casting import casts_float32
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, Operand, TensorOrArray
from ...kernels.halves import converted
from ...kernels.memory_format import in_rows
from ...kernels.sums import running_product
from .._names import also
from ..pointwise.arithmetic import conjugates
from ..pointwise.cast import cast
from ..shape import cat, flip, narrow, reshape
from .cumulative import tail_sums
from .dims import keepdim_shape, one_dim, reduction
from .recurrence import backwards


def _multiply(ufunc: Callable[..., Any], x: Array, **settings: Any) -> Array:
    """Half precision multiplies in single."""
    if x.dtype is float16:
        return converted(np.asarray(ufunc(converted(x, float32), **settings)), float16)
    return ufunc(x, dtype=x.dtype, **settings)


def divisible(x: TensorOrArray, z: TensorOrArray) -> bool:
    """Whether a product z of elements of x, divided by one of them, is the product of the others: no element is 0 or so
    small that z may have vanished by it, and z has not overflowed. A recorded quotient must lose no digits in a second
    derivative either, where terms near z / x^2 cancel."""
    recorded = isinstance(z, Tensor)
    x, z = (v.array if isinstance(v, Tensor) else v for v in (x, z))
    if not x.size:
        return True
    least = 2.0 ** -6 if recorded else float(np.finfo(x.dtype).eps)
    return not (np.abs(x).min() < least or np.isinf(z).any())                  # nan stays nan


def without_each(x: TensorOrArray, dim: int) -> Any:
    """For each element the product of all others along dim."""
    return before(x, dim) * flip(before(flip(x, dim), dim), dim)


def before(x: TensorOrArray, dim: int) -> Any:
    """For each element the product of those before it along dim."""
    if type(x) is np.ndarray:
        out = np.ones(x.shape, x.dtype)
        colons = (slice(None),) * dim
        out[colons + (slice(1, None),)] = cumulated(x[colons + (slice(0, -1),)], dim)
        return out
    one = np.ones(keepdim_shape(x.shape, (dim,)), x.dtype)
    return cumulated(cat([one, narrow(x, dim, 0, x.shape[dim] - 1)], dim), dim)


class Prod(Operation):
    """The product along dim."""

    batched = along("dim")

    @staticmethod
    def forward(ctx: Context, x: Array, *, dim: int, keepdim: bool) -> Array:
        out = in_rows(np.asarray(_multiply(np.multiply.reduce, x, axis=dim, keepdims=keepdim)))
        ctx.save(x, out)
        ctx.dim = dim
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """g z / x; where that may lose digits, or is recorded, g times the product of the others."""
        x, z = ctx.values if g.dtype.kind != "c" else conjugates(*ctx.values)
        dim = ctx.dim
        shape = keepdim_shape(x.shape, (dim,))
        g = reshape(g, shape)
        if x.shape[dim] == 1:
            return g
        if x.shape[dim] == 0 or (not isinstance(x, Tensor) and divisible(x, z)):
            return g * reshape(z, shape) / x
        return g * without_each(x, dim)


class Cumprod(Operation):
    """The running product along dim."""

    batched = along("dim")

    @staticmethod
    def forward(ctx: Context, x: Array, *, dim: int) -> Array:
        out = running_product(x, dim)
        if out is None:
            out = in_rows(_multiply(np.multiply.accumulate, x, axis=dim))
        ctx.save(x, out)
        ctx.dim = dim
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The sum of g z from each element on, over x; where that may lose digits, as a recurrence without the division.

        The product before x[i], times r[i] = g[i] + x[i + 1] r[i + 1]."""
        x, z = ctx.values if g.dtype.kind != "c" else conjugates(*ctx.values)
        dim = ctx.dim
        if x.shape[dim] == 1:
            return g
        if x.dtype == float16:                       # whose range g z and z / x^2 leave, where the derivatives do not
            x = cast(x, float32)
            ctx.values = [x, cumulated(x, dim)]
            made: Any = Cumprod.backward(ctx, cast(g, float32))
            return cast(made, float16)
        if divisible(x, z):
            return tail_sums(g * z, dim) / x
        return before(x, dim) * backwards(narrow(x, dim, 1, x.shape[dim] - 1), g, dim)


def cumulated(x: Operand, dim: int) -> Operand:
    """cumprod of an array or a Tensor along a dimension counted from the front."""
    return Cumprod.apply(x, dim=dim)


def _in_dtype(x: Tensor, dtype: DTypeLike) -> Tensor:
    if dtype is None and x.dtype.kind in "iub":
        dtype = int64
    return x if dtype is None else cast(x, dtype)


@casts_float32
@reduction
def prod(input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: DTypeLike = None) -> Tensor:
    """The product of all elements, or along one `dim`; integers and booleans multiply in int64."""
    x = _in_dtype(input, dtype)
    if dim is None:
        if keepdim:
            raise TypeError("prod() takes keepdim only together with dim")
        return Prod.apply(reshape(x, -1 if x.array.size else 0), dim=0, keepdim=False)
    dim = one_dim(dim, x.ndim)
    return Prod.apply(x if x.ndim else reshape(x, 1), dim=dim, keepdim=keepdim and x.ndim > 0)


@also(axis="dim")
@takes_out
def cumprod(input: Tensor, dim: int, *, dtype: DTypeLike = None) -> Tensor:
    """The products of the first 1, 2, ... elements along `dim`; integers and booleans multiply in int64."""
    x = _in_dtype(input, dtype)
    dim = one_dim(dim, x.ndim)
    return Cumprod.apply(x, dim=dim) if x.ndim else reshape(Cumprod.apply(reshape(x, 1), dim=0), ())


__all__ = ["cumprod", "prod"]
METHODS = ["prod", "cumprod"]
IN_PLACE = ["cumprod"]
