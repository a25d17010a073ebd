"""Mean 0 and variance 1 over some dimensions, then a weight and a bias: what all normalizations are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.operation import fit
from ...core.tensor import Tensor
from ...kernels import group_norm, layer_norm
from ...kernels.halves import converted
from ...kernels.order import in_rows
from .._declare import Operation
from ..pointwise.cast import cast
from ..pointwise.powers import rsqrt
from ..reductions.reduce import mean
from ..shape import reshape

add_up: Any = np.add.reduce


class Standardize(Operation):
    """(x - mean) / sqrt(variance + eps) * weight + bias, mean and variance over `dims`.

    weight and bias are taken in the shape `form`, or left out. centre=False leaves the mean in (root mean square).
    observe(mean, variance) is told what was computed.
    """

    real = True
    mixes = True
    like_first = True

    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any, bias: Any, *, dims: tuple[int, ...], eps: float, form: tuple[int, ...],
                centre: bool = True, observe: Any = None) -> Any:
        """Kept for an ordinary backward pass: the mean and 1 / sqrt(variance + eps)."""
        ctx.given = dims, eps, form, centre
        out, *kept = standardized(x, weight, bias, dims, eps, form, centre, observe)
        ctx.save(x, weight, bias, tuple(kept))       # a tuple: numbers to the graph, freed with the rest
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """With h = g * weight and z the standardized x: (h - mean(h) - z mean(h z)) / sqrt(variance + eps)."""
        x, weight, bias, kept = ctx.values
        dims, eps, form, centre = ctx.given
        if not isinstance(g, Tensor):
            return _backward_of_arrays(ctx, g, x, weight, bias, *kept)
        wide = cast(x, np.float32) if x.dtype == np.float16 else x
        centred = wide - mean(wide, dims, keepdim=True) if centre else wide
        scale = rsqrt(mean(centred * centred, dims, keepdim=True) + eps)
        z = centred * scale
        gx = gw = gb = None
        if ctx.needs(0):
            h = g if weight is None else g * reshape(weight, form)
            inner = h - z * mean(h * z, dims, keepdim=True)
            gx = scale * (inner - mean(h, dims, keepdim=True) if centre else inner)
        if ctx.needs(1):
            gw = reshape(fit(g * z, form, weight.dtype), weight.shape)
        if ctx.needs(2):
            gb = reshape(fit(g, form, bias.dtype), bias.shape)
        return gx, gw, gb


def standardized(x: Any, weight: Any, bias: Any, dims: tuple[int, ...], eps: float, form: tuple[int, ...], centre: bool,
                 observe: Any) -> tuple[Any, Any, Any]:
    """The output by NumPy, the mean and 1 / sqrt(variance + eps). Half precision in single."""
    out = converted(x, np.float32) if x.dtype == np.float16 else x
    n = math.prod([x.shape[d] for d in dims])
    mean_of = None
    if centre:
        mean_of = total(out, None, dims)
        mean_of /= max(n, 1)
        out = out - mean_of
    var = total(out, out, dims)
    var /= max(n, 1)
    if observe is not None:
        observe(mean_of, var, n)
    scale = 1 / np.sqrt(var + eps)
    out = np.multiply(out, scale, out=out if centre else None)
    if weight is not None:
        out *= weight.reshape(form)
    if bias is not None:
        out += bias.reshape(form)
    return in_rows(np.asarray(out, x.dtype)), mean_of, scale


def total(x: Any, y: Any, dims: tuple[int, ...]) -> Any:
    """The sum of x * y (of x, if y is None) over dims, kept as dimensions of size 1.

    The last dimensions go first, as one: NumPy is quickest there, and needs no memory for the product.
    """
    lead = x.ndim
    if dims == (lead - 1,):                          # as it mostly is
        return add_up(x, axis=-1, keepdims=True) if y is None else np.vecdot(x, y)[..., None]
    while lead and lead - 1 in dims:
        lead -= 1
    if lead == x.ndim:
        return add_up(x if y is None else x * y, axis=dims, keepdims=True)
    shape = (*x.shape[:lead], math.prod(x.shape[lead:]))
    part = add_up(x.reshape(shape), axis=-1) if y is None else np.vecdot(x.reshape(shape), y.reshape(shape))
    rest = tuple(d for d in dims if d < lead)
    if rest:
        part = add_up(part, axis=rest, keepdims=True)
    return np.asarray(part).reshape(*np.shape(part), *[1] * (x.ndim - lead))


def _backward_of_arrays(ctx: Any, g: Any, x: Any, weight: Any, bias: Any, mean_of: Any, scale: Any) -> Any:
    """The same rule on arrays, in place where it can be."""
    dims, _, form, centre = ctx.given
    z = np.multiply(x - mean_of if centre else x, scale)
    gx = gw = gb = None
    extra = x.ndim - len(form)
    others = (*range(extra), *[d + extra for d, size in enumerate(form) if size == 1])
    if ctx.needs(2):
        gb = total(g, None, others).reshape(bias.shape)
    if ctx.needs(1):
        gw = total(g, z, others).reshape(weight.shape)
    if ctx.needs(0):
        h = g if weight is None else g * weight.reshape(form)
        n = np.asarray(max(x.size // max(scale.size, 1), 1), h.dtype)
        z *= total(h, z, dims) / n
        gx = np.subtract(h, z, out=z)
        if centre:
            gx -= total(h, None, dims) / n
        gx *= scale
    return gx, gw, gb


class BatchNorm(Standardize, name="NativeBatchNorm"):
    """Over all dimensions but the channels."""

    joins = ((0, 1),) * 3
    joins_zeros = False


class LayerNorm(Standardize, name="NativeLayerNorm"):
    """Over the last dimensions: by a kernel where there is one."""

    joins: Any = ((0, 1, 2),) * 3
    joins_zeros = False

    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any, bias: Any, *, dims: tuple[int, ...], eps: float, form: tuple[int, ...],
                centre: bool = True, observe: Any = None) -> Any:
        """The kernel keeps what Standardize keeps."""
        made = layer_norm.forward(x, weight, bias, form, eps, centre)
        if made is None:
            return Standardize.forward(ctx, x, weight, bias, dims=dims, eps=eps, form=form, centre=centre)
        ctx.given = dims, eps, form, centre
        ctx.save(x, weight, bias, made[1:])
        return made[0]

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Standardize's rule, or its kernel."""
        x, weight, _, (means, scales) = ctx.values
        _, _, form, centre = ctx.given
        if not isinstance(g, Tensor) and means is not None:
            made = layer_norm.backward(g, x, weight, means, scales, form, centre, (ctx.needs(0), ctx.needs(1), ctx.needs(2)))
            if made is not None:
                return made
        return Standardize.backward(ctx, g)


class GroupNorm(Operation, name="NativeGroupNorm"):
    """Over groups of channels of x (n, c, *plane), sample by sample: by a kernel where there is one."""

    joins: Any = ((0, 1), (0, 1), ())
    joins_zeros = False
    real = True
    mixes = True
    like_first = True

    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any, bias: Any, *, groups: int, eps: float, observe: Any = None) -> Any:
        """The kernel's result has its channels last, NumPy's lies by rows."""
        n, c = x.shape[:2]
        form = (1, groups, c // groups, 1)
        ctx.given = (2, 3), eps, form, True
        made = group_norm.forward(x, weight, bias, groups, eps)
        if made is None:
            grouped = x.reshape(n, *form[1:3], math.prod(x.shape[2:]))
            out, *kept = standardized(grouped, weight, bias, (2, 3), eps, form, True, observe)
            ctx.save(x, weight, bias, tuple(kept))
            return out.reshape(x.shape)
        out, means, variances, scales = made
        if observe is not None:
            observe(means, variances, x.size // means.size)
        ctx.save(x, weight, bias, (means, scales))
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Standardize's rule of the groups, or its kernel."""
        x, weight, bias, (means, scales) = ctx.values
        n, groups = x.shape[0], ctx.given[2][1]
        shape = (n, *ctx.given[2][1:3], math.prod(x.shape[2:]))
        if not isinstance(g, Tensor):
            made = group_norm.backward(g, x, weight, means.reshape(n, groups), scales.reshape(n, groups))
            if made is not None:
                return tuple([v if ctx.needs(k) else None for k, v in enumerate(made)])
        kept = tuple([v.reshape(n, groups, 1, 1) for v in (means, scales)])
        ctx.values = [reshape(x, shape), weight, bias, kept]
        gx, gw, gb = Standardize.backward(ctx, reshape(g, shape))
        return None if gx is None else reshape(gx, x.shape), gw, gb


class InstanceNorm(GroupNorm, name="NativeBatchNorm"):
    """Over each channel by itself."""

    joins = ((0, 1),) * 3


class RmsNorm(LayerNorm, name="FusedRmsNorm"):
    """Over the last dimensions, the mean left in."""

    joins = None


__all__: list[str] = []
