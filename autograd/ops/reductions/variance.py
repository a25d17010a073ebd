"""Variances and standard deviations."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.dtypes import float16, float32
from ...base.types import Array
from ...core.batching import along
from ...core.operation import Operation
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, Operand, TensorOrArray
from ...kernels.halves import converted
from ...kernels.memory_format import in_rows
from ...kernels.norms import exact, power_of_two
from ...kernels.sums import total
from ..pointwise.where import where
from ..shape import reshape
from .dims import Dims, count, dims_of, keepdim_shape, reduction
from .reduce import Mean


def spread(x: Array, dims: tuple[int, ...], keepdim: bool, correction: float, root: bool = False) -> Array:
    """The variance of an array: squared distances from the mean, added up, over max(0, count - correction); or its root.
    Real. Where squares leave the range of the dtype, they are made of numbers divided by a power of two."""
    a = converted(x, float32) if x.dtype is float16 else x
    n = count(x.shape, dims)
    if n and n > correction:
        found = _spread(a, n, dims, keepdim, correction)
        if exact(found):
            return np.sqrt(found) if root else found
        return _scaled_spread(a, n, dims, keepdim, correction, root)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = _spread(a, n, dims, keepdim, correction)
        return np.sqrt(found) if root else found


def _scaled_spread(a: Array, n: int, dims: tuple[int, ...], keepdim: bool, correction: float, root: bool) -> Array:
    if not a.size:
        return _spread(a, n, dims, keepdim, correction)
    with np.errstate(all="ignore"):
        scale = power_of_two(np.max(np.abs(a), axis=dims, keepdims=True))
        found = _spread(a / scale, n, dims, keepdim, correction)
        scale = scale.reshape(np.shape(found))
        return np.sqrt(found) * scale if root else found * scale * scale


def _spread(a: Array, n: int, dims: tuple[int, ...], keepdim: bool, correction: float) -> Array:
    number = a.real.dtype.type
    centred = a - np.true_divide(total(a, dims, True), number(n))
    if centred.dtype.kind == "c":
        centred = centred.real * centred.real + centred.imag * centred.imag
    else:
        centred *= centred
    wide = centred.astype(np.float64) if centred.dtype == float32 else centred
    return np.asarray(np.true_divide(total(wide, dims, keepdim), max(0.0, n - correction)), number)


def spread_gradient(g: Operand, x: Operand, dims: tuple[int, ...], correction: float, whole: bool,
                    deviation: Operand | None = None) -> Operand:
    """2 g (x - mean) / (count - correction), over 2 `deviation` if given; without freedom nan at the mean, and infinite
    elsewhere. g is real."""
    freedom = count(x.shape, dims) - correction
    distance = x - Mean.apply(x, dims=dims, keepdim=True)
    if isinstance(distance, np.ndarray) and distance.dtype.kind == "f":        # what rounding has left in the mean
        distance -= total(distance, dims, True) / distance.dtype.type(max(count(x.shape, dims), 1))
    g = reshape(g, keepdim_shape(x.shape, dims))
    if deviation is not None:
        z = reshape(deviation, g.shape)
        g = where(z == 0, 0.0, g * 0.5)                                        # no 0 / 0 later
        distance = distance / where(z == 0, 1.0, z)
    if freedom <= 0 and whole:
        return g * where(distance == 0, float("nan"), float("inf") + 0 * distance)
    return g * distance * (2.0 / freedom if freedom else float("inf"))


class Var(Operation):
    """The variance over dims, real for complex numbers too. whole: the caller named no dims."""

    batched = along("dims")

    @staticmethod
    def forward(ctx: Context, x: Array, *, dims: tuple[int, ...], keepdim: bool, correction: float, whole: bool) -> Array:
        ctx.save(x)
        ctx.settings = dims, correction, whole
        return in_rows(converted(np.asarray(spread(x, dims, keepdim, correction)), x.real.dtype, copy=False))

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        (x,) = ctx.values
        return spread_gradient(g, x, *ctx.settings)


class Std(Operation):
    """The square root of the variance over dims; its gradient is 0 where it is 0."""

    batched = along("dims")

    @staticmethod
    def forward(ctx: Context, x: Array, *, dims: tuple[int, ...], keepdim: bool, correction: float, whole: bool) -> Array:
        out = in_rows(converted(np.asarray(spread(x, dims, keepdim, correction, True)), x.real.dtype, copy=False))
        ctx.save(x, out)
        ctx.settings = dims, correction, whole
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The variance's gradient over twice the deviation; distances are divided by it first, which keeps the range."""
        x, z = ctx.values
        dims, correction, whole = ctx.settings
        return spread_gradient(g, x, dims, correction, whole, z)


def _with_mean(name: str, first: type[Operation]) -> type[Operation]:
    """`first` (Var or Std) and the mean over the same dims, by one node that shows as `name`."""

    class WithMean(Operation, name=name):
        batched = along("dims")

        @staticmethod
        def forward(ctx: Context, x: Array, *, dims: tuple[int, ...], keepdim: bool, correction: float,
                    whole: bool) -> tuple[Array, ...]:
            out = first.forward(ctx, x, dims=dims, keepdim=keepdim, correction=correction, whole=whole)
            return out, Mean.forward(ctx, x, dims=dims, keepdim=keepdim)

        @staticmethod
        def backward(ctx: Context, g: TensorOrArray, g_mean: TensorOrArray | None) -> Gradients:
            """The sum of the gradients by way of both results."""
            parts = [rule.backward(ctx, part) for rule, part in ((first, g), (Mean, g_mean)) if part is not None]
            return parts[0] if len(parts) == 1 else parts[0] + parts[1]

    return WithMean


VarMean: type[Operation] = _with_mean("VarMean", Var)
StdMean: type[Operation] = _with_mean("StdMean", Std)


def _settings(input: Tensor, dim: Sequence[int] | int | None, unbiased: bool | None, keepdim: bool, correction: float | None,
              name: str) -> dict[str, Any]:
    """Of the forms (dim, unbiased, keepdim), (unbiased) and (dim, correction=, keepdim=)."""
    if isinstance(dim, bool):
        if unbiased is not None:
            raise TypeError(f"{name}() received two values for unbiased: {dim} and {unbiased}")
        dim, unbiased = None, dim
    if unbiased is not None:
        if correction is not None:
            raise TypeError(f"{name}() takes unbiased or correction, not both (unbiased={unbiased}, "
                            f"correction={correction})")
        correction = int(unbiased)
    if input.dtype.kind not in "fcV":
        raise RuntimeError(f"std and var only support floating point and complex dtypes, got {input.dtype}")
    dims = dims_of(dim, input.ndim)
    correction = 1 if correction is None else correction
    if count(input.shape, dims) <= correction:
        warnings.warn(f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction "
                      f"factor (input numel divided by output numel); got correction {correction} for "
                      f"{count(input.shape, dims)} elements", UserWarning, stacklevel=4)
    return {"dims": dims, "keepdim": keepdim, "correction": correction, "whole": dim is None or input.ndim == 0}


@reduction
def var(input: Tensor, dim: Dims | bool = None, unbiased: bool | None = None, keepdim: bool = False, *,
        correction: float | None = None) -> Tensor:
    """The variance: squared distances from the mean, added up, over (count - correction)."""
    return Var.apply(input, **_settings(input, dim, unbiased, keepdim, correction, "var"))


@reduction
def std(input: Tensor, dim: Dims | bool = None, unbiased: bool | None = None, keepdim: bool = False, *,
        correction: float | None = None) -> Tensor:
    """The square root of the variance."""
    return Std.apply(input, **_settings(input, dim, unbiased, keepdim, correction, "std"))


@reduction
def var_mean(input: Tensor, dim: Dims | bool = None, unbiased: bool | None = None, keepdim: bool = False, *,
             correction: float | None = None) -> tuple[Any, Any]:
    """The variance and the mean."""
    settings = _settings(input, dim, unbiased, keepdim, correction, "var_mean")
    return VarMean.apply(input, **settings)


@reduction
def std_mean(input: Tensor, dim: Dims | bool = None, unbiased: bool | None = None, keepdim: bool = False, *,
             correction: float | None = None) -> tuple[Any, Any]:
    """The standard deviation and the mean."""
    settings = _settings(input, dim, unbiased, keepdim, correction, "std_mean")
    return StdMean.apply(input, **settings)


__all__ = ["std", "std_mean", "var", "var_mean"]
METHODS = ["var", "std"]
