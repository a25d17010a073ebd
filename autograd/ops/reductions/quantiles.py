"""The middle and other quantiles, and the most frequent value."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import float32, float64, int64
from ...base.types import Array
from ...core.casting import casts_float32
from ...core.operation import Operation
from ...core.primitive import data_dependent
from ...core.tensor import Tensor, result
from ...core.types import Context, Gradients, TensorOrNumber
from ...kernels.sorting import middle, middle_of_all
from ...kernels.sorting import mode as most_frequent
from ..pointwise.cast import cast
from ..shape import movedim, reshape, squeeze
from .dims import nonempty, one_dim, reduction
from .reduce import sum
from .sorting import sort
from .take_along import Picked, TakeAlong, ValuesIndices, picked

INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


class MedianOfAll(Operation, name="Median"):
    """The middle of all elements, the lower one of two; those equal to it share the gradient."""

    real = True

    @staticmethod
    def forward(ctx: Context, x: Array, *, skip_nan: bool) -> Array:
        """By partition; nan if there is one, or only if all are."""
        out = middle_of_all(x.reshape(-1), skip_nan)
        ctx.save(x, out)
        return out

    @staticmethod
    def backward(ctx: Context, g: Tensor) -> Gradients:
        """In equal parts to those equal to the median."""
        x, z = ctx.values
        chosen = cast(x != x if np.isnan(z.array if isinstance(z, Tensor) else z) else x == z, x.dtype)
        return chosen * g / sum(chosen)


class NanmedianOfAll(MedianOfAll, name="Nanmedian"):
    """The middle of all elements that are not nan."""


class Median(Picked):
    """Node of median() along a dimension."""

    choose = staticmethod(middle)


class Nanmedian(Median):
    """Node of nanmedian() along a dimension."""


class Mode(Picked):
    """Node of mode() along a dimension."""

    choose = staticmethod(most_frequent)


def _median(x: Tensor, dim: int | None, keepdim: bool, skip_nan: bool, name: str) -> Any:
    shape = x.array.shape
    if x.array.dtype.kind == "b":
        raise NotImplementedError("\"median_cpu\" not implemented for 'Bool'; convert with .int()")
    if dim is None:
        if keepdim:
            raise TypeError(f"{name}() takes keepdim only together with dim")
        return (NanmedianOfAll if skip_nan else MedianOfAll).apply(x, skip_nan=skip_nan)
    dim = one_dim(dim, len(shape))
    if 0 in shape:
        nonempty(shape, (dim,), name)
    return picked(Nanmedian if skip_nan else Median, x, dim, skip_nan, keepdim=keepdim)


@reduction
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The middle element, the lower of two, of all or as (values, indices) along `dim`; nan where there is one."""
    return _median(input, dim, keepdim, False, "median")


@reduction
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The middle element of those that are not nan, the lower of two, of all or as (values, indices) along `dim`."""
    return _median(input, dim, keepdim, True, "nanmedian")


@data_dependent
@reduction
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> ValuesIndices:
    """The most frequent value along `dim`, the smallest of equally frequent ones, and its last index."""
    shape = input.array.shape
    dim = one_dim(dim, len(shape))
    if 0 in shape:
        nonempty(shape, (dim,), "mode")
    return picked(Mode, input, dim, keepdim=keepdim)


# --- quantiles -------------------------------------------------------------------------------------------------------

def _checked_q(input: Tensor, q: Any, interpolation: str, name: str) -> Tensor:
    """q as a Tensor or an array of input's dtype, within [0, 1]."""
    if input.array.size == 0:
        raise RuntimeError(f"{name}() input tensor must be non-empty, got shape {list(input.shape)}")
    if input.dtype not in (float32, float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype, got {input.dtype}")
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
                           f"{interpolation}")
    if isinstance(q, Tensor):
        if q.ndim > 1:
            raise RuntimeError(f"{name}() q must be a scalar or 1D tensor, got {q.ndim}D")
        if q.dtype != input.dtype:
            raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor, got {q.dtype} and {input.dtype}")
        if not np.all((q.array >= 0) & (q.array <= 1)):
            raise RuntimeError(f"{name}() q values must be in the range [0, 1], got {q.tolist()}")
        return q
    if not 0 <= q <= 1:
        raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}")
    return result(np.array(q, input.dtype))


def _quantile(input: Tensor, q: TensorOrNumber, dim: int | None, keepdim: bool, interpolation: str,
              skip_nan: bool) -> Tensor:
    """The value at position q (n - 1) of the sorted last dimension: between its neighbours as `interpolation` says."""
    q = _checked_q(input, q, interpolation, "nanquantile" if skip_nan else "quantile")
    place = 0 if dim is None else one_dim(dim, input.ndim)
    x = reshape(input, -1) if dim is None or input.ndim == 0 else movedim(input, place, -1)
    ordered = sort(x)[0]
    nans = np.isnan(ordered.array)
    last = x.shape[-1] - 1
    if skip_nan:
        top = np.maximum(last - np.count_nonzero(nans, axis=-1, keepdims=True), 0).astype(x.dtype)
    else:
        top = np.full((*x.shape[:-1], 1), last, x.dtype)
    rank = reshape(q, -1) * result(top)
    if not skip_nan:                                 # a row with a nan has it at the end, and gives it
        rank = rank * result((~nans[..., -1:]).astype(x.dtype)) + result(np.where(nans[..., -1:], top, 0))
    r = rank.array
    low = {"higher": np.ceil, "nearest": np.rint}.get(interpolation, np.floor)(r).astype(int64)
    out = TakeAlong.apply(ordered, low, dim=x.ndim - 1)
    if interpolation in ("linear", "midpoint"):
        weight = rank - result(low.astype(x.dtype)) if interpolation == "linear" else 0.5
        high = TakeAlong.apply(ordered, np.ceil(r).astype(int64), dim=x.ndim - 1)
        out = out + (high - out) * weight
    if keepdim and input.ndim:
        rest = (1,) * input.ndim if dim is None else (*out.shape[:place], 1, *out.shape[place:-1])
        out = reshape(out, (*rest, out.shape[-1]))
    out = movedim(out, -1, 0)
    return squeeze(out, 0) if q.ndim == 0 else out


@casts_float32
@data_dependent
@reduction
def quantile(input: Tensor, q: TensorOrNumber, dim: int | None = None, keepdim: bool = False, *,
             interpolation: str = "linear") -> Tensor:
    """The values below which the parts q of all elements lie, or of those along `dim`; several q come first."""
    return _quantile(input, q, dim, keepdim, interpolation, False)


@casts_float32
@data_dependent
@reduction
def nanquantile(input: Tensor, q: Tensor | float, dim: int | None = None, keepdim: bool = False, *,
                interpolation: str = "linear") -> Tensor:
    """quantile() of the elements that are not nan."""
    return _quantile(input, q, dim, keepdim, interpolation, True)


__all__ = ["median", "mode", "nanmedian", "nanquantile", "quantile"]
METHODS = ["median", "nanmedian", "mode", "quantile", "nanquantile"]
