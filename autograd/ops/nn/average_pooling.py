"""Means under windows, sliding and adaptive, and the p-norms made of them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...core.casting import casts_float32
from ...core.tensor import Tensor
from ...kernels import onednn_pooling
from ...kernels import resampling as kernels
from ...kernels.layouts import kept
from ...kernels.pooling import pooled_size
from ...kernels.windows import Slide, wide
from .._declare import Operation
from .._out import takes_out
from ..pointwise.arithmetic import div
from ..pointwise.choice import relu
from ..pointwise.powers import pow
from ..pointwise.sign import abs, sign
from ..shape import reshape, unsqueeze
from .geometry import by, check_pool_input, full_sizes, pool_ints
from .resampling import Resample


class AvgPool(Operation):
    """Sums under windows, each over its own divisor; `windows` are what oneDNN knows them as, if it does."""

    joins: Any = ((0,),)

    @staticmethod
    def forward(ctx: Any, x: Any, *, maps: Any, divisor: Any, windows: tuple[Slide, int] | None) -> Any:
        """Integers are divided as PyTorch does, towards zero."""
        ctx.maps, ctx.divisor, ctx.windows, ctx.plane = maps, divisor, None, x.shape[2:]
        if windows is not None:
            quick = onednn_pooling.mean_windows(x, *windows)
            if quick is not None:
                ctx.windows = (*windows, quick[1])
                return quick[0]
        total = kernels.resample(x.astype(wide(x.dtype), copy=False), maps)
        if x.dtype.kind in "iu":
            quotient = abs(total) // abs(divisor)
            return (sign(total) * sign(divisor) * quotient).astype(x.dtype)
        return kept((total / divisor.astype(total.dtype)).astype(x.dtype, copy=False), x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Each window's share to its elements."""
        if ctx.windows is not None and not isinstance(g, Tensor):
            quick = onednn_pooling.mean_windows_back(g, ctx.plane, *ctx.windows)
            if quick is not None:
                return quick
        return Resample.apply(div(g, ctx.divisor.astype(g.dtype)), maps=tuple([m.transpose for m in ctx.maps]))


class WholeMean(AvgPool, name="Mean"):
    """The mean of each plane, for which PyTorch's backward does not read the input."""

    joins = None


def pooled(x: Any, dims: int, maps: Any, divisor: Any, windows: tuple[Slide, int] | None = None,
           operation: type[Operation] = AvgPool) -> Any:
    """AvgPool of x (n, c, *plane), or of one sample (c, *plane)."""
    if x.ndim == dims + 1:
        out = pooled(unsqueeze(x, 0), dims, maps, divisor, windows, operation)
        return reshape(out, out.shape[1:])
    return operation.apply(x, maps=maps, divisor=divisor, windows=windows)


def avg_pool(name: str, dims: int, input: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
             count_include_pad: bool, divisor_override: int | None) -> Any:
    """avg_pool1d, 2d, 3d: they differ in `dims`."""
    kernel = pool_ints(name, "kernel_size", kernel_size, dims)
    stride = kernel if stride is None or stride in ([], ()) else pool_ints(name, "stride", stride, dims)
    padding = pool_ints(name, "padding", padding, dims)
    check_pool_input(name, input, dims)
    if input.dtype.kind in "bc":
        raise NotImplementedError(f"{name}: not implemented for {input.dtype}")
    if divisor_override is not None and divisor_override == 0:
        raise RuntimeError(f"{name}: divisor must be not zero, got divisor_override=0")
    if min(kernel) < 1 or min(stride) < 1:
        raise RuntimeError(f"{name}: kernel size and stride should be greater than zero, but got "
                           f"kernel_size={list(kernel)}, stride={list(stride)}")
    if min(padding) < 0 or any(p > k // 2 for p, k in zip(padding, kernel, strict=True)):
        raise RuntimeError(f"{name}: pad should be at most half of effective kernel size, and not negative, but got pad="
                           f"{list(padding)} and kernel_size={list(kernel)}")
    plane = tuple(input.shape[-dims:])
    outs = tuple([pooled_size(n, k, s, p, 1, ceil_mode)
                  for n, k, s, p in zip(plane, kernel, stride, padding, strict=True)])
    if min(outs) < 1:
        channels = input.shape[-dims - 1]
        raise RuntimeError(f"{name}: Given input size: ({by((channels, *plane))}). Calculated output size: "
                           f"({by((channels, *outs))}). Output size is too small")
    slide = Slide(kernel, stride, padding, (1,) * dims, outs)
    maps = tuple([kernels.window_sums(*sizes) for sizes in zip(plane, kernel, stride, padding, outs, strict=True)])
    divisor = kernels.window_counts(plane, slide, padding, count_include_pad)
    if divisor_override is not None:
        return pooled(input, dims, maps, np.full_like(divisor, divisor_override))
    counted = onednn_pooling.OF_KERNEL if count_include_pad else onednn_pooling.OF_PLANE
    whole = not count_include_pad or int(divisor.min()) == prod(kernel)          # oneDNN's windows never hang over
    return pooled(input, dims, maps, divisor, (slide, counted) if whole else None)


def avg_pool1d(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
               count_include_pad: bool = True) -> Any:
    """The mean under each window of input (n, c, l) or (c, l); stride defaults to the window.

    count_include_pad: zeros of the padding count as elements. ceil_mode: a last window may hang over the end.
    """
    return avg_pool("avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@takes_out
def avg_pool2d(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
               count_include_pad: bool = True, divisor_override: int | None = None) -> Any:
    """The mean under each window of input (n, c, h, w) or (c, h, w); stride defaults to the window.

    count_include_pad: zeros of the padding count as elements. ceil_mode: a last window may hang over the end.
    divisor_override: sums are divided by this instead of the number of elements.
    """
    return avg_pool("avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@takes_out
@casts_float32
def avg_pool3d(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
               count_include_pad: bool = True, divisor_override: int | None = None) -> Any:
    """The mean under each window of input (n, c, d, h, w) or (c, d, h, w); stride defaults to the window.

    count_include_pad, ceil_mode, divisor_override: as for avg_pool2d.
    """
    return avg_pool("avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


# --- adaptive windows ------------------------------------------------------------------------------------------------

def adaptive_avg_pool(name: str, dims: int, input: Any, output_size: Any) -> Any:
    """adaptive_avg_pool1d, 2d, 3d: they differ in `dims`."""
    outs = full_sizes(name, input, output_size, dims)
    if input.dtype.kind not in "fV":
        raise NotImplementedError(f"{name}: not implemented for {input.dtype}")
    plane = tuple(input.shape[-dims:])
    maps = tuple([kernels.span_sums(n, o) for n, o in zip(plane, outs, strict=True)])
    divisor = kernels.span_counts(plane, outs)
    if 0 in outs or any(n % o for n, o in zip(plane, outs, strict=True)):
        return pooled(input, dims, maps, divisor)
    kernel = tuple([n // o for n, o in zip(plane, outs, strict=True)])
    slide = Slide(kernel, kernel, (0,) * dims, (1,) * dims, outs)
    return pooled(input, dims, maps, divisor, (slide, onednn_pooling.OF_KERNEL), WholeMean if set(outs) == {1} else AvgPool)


def adaptive_avg_pool1d(input: Any, output_size: Any) -> Any:
    """The means over output_size windows that cover input (n, c, l) or (c, l) evenly."""
    return adaptive_avg_pool("adaptive_avg_pool1d", 1, input, output_size)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """The means over output_size (h', w') windows that cover input (n, c, h, w) or (c, h, w) evenly; None: as input."""
    return adaptive_avg_pool("adaptive_avg_pool2d", 2, input, output_size)


@casts_float32
def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    """The means over output_size (d', h', w') windows that cover input (n, c, d, h, w) evenly; None: as input."""
    return adaptive_avg_pool("adaptive_avg_pool3d", 3, input, output_size)


# --- p-norms ---------------------------------------------------------------------------------------------------------

def lp_pool(dims: int, input: Any, norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool) -> Any:
    """lp_pool1d, 2d, 3d: the p-norm under each window, by way of the mean of p-th powers."""
    name = f"lp_pool{dims}d"
    kernel = pool_ints(name, "kernel_size", kernel_size, dims)
    mean = avg_pool(name, dims, pow(input, norm_type), kernel, stride, 0, ceil_mode, True, None)
    return pow(sign(mean) * relu(abs(mean)) * prod(kernel), 1.0 / norm_type)


def lp_pool1d(input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
    """(sum of x^p)^(1/p) under each window of input (n, c, l) or (c, l), with p = norm_type."""
    return lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
    """(sum of x^p)^(1/p) under each window of input (n, c, h, w) or (c, h, w), with p = norm_type."""
    return lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


@casts_float32
def lp_pool3d(input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
    """(sum of x^p)^(1/p) under each window of input (n, c, d, h, w) or (c, d, h, w), with p = norm_type."""
    return lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)


__all__ = ["adaptive_avg_pool1d", "avg_pool1d"]
