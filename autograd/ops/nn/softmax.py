"""Exponentials over their sum, and logarithms of sums of exponentials, without overflow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.dtypes import default, float16, float32
from ...base.types import Array, DTypeLike
from ...core.batching import along
from ...core.operation import Operation
from ...core.out import into
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels import softmax as kernel
from ...kernels.halves import converted
from ...kernels.memory_format import in_rows
from ...kernels.sums import total
from .._names import also
from ..pointwise.arithmetic import conjugates, mul
from ..pointwise.cast import cast
from ..pointwise.exponential import exp
from ..pointwise.where import where
from ..reductions.dims import Dims, dims_of, keepdim_shape, one_dim, reduction
from ..reductions.reduce import add_up, sum
from ..shape import reshape


def _wide(x: Array) -> Array:
    """Half precision is computed with in single."""
    return converted(x, float32) if x.dtype is float16 else x


class Logsumexp(Operation):
    """log(sum(exp(x))) over dims."""

    batched = along("dims")

    @staticmethod
    def forward(ctx: Context, x: Array, *, dims: tuple[int, ...], keepdim: bool) -> Array:
        """Shifted by the largest element first, unless that is infinite."""
        ctx.shape, ctx.dims = x.shape, dims
        made = kernel.logsumexp(x, dims)
        if made is not None:
            out = made.reshape(keepdim_shape(x.shape, dims)) if keepdim else made
            ctx.save(x, out)
            return out
        a = _wide(x)
        top = np.maximum.reduce(a.real if a.dtype.kind == "c" else a, axis=dims, keepdims=True, initial=-np.inf)
        top = np.where(np.isfinite(top), top, np.zeros((), top.dtype))
        whole = np.log(total(np.exp(a - top), dims, True)) + top
        out = in_rows(np.asarray(whole if keepdim else np.squeeze(whole, dims), x.dtype))
        ctx.save(x, out)
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """g * exp(x - z)."""
        x, z = ctx.values if g.dtype.kind != "c" else conjugates(*ctx.values)
        shape = keepdim_shape(ctx.shape, ctx.dims)
        if g.dtype.kind == "c":
            return reshape(g, shape) * exp(x - reshape(z, shape))
        if isinstance(g, Tensor):
            z = reshape(z, shape)
            apart = x - where(z == -np.inf, 0.0, z)
            if (z.array == np.inf).any():
                apart = where((x == z) & (z == np.inf), 0.0, apart)
            return reshape(g, shape) * exp(apart)
        if (z == np.inf).any():                      # the infinite element has all of the gradient
            z = z.reshape(shape)
            with np.errstate(invalid="ignore"):
                return g.reshape(shape) * np.exp(np.where((x == z) & (z == np.inf), np.zeros((), x.dtype), x - z))
        z = np.where(z == -np.inf, np.zeros((), z.dtype), z)
        made = kernel.logsumexp_backward(x, z, g, ctx.dims)
        return g.reshape(shape) * np.exp(x - z.reshape(shape)) if made is None else made


@reduction
def logsumexp(input: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    """log of the sum of exp(input) over `dim`, without overflow."""
    if input.dtype.kind in "iub":
        input = cast(input, default.dtype)
    return Logsumexp.apply(input, dims=dims_of(dim, input.ndim), keepdim=keepdim)


def _along(ctx: Context, x: Array, dim: int, out: Array | None, formula: Callable[[Array, int], Array]) -> Array:
    """Save and return `out`, the kernel's result along dim, or where the kernel gave None that of the formula."""
    ctx.dim = dim
    if out is None:
        a = _wide(x)
        out = formula(a, dim)
        out = in_rows(out if a is x else converted(out, x.dtype))
    ctx.save(out)
    return out


def log_softmax_array(a: Array, dim: int) -> Array:
    """log_softmax on arrays. The largest element is subtracted first, so that exp() does not overflow."""
    shifted = a - np.maximum.reduce(a, axis=dim, keepdims=True, initial=-np.inf)
    return shifted - np.log(total(np.exp(shifted), (dim,), True))


def softmax_array(a: Array, dim: int) -> Array:
    """softmax on arrays. The largest element is subtracted first, so that exp() does not overflow."""
    out = np.exp(a - np.maximum.reduce(a, axis=dim, keepdims=True, initial=-np.inf))
    out /= total(out, (dim,), True)
    return out


class LogSoftmax(Operation):
    """x - logsumexp(x) along dim."""

    batched = along("dim")

    real = True

    @staticmethod
    def forward(ctx: Context, x: Array, *, dim: int) -> Array:
        """The kernel, else log_softmax_array()."""
        return _along(ctx, x, dim, kernel.log_softmax(x, dim), log_softmax_array)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """g - softmax * sum(g)."""
        (z,) = ctx.values
        if isinstance(g, Tensor):
            return g - exp(z) * sum(g, ctx.dim, keepdim=True)
        made = kernel.log_softmax_backward(z, g, ctx.dim)
        return g - np.exp(z) * add_up(g, (ctx.dim,), True) if made is None else made


class Softmax(Operation):
    """exp(x) / sum(exp(x)) along dim."""

    batched = along("dim")

    real = True

    @staticmethod
    def forward(ctx: Context, x: Array, *, dim: int) -> Array:
        """The kernel, else softmax_array()."""
        return _along(ctx, x, dim, kernel.softmax(x, dim), softmax_array)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """z * (g - sum(g * z))."""
        (z,) = ctx.values
        if isinstance(g, Tensor):
            return mul(z, g - sum(g * z, ctx.dim, keepdim=True))
        made = kernel.softmax_backward(z, g, ctx.dim)
        return z * (g - add_up(g * z, (ctx.dim,), True)) if made is None else made


def _normalised(operation: Any, x: Tensor, dim: int, dtype: DTypeLike) -> Tensor:
    if dtype is not None:
        x = cast(x, dtype)
    if x.dtype.kind not in "fcV":
        raise NotImplementedError(f"\"softmax\" not implemented for '{x.dtype}'; pass dtype=, or convert with .float()")
    if x.ndim == 0:
        one_dim(dim, 0)
        return reshape(operation.apply(reshape(x, 1), dim=0), ())
    return operation.apply(x, dim=one_dim(dim, x.ndim))


@also(axis="dim")
def softmax(input: Tensor, dim: int, dtype: DTypeLike = None, *, out: Tensor | None = None) -> Tensor:
    """exp(input) over its sum along `dim`: positive, adding up to 1."""
    if out is not None:
        return into(out, softmax(input.detach(), dim, dtype), input)
    return _normalised(Softmax, input, dim, dtype)


@also(axis="dim")
def log_softmax(input: Tensor, dim: int, dtype: DTypeLike = None, *, out: Tensor | None = None) -> Tensor:
    """log(softmax(input, dim)), computed without losing small ones."""
    if out is not None:
        return into(out, log_softmax(input.detach(), dim, dtype), input)
    return _normalised(LogSoftmax, input, dim, dtype)


__all__ = ["log_softmax", "logsumexp", "softmax"]
METHODS = ["logsumexp", "softmax", "log_softmax"]
