"""Running sums, extremes, and logarithms of sums of exponentials along a dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import float16, float32, int64
from ...base.types import Array, DTypeLike
from ...core.batching import along
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels.halves import converted
from ...kernels.logarithms import logcumsumexp as logcumsumexp_kernel
from ...kernels.memory_format import in_rows
from ...kernels.sums import running, running_places
from .._names import also
from ..pointwise.arithmetic import conjugates
from ..pointwise.cast import cast
from ..pointwise.exponential import exp
from ..pointwise.where import where
from ..shape import flip, narrow, reshape
from .dims import one_dim
from .recurrence import backwards
from .take_along import Picked, ValuesIndices, picked


class Cumsum(Operation):
    """The running sum along dim."""

    batched = along("dim")

    @staticmethod
    def forward(ctx: Context, x: Array, *, dim: int) -> Array:
        ctx.dim = dim
        made = running(x, dim)
        if made is not None:
            return made
        if x.dtype is float16:
            return in_rows(converted(np.add.accumulate(converted(x, float32), axis=dim), float16))
        wide = np.float64 if x.dtype == float32 else x.dtype
        return in_rows(np.add.accumulate(x, axis=dim, dtype=wide).astype(x.dtype, copy=False))

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """Sums of g from each element to the end."""
        return tail_sums(g, ctx.dim)


def tail_sums(x: TensorOrArray, dim: int) -> Any:
    """For each element the sum of it and those after it along dim."""
    made = running(x, dim, True) if x.__class__ is np.ndarray else None
    if made is not None:
        return made
    return flip(Cumsum.apply(flip(x, dim), dim=dim), dim)


@also(axis="dim")
@takes_out
def cumsum(input: Tensor, dim: int, *, dtype: DTypeLike = None) -> Tensor:
    """The sums of the first 1, 2, ... elements along `dim`; integers and booleans add up in int64."""
    if dtype is None and input.dtype.kind in "iub":
        dtype = int64
    x = input if dtype is None else cast(input, dtype)
    ndim = x.ndim
    dim = one_dim(dim, ndim)
    return Cumsum.apply(x, dim=dim) if ndim else reshape(Cumsum.apply(reshape(x, 1), dim=0), ())

class Cummax(Picked):
    """Node of cummax() along a dimension."""

    choose = staticmethod(running_places)
    distinct = False


class Cummin(Cummax):
    """Node of cummin() along a dimension."""


@also(axis="dim")
@takes_out
def cummax(input: Tensor, dim: int) -> ValuesIndices:
    """The largest of the first 1, 2, ... elements along `dim`, and its index (of equal ones the last)."""
    return picked(Cummax, input, one_dim(dim, input.array.ndim), np.maximum)


@also(axis="dim")
@takes_out
def cummin(input: Tensor, dim: int) -> ValuesIndices:
    """The smallest of the first 1, 2, ... elements along `dim`, and its index (of equal ones the last)."""
    return picked(Cummin, input, one_dim(dim, input.array.ndim), np.minimum)


class Logcumsumexp(Operation):
    """log(cumsum(exp(x))) along dim."""

    batched = along("dim")

    @staticmethod
    def forward(ctx: Context, x: Array, *, dim: int) -> Array:
        """The kernel; half precision adds up in single."""
        out = logcumsumexp_kernel(converted(x, float32) if x.dtype is float16 else x, dim)
        out = in_rows(converted(out, x.dtype, copy=False))
        ctx.save(x, out)
        ctx.dim = dim
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """exp(x[i] - z[i]) r[i] with r[i] = g[i] + exp(z[i] - z[i + 1]) r[i + 1]: z grows, so nothing overflows."""
        x, z = ctx.values if g.dtype.kind != "c" else conjugates(*ctx.values)
        dim = ctx.dim
        if isinstance(g, np.ndarray) and g.dtype == float32:         # the factors' rounding adds up along a row
            wide: list[Any] = [a.astype(np.float64) for a in (x, z, g)]
            return _spread_back(wide[0], wide[1], wide[2], dim).astype(float32)      # type: ignore[no-any-return]
        return _spread_back(x, z, g, dim)                # type: ignore[no-any-return]


def _spread_back(x: Any, z: Any, g: Any, dim: int) -> Any:
    """Logcumsumexp's rule."""
    n = x.shape[dim] - 1
    size = (z.array if isinstance(z, Tensor) else z).real
    low = size == -np.inf
    z = where(low, 0.0, z)
    top = narrow(size, dim, 0, n) == np.inf
    step = where(top, 0.0, narrow(z, dim, 0, n) - narrow(z, dim, 1, n))
    r = backwards(where(narrow(low, dim, 0, n), 0.0, exp(step)), g, dim)
    return where(low, 0.0, exp(where(low, 0.0, x - z)) * r)


@also(axis="dim")
@takes_out
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """log of the running sum of exp(input) along `dim`, without overflow."""
    if input.dtype.kind not in "fcV":
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{input.dtype}'; use .float() first")
    dim = one_dim(dim, input.ndim)
    if input.ndim == 0:
        return reshape(Logcumsumexp.apply(reshape(input, 1), dim=0), ())
    return Logcumsumexp.apply(input, dim=dim) if input.array.size else input.clone()


__all__ = ["cummax", "cummin", "cumsum", "logcumsumexp"]
METHODS = ["cumsum", "cummax", "cummin", "logcumsumexp"]
IN_PLACE = ["cumsum"]
