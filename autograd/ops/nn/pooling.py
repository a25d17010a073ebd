"""Pooling: means, p-norms and maxima of windows, sliding, adaptive and fractional, and max_unpool.

Maxima under windows: sliding, adaptive and fractional ones, and the way back, unpooling.

Where a maximum stands is an integer; the gradient goes there. Adding at places and taking from them are each other's
adjoint, so all derivatives follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ...base.dtypes import int64
from ...base.types import Array, SizeLike
from ...core.batching import Level, samples
from ...core.casting import casting, casts_float32, raised
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.primitive import value_read
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels import pooling as kernels
from ...kernels import resampling as resampling
from ...kernels import sums
from ...kernels.halves import converted
from ...kernels.memory_format import channels_last, last_axes
from ...kernels.onednn import pooling as onednn_pooling
from ...kernels.onednn.reorder import like_order, to_suggested_format
from ...kernels.pooling import pooled_size
from ...kernels.windows import WindowGeometry, wide
from ...modes.random import drawing
from ..pointwise.arithmetic import div
from ..pointwise.powers import pow
from ..pointwise.sign import abs, sign
from ..pointwise.where import relu
from ..shape import reshape, unsqueeze
from .geometry import Sizes, by, check_pool_input, full_sizes, ints, pool_ints
from .resampling import Upsample


class AvgPool(Operation):
    """Sums under windows, each over its own divisor; `windows` are what oneDNN knows them as, if it does."""

    batched = samples()

    joins: Any = ((0,),)

    @staticmethod
    def forward(ctx: Context, x: Array, *, maps: Any, divisor: Array, windows: tuple[WindowGeometry, int] | None) -> Array:
        """Integers are divided as PyTorch does, towards zero."""
        ctx.maps, ctx.divisor, ctx.windows, ctx.plane = maps, divisor, None, x.shape[2:]
        if windows is not None:
            quick = onednn_pooling.mean_windows(x, *windows)
            if quick is not None:
                ctx.windows = (*windows, quick[1])
                return quick[0]
        total = resampling.resample(converted(x, wide(x.dtype), copy=False), maps)
        if x.dtype.kind in "iu":
            quotient = abs(total) // abs(divisor)
            return (sign(total) * sign(divisor) * quotient).astype(x.dtype)
        return to_suggested_format(converted(total / divisor.astype(total.dtype), x.dtype, copy=False), x)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        if ctx.windows is not None and not isinstance(g, Tensor):
            quick = onednn_pooling.mean_windows_back(g, ctx.plane, *ctx.windows)
            if quick is not None:
                return quick
        return Upsample.apply(div(g, ctx.divisor.astype(g.dtype)), maps=tuple([m.transpose for m in ctx.maps]))


class MeanOfPlane(AvgPool, name="Mean"):
    """The mean of each plane, for which PyTorch's backward does not read the input."""

    joins = None

    @staticmethod
    def forward(ctx: Context, x: Array, *, maps: Any, divisor: Array, windows: tuple[WindowGeometry, int] | None) -> Array:
        """By sums in float64 of parts, where the plane lies in order: oneDNN adds up number by number."""
        last = not x.flags.c_contiguous and channels_last(x)
        if windows is None or x.dtype.char != "f" or not (last or x.flags.c_contiguous):
            return AvgPool.forward(ctx, x, maps=maps, divisor=divisor, windows=windows)
        ctx.maps, ctx.divisor, ctx.plane, ctx.windows = maps, divisor, x.shape[2:], (*windows, "last" if last else "rows")
        if last:
            means = np.moveaxis(sums.total(x.transpose(last_axes(x.ndim)), tuple(range(1, x.ndim - 1)), True), -1, 1)
        else:
            means = sums.total(x, tuple(range(2, x.ndim)), True)
        means /= np.float32(prod(x.shape[2:]))
        return means


def averaged(x: Tensor, dims: int, maps: Any, divisor: Array, windows: tuple[WindowGeometry, int] | None = None,
           operation: type[Operation] = AvgPool) -> Tensor:
    """AvgPool of x (n, c, *plane), or of one sample (c, *plane)."""
    if x.ndim == dims + 1:
        out = averaged(unsqueeze(x, 0), dims, maps, divisor, windows, operation)
        return reshape(out, out.shape[1:])
    return operation.apply(x, maps=maps, divisor=divisor, windows=windows)


def avg_pool(name: str, dims: int, input: Tensor, kernel_size: SizeLike, stride: SizeLike | None, padding: SizeLike,
             ceil_mode: bool, count_include_pad: bool, divisor_override: int | None) -> Tensor:
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
    geometry = WindowGeometry(kernel, stride, padding, (1,) * dims, outs)
    maps = tuple([resampling.window_sums(*sizes) for sizes in zip(plane, kernel, stride, padding, outs, strict=True)])
    divisor = resampling.window_counts(plane, geometry, padding, count_include_pad)
    if divisor_override is not None:
        return averaged(input, dims, maps, np.full_like(divisor, divisor_override))
    counted = onednn_pooling.OF_KERNEL if count_include_pad else onednn_pooling.OF_PLANE
    whole = not count_include_pad or int(divisor.min()) == prod(kernel)          # oneDNN's windows never hang over
    return averaged(input, dims, maps, divisor, (geometry, counted) if whole else None)


def avg_pool1d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0,
               ceil_mode: bool = False, count_include_pad: bool = True) -> Tensor:
    """The mean under each window of input (n, c, l) or (c, l); stride defaults to the window."""
    return avg_pool("avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@takes_out
def avg_pool2d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0,
               ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor:
    """The mean under each window of input (n, c, h, w) or (c, h, w); stride defaults to the window."""
    return avg_pool("avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@takes_out
@casts_float32
def avg_pool3d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0,
               ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor:
    """The mean under each window of input (n, c, d, h, w) or (c, d, h, w); stride defaults to the window."""
    return avg_pool("avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


# --- adaptive windows ------------------------------------------------------------------------------------------------

def adaptive_avg_pool(name: str, dims: int, input: Tensor, output_size: Any) -> Tensor:
    """adaptive_avg_pool1d, 2d, 3d: they differ in `dims`."""
    outs = full_sizes(name, input, output_size, dims)
    if input.dtype.kind not in "fV":
        raise NotImplementedError(f"{name}: not implemented for {input.dtype}")
    plane = tuple(input.shape[-dims:])
    maps = tuple([resampling.span_sums(n, o) for n, o in zip(plane, outs, strict=True)])
    divisor = resampling.span_counts(plane, outs)
    if 0 in outs or any(n % o for n, o in zip(plane, outs, strict=True)):
        return averaged(input, dims, maps, divisor)
    kernel = tuple([n // o for n, o in zip(plane, outs, strict=True)])
    geometry = WindowGeometry(kernel, kernel, (0,) * dims, (1,) * dims, outs)
    return averaged(input, dims, maps, divisor, (geometry, onednn_pooling.OF_KERNEL),
                    MeanOfPlane if set(outs) == {1} else AvgPool)


def adaptive_avg_pool1d(input: Tensor, output_size: SizeLike) -> Tensor:
    """The means over output_size windows that cover input (n, c, l) or (c, l) evenly."""
    return adaptive_avg_pool("adaptive_avg_pool1d", 1, input, output_size)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The means over output_size (h', w') windows that cover input (n, c, h, w) or (c, h, w) evenly; None: as input."""
    return adaptive_avg_pool("adaptive_avg_pool2d", 2, input, output_size)


@casts_float32
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The means over output_size (d', h', w') windows that cover input (n, c, d, h, w) evenly; None: as input."""
    return adaptive_avg_pool("adaptive_avg_pool3d", 3, input, output_size)


# --- p-norms ---------------------------------------------------------------------------------------------------------

def lp_pool(dims: int, input: Tensor, norm_type: float, kernel_size: SizeLike, stride: SizeLike | None,
            ceil_mode: bool) -> Tensor:
    """lp_pool1d, 2d, 3d: the p-norm under each window, by way of the mean of p-th powers."""
    name = f"lp_pool{dims}d"
    kernel = pool_ints(name, "kernel_size", kernel_size, dims)
    mean = avg_pool(name, dims, pow(input, norm_type), kernel, stride, 0, ceil_mode, True, None)
    return pow(sign(mean) * relu(abs(mean)) * prod(kernel), 1.0 / norm_type)


def lp_pool1d(input: Tensor, norm_type: float, kernel_size: SizeLike, stride: SizeLike | None = None,
              ceil_mode: bool = False) -> Tensor:
    """(sum of x^p)^(1/p) under each window of input (n, c, l) or (c, l), with p = norm_type."""
    return lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input: Tensor, norm_type: float, kernel_size: Any, stride: SizeLike | None = None,
              ceil_mode: bool = False) -> Tensor:
    """(sum of x^p)^(1/p) under each window of input (n, c, h, w) or (c, h, w), with p = norm_type."""
    return lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


@casts_float32
def lp_pool3d(input: Tensor, norm_type: float, kernel_size: SizeLike, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """(sum of x^p)^(1/p) under each window of input (n, c, d, h, w) or (c, d, h, w), with p = norm_type."""
    return lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)


def _maxima(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """MaxPool's rule for batches; scattered windows are those of certain samples."""
    return NotImplemented if settings["find"] is kernels.max_scattered else samples()(level, call, args, settings)


class MaxPool(Operation, name="MaxPoolWithIndices"):
    """The maxima of windows, and their indices in the flat plane, both computed by the kernel `find`.

    places: found before, and given to the user, who may write into them; the largest elements are taken from there."""

    batched = _maxima

    joins: tuple[tuple[int, ...], ...] | None = ((0,),)

    @staticmethod
    def forward(ctx: Any, x: Array, flat_indices: Array | None = None, *, find: Callable[..., Any], how: tuple[Any, ...],
                indices: bool) -> Any:
        """One of the kernels max_windows, max_spans, max_scattered; or oneDNN's, whose codes tell the places when asked."""
        ctx.plane, ctx.codes = x.shape[2:], None
        if flat_indices is not None:
            ctx.save(flat_indices)
            return like_order(kernels.take_places(x, flat_indices), x)
        quick = onednn_pooling.max_windows(x, *how) if find is kernels.max_windows else None
        if quick is None:
            values, ctx.flat_indices = find(x, *how)
            values = to_suggested_format(values, x)
            return (values, ctx.flat_indices) if indices else values
        (values, ctx.codes), (ctx.geometry,) = quick, how
        return (values, kernels.decoded(ctx.codes, ctx.geometry, ctx.plane)) if indices else values

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray, _: Any = None) -> Gradients:
        """Add g at the positions of the maxima."""
        if ctx.saved is not None:
            (saved,) = ctx.values
            return MaxPoolWithIndicesBackward.apply(g, flat_indices=getattr(saved, "array", saved), plane=ctx.plane), None
        if ctx.codes is None:
            return MaxPoolWithIndicesBackward.apply(g, flat_indices=ctx.flat_indices, plane=ctx.plane)
        made = None if isinstance(g, Tensor) else onednn_pooling.max_windows_back(g, ctx.codes, ctx.plane, ctx.geometry)
        if made is not None:
            return made
        flat_indices = kernels.decoded(ctx.codes, ctx.geometry, ctx.plane)
        return MaxPoolWithIndicesBackward.apply(g, flat_indices=flat_indices, plane=ctx.plane)


class MaxPool1d(MaxPool, name="MaxPool1DWithIndices"):
    """Named as in PyTorch."""


class MaxPool2d(MaxPool, name="MaxPool2DWithIndices"):
    """Named as in PyTorch."""


class MaxPool3d(MaxPool, name="MaxPool3DWithIndices"):
    """Named as in PyTorch."""


POOLS = (MaxPool1d, MaxPool2d, MaxPool3d)


class MaxPoolWithIndicesBackward(Operation):
    """Zeros (n, c, *plane) with g added at flat_indices of each plane; the adjoint of GatherFlat."""

    batched = samples(data=("flat_indices",))

    @staticmethod
    def forward(ctx: Context, g: Array, *, flat_indices: Array, plane: Sizes) -> Array:
        ctx.flat_indices = flat_indices
        return kernels.add_places(g, flat_indices, plane)

    @staticmethod
    def backward(ctx: Context, u: TensorOrArray) -> Gradients:
        return GatherFlat.apply(u, flat_indices=ctx.flat_indices)


class GatherFlat(Operation, name="Gather"):
    """The elements of x (n, c, *plane) at flat_indices of each plane."""

    batched = samples(data=("flat_indices",))

    @staticmethod
    def forward(ctx: Context, x: Array, *, flat_indices: Array) -> Array:
        ctx.flat_indices, ctx.plane = flat_indices, x.shape[2:]
        return kernels.take_places(x, flat_indices)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        return MaxPoolWithIndicesBackward.apply(g, flat_indices=ctx.flat_indices, plane=ctx.plane)


class MaxUnpool(Operation):
    """Zeros (n, c, *plane) with x written to flat_indices of each plane."""

    batched = samples()

    real = True

    @staticmethod
    def forward(ctx: Context, x: Array, flat_indices: Array, *, plane: Sizes) -> Array:
        ctx.save(flat_indices)
        return kernels.put_places(x, flat_indices, plane)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        (flat_indices,) = ctx.values
        return GatherFlat.apply(g, flat_indices=getattr(flat_indices, "array", flat_indices)), None


def found(x: Tensor, dims: int, find: Callable[..., Any], how: tuple[Any, ...], indices: bool) -> Any:
    """Maxima and, with `indices`, places of x (n, c, *plane), or of one sample (c, *plane)."""
    if x.ndim == dims + 1:
        out = found(unsqueeze(x, 0), dims, find, how, indices)
        return tuple([reshape(part, part.shape[1:]) for part in out]) if indices else reshape(out, out.shape[1:])
    pool = POOLS[dims - 1]
    if not indices or not isinstance(x, Tensor) or not x.tracked:
        return pool.apply(x, find=find, how=how, indices=indices)
    flat_indices = pool.apply(x.detach(), find=find, how=how, indices=True)[1]
    return pool.apply(x, flat_indices, find=find, how=how, indices=False), flat_indices


# --- sliding windows -------------------------------------------------------------------------------------------------

def max_pool(name: str, dims: int, input: Tensor, kernel_size: SizeLike, stride: SizeLike | None, padding: SizeLike,
             dilation: SizeLike, ceil_mode: bool, indices: bool) -> Any:
    """max_pool1d, 2d, 3d, with their places or without: they differ in `dims`."""
    kernel = pool_ints(name, "kernel_size", kernel_size, dims)
    stride = kernel if stride is None or stride in ([], ()) else pool_ints(name, "stride", stride, dims)
    padding, dilation = pool_ints(name, "padding", padding, dims), pool_ints(name, "dilation", dilation, dims)
    check_pool_input(name, input, dims)
    if input.dtype.kind in "bc":
        raise NotImplementedError(f"{name}: not implemented for {input.dtype}")
    if min(kernel) < 1 or min(stride) < 1 or min(dilation) < 1:
        raise RuntimeError(f"{name}: kernel_size, stride and dilation must be greater than zero, but got kernel_size="
                           f"{list(kernel)}, stride={list(stride)}, dilation={list(dilation)}")
    if min(padding) < 0:
        raise RuntimeError(f"{name}: pad must be non-negative, but got pad={list(padding)}")
    if any(p > k // 2 for p, k in zip(padding, kernel, strict=True)):
        raise RuntimeError(f"{name}: pad should be at most half of kernel size, but got pad={list(padding)} and kernel_size="
                           f"{list(kernel)}")
    plane = input.shape[-dims:]
    outs = tuple([kernels.pooled_size(n, k, s, p, d, ceil_mode)
                  for n, k, s, p, d in zip(plane, kernel, stride, padding, dilation, strict=True)])
    if min(outs) < 1:
        channels = input.shape[-dims - 1]
        raise RuntimeError(f"{name}: Given input size: ({by((channels, *plane))}). Calculated output size: "
                           f"({by((channels, *outs))}). Output size is too small")
    return found(input, dims, kernels.max_windows, (WindowGeometry(kernel, stride, padding, dilation, outs),), indices)


def max_pool1d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0,
               dilation: SizeLike = 1, ceil_mode: bool = False, return_indices: bool = False) -> Any:
    """The largest element under each window of input (n, c, l) or (c, l); stride defaults to the window.

    With return_indices also where it stands. Of equal ones the first is taken."""
    return max_pool("max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0,
               dilation: SizeLike = 1, ceil_mode: bool = False, return_indices: bool = False) -> Any:
    """The largest element under each window of input (n, c, h, w) or (c, h, w); stride defaults to the window.

    With return_indices also where it stands in its plane, counted row by row. Of equal ones the first is taken."""
    return max_pool("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0,
               dilation: SizeLike = 1, ceil_mode: bool = False, return_indices: bool = False) -> Any:
    """The largest element under each window of input (n, c, d, h, w) or (c, d, h, w); stride defaults to the window.

    With return_indices also where it stands in its volume, counted in memory's order. Of equal ones the first is taken."""
    if casting.used and not return_indices:
        (input,) = raised(input)
    return max_pool("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


# --- adaptive windows ------------------------------------------------------------------------------------------------

def adaptive_max_pool(name: str, dims: int, input: Tensor, output_size: Any, indices: bool) -> Any:
    """adaptive_max_pool1d, 2d, 3d, with their places or without: they differ in `dims`."""
    outs = full_sizes(name, input, output_size, dims)
    if input.shape[-dims - 1] == 0:
        raise RuntimeError(f"{name}: Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                           f"{list(input.shape)}")
    if input.dtype.kind not in "fV":
        raise NotImplementedError(f"{name}: not implemented for {input.dtype}")
    return found(input, dims, kernels.max_spans, (kernels.adaptive_tables(input.shape[-dims:], outs),), indices)


def adaptive_max_pool1d(input: Tensor, output_size: SizeLike, return_indices: bool = False) -> Any:
    """The maxima over output_size windows that cover input (n, c, l) or (c, l) evenly."""
    return adaptive_max_pool("adaptive_max_pool1d", 1, input, output_size, return_indices)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maxima over output_size (h', w') windows that cover input (n, c, h, w) or (c, h, w) evenly; None: as input."""
    return adaptive_max_pool("adaptive_max_pool2d", 2, input, output_size, return_indices)


@casts_float32
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maxima over output_size (d', h', w') windows that cover input (n, c, d, h, w) evenly; None: as input."""
    return adaptive_max_pool("adaptive_max_pool3d", 3, input, output_size, return_indices)


# --- fractional windows ----------------------------------------------------------------------------------------------

def fractional_outs(name: str, dims: int, plane: Sizes, output_size: SizeLike | None, output_ratio: Any) -> Sizes:
    """The output's sizes, as they are given or as a share of the input's."""
    if output_size is not None:
        return ints(output_size, dims, "output_size")
    if output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    ratios = tuple(output_ratio) if isinstance(output_ratio, Sequence) else (output_ratio,) * dims
    if len(ratios) != dims:
        raise ValueError(f"{name} requires output_ratio to be a single number or {dims}, got {output_ratio}")
    return tuple([int(n * r) for n, r in zip(plane, ratios, strict=True)])


def fractional_max_pool(name: str, dims: int, input: Tensor, kernel_size: SizeLike, output_size: SizeLike | None,
                        output_ratio: float | Sequence[float] | None, samples: Tensor | None, indices: bool) -> Any:
    """fractional_max_pool2d, 3d, with their places or without: they differ in `dims`."""
    plane = input.shape[-dims:]
    outs = fractional_outs(name, dims, plane, output_size, output_ratio)
    check_pool_input(name, input, dims)
    kernel = ints(kernel_size, dims, "kernel_size")
    if input.dtype.kind not in "fV":
        raise NotImplementedError(f"{name}: not implemented for {input.dtype}")
    if min(kernel) < 1 or min(outs) < 1:
        raise RuntimeError(f"{name}: kernel_size and output_size must be greater than zero, but got kernel_size="
                           f"{list(kernel)} and output_size={list(outs)}")
    spare = 1 if dims == 3 else 0                                    # as in PyTorch
    if any(o + k - 1 + spare > n for o, k, n in zip(outs, kernel, plane, strict=True)):
        raise RuntimeError(f"{name}(): pool size {list(kernel)} too large relative to input size {list(plane)} and output "
                           f"size {list(outs)}: output + pool - 1 must be at most the input's{' - 1' * spare}")
    value_read(f"{name}()")
    n = 1 if input.ndim == dims + 1 else input.shape[0]
    shape = (n, input.shape[-dims - 1], dims)
    if samples is None:
        drawn: Any = drawing(None).random(shape).astype(input.dtype)
    else:
        if samples.dtype != input.dtype:
            raise RuntimeError(f"{name}: expected _random_samples to have the same dtype as input, {input.dtype}, but got "
                               f"{samples.dtype}")
        if samples.ndim != 3 or samples.shape[0] < n or samples.shape[1] < shape[1] or samples.shape[2] != dims:
            raise RuntimeError(f"{name}: expected _random_samples of shape {list(shape)}, got {list(samples.shape)}")
        drawn = np.asarray(samples.array)[:n, :shape[1]]
    order = range(dims) if dims == 3 else reversed(range(dims))      # in 2-d PyTorch's first sample is for the width
    starts = [kernels.fractional_starts(drawn[..., s], plane[d], outs[d], kernel[d])
              for d, s in enumerate(order)]
    return found(input, dims, kernels.max_scattered, (starts, kernel), indices)


@casts_float32
def fractional_max_pool2d(input: Tensor, kernel_size: SizeLike, output_size: SizeLike | None = None,
                          output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
                          _random_samples: Tensor | None = None) -> Any:
    """The maxima under windows set out in steps of random lengths: input (n, c, h, w) or (c, h, w) to output_size."""
    return fractional_max_pool("fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, _random_samples,
                               return_indices)


@casts_float32
def fractional_max_pool3d(input: Tensor, kernel_size: SizeLike, output_size: SizeLike | None = None,
                          output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
                          _random_samples: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """The maxima under windows set out in steps of random lengths: input (n, c, d, h, w) or (c, d, h, w) to output_size."""
    return fractional_max_pool("fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, _random_samples,
                               return_indices)


# --- unpooling -------------------------------------------------------------------------------------------------------

def unpooled(plane: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, output_size: Sequence[int] | None) -> Sizes:
    """The sizes that pooling came from: output_size, if it is near enough to what the window implies."""
    dims = len(kernel)
    usual = tuple([(n - 1) * s + k - 2 * p for n, s, k, p in zip(plane, stride, kernel, padding, strict=True)])
    if output_size is None:
        return usual
    sizes = tuple(output_size)
    if len(sizes) == dims + 2:
        sizes = sizes[2:]
    if len(sizes) != dims:
        raise ValueError(f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length "
                         f"of '{len(sizes)}'")
    for d, (size, middle, step) in enumerate(zip(sizes, usual, stride, strict=True)):
        if not middle - step < size < middle + step:
            raise ValueError(f"invalid output_size {list(sizes)} (dim {d} must be between {middle - step} and "
                             f"{middle + step})")
    return sizes


def max_unpool(name: str, dims: int, input: Tensor, indices: Tensor, kernel_size: SizeLike, stride: SizeLike | None,
               padding: SizeLike, output_size: Sequence[int] | None) -> Tensor:
    """max_unpool1d, 2d, 3d: they differ in `dims`."""
    kernel = ints(kernel_size, dims, "kernel_size")
    stride = kernel if stride is None or stride in ([], ()) else ints(stride, dims, "stride")
    padding = ints(padding, dims, "padding")
    check_pool_input(name, input, dims)
    plane = unpooled(input.shape[-dims:], kernel, stride, padding, output_size)
    if min(stride) < 1:
        raise RuntimeError(f"{name}: strides should be greater than zero, but got stride: {list(stride)}")
    if indices.dtype != int64:
        raise RuntimeError(f"{name}: elements in indices should be type int64 but got: {indices.dtype}")
    if tuple(indices.shape) != tuple(input.shape):
        raise RuntimeError(f"{name}: Expected shape of indices to be same as that of the input tensor "
                           f"({list(input.shape)}) but got indices tensor with shape: {list(indices.shape)}")
    flat_indices = indices.array if isinstance(indices, Tensor) else indices
    size = int(np.prod(plane, dtype=int))
    wrong = (flat_indices < 0) | (flat_indices >= size)
    if wrong.any():
        raise RuntimeError(f"{name}: Found an invalid max index: {flat_indices[wrong][0]} (output volumes are of size "
                           f"{by(plane)})")
    if input.ndim == dims + 1:
        out = MaxUnpool.apply(unsqueeze(input, 0), unsqueeze(indices, 0), plane=plane)
        return reshape(out, out.shape[1:])
    return MaxUnpool.apply(input, indices, plane=plane)


@casts_float32
def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None,
                 padding: SizeLike = 0, output_size: Any = None) -> Tensor:
    """Zeros with input (n, c, l) or (c, l) put where max_pool1d says it found it."""
    return max_unpool("max_unpool1d", 1, input, indices, kernel_size, stride, padding, output_size)


@casts_float32
def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None,
                 padding: SizeLike = 0, output_size: Sequence[int] | None = None) -> Tensor:
    """Zeros with input (n, c, h, w) or (c, h, w) put where max_pool2d says it found it."""
    return max_unpool("max_unpool2d", 2, input, indices, kernel_size, stride, padding, output_size)


@casts_float32
def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None,
                 padding: SizeLike = 0, output_size: Any = None) -> Tensor:
    """Zeros with input (n, c, d, h, w) or (c, d, h, w) put where max_pool3d says it found it."""
    return max_unpool("max_unpool3d", 3, input, indices, kernel_size, stride, padding, output_size)

__all__ = ["adaptive_avg_pool1d", "avg_pool1d", "max_pool1d", "max_pool2d", "max_pool3d"]
