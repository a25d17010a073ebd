"""Convolution and transposed convolution. Its three passes are bilinear, and differentiate into each other."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ...base.types import Array, SizeLike
from ...core.batching import Level, merged, samples
from ...core.casting import casts_lower
from ...core.operation import Conj, Operation, SumTo
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, Operand, TensorOrArray
from ...kernels import convolution as kernels
from ...kernels.windows import WindowGeometry
from ..shape import permute, reshape, unsqueeze
from .geometry import Sizes, by, ints


def bar(x: Operand) -> Operand:
    """x, or its conjugate where it is complex: the factor of a gradient."""
    return Conj.apply(x) if x.dtype.kind == "c" else x


def _merged(x: Any) -> Any:
    """The samples' channels as channels of one: (b, n, c, *plane) -> (n, b * c, *plane)."""
    b, n, c = x.shape[:3]
    return x.reshape((1, b * c, *x.shape[3:])) if n == 1 else x.movedim(0, 1).reshape((n, b * c, *x.shape[3:]))


def _apart(x: Any, b: int) -> Any:
    """The opposite of _merged()."""
    return x.reshape((x.shape[0], b, x.shape[1] // b, *x.shape[2:])).movedim(1, 0)


def _conv_rule(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """Conv's and ConvInput's rule for batches: each sample's weight is a group of channels."""
    x, weight, bias = args
    if not level.has(weight) and not level.has(bias):
        return samples(1, 2)(level, call, args, settings)
    x, weight, bias = level.front(x), level.front(weight), level.front(bias)
    if call.__self__ is Conv:
        return ConvEach.apply(x, weight, bias, **settings)
    return _apart(call(_merged(x), merged(weight), None if bias is None else merged(bias),
                       **{**settings, "groups": level.size * settings["groups"]}), level.size)


def _weight_rule(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """ConvWeight's rule for batches."""
    g, x = level.front(args[0]), level.front(args[1])
    out = call(_merged(g), _merged(x), geometry=settings["geometry"], groups=level.size * settings["groups"])
    return out.reshape((level.size, out.shape[0] // level.size, *out.shape[1:]))


class Conv(Operation, name="Convolution"):
    """x (n, c, *plane), weight (m, c / groups, *kernel), bias (m,) or None -> (n, m, *out)."""

    batched = _conv_rule

    joins: tuple[tuple[int, int], ...] = ((0, 1),) * 3
    joins_zeros = False

    @staticmethod
    def forward(ctx: Context, x: Array, weight: Array, bias: Array | None, *, geometry: WindowGeometry,
                groups: int) -> Array:
        ctx.save(x, weight)
        ctx.geometry, ctx.groups = geometry, groups
        return kernels.conv(x, weight, bias, geometry, groups)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """Its two adjoints, and a sum for the bias."""
        x, weight = ctx.values
        how = {"geometry": ctx.geometry, "groups": ctx.groups}
        if not isinstance(g, Tensor):
            g = kernels.to_fastest_format(g)                   # once for both
            if ctx.needs(1) and ctx.needs(2):
                return (ConvInput.apply(g, bar(weight), None, plane=x.shape[2:], **how) if ctx.needs(0) else None,
                        *kernels.conv_weight_bias(g, bar(x), **how))
        return (ConvInput.apply(g, bar(weight), None, plane=x.shape[2:], **how) if ctx.needs(0) else None,
                ConvWeight.apply(g, bar(x), **how) if ctx.needs(1) else None,
                per_channel(g) if ctx.needs(2) else None)


class ConvInput(Operation, name="ConvolutionBackwardInput"):
    """g (n, m, *out), weight -> (n, c, *plane): the adjoint of Conv in x, a transposed convolution."""

    batched = _conv_rule

    @staticmethod
    def forward(ctx: Context, g: Array, weight: Array, bias: Array | None, *, plane: Sizes, geometry: WindowGeometry,
                groups: int) -> Array:
        """The kernel conv_input; plus bias (c,) where there is one."""
        ctx.save(g, weight)
        ctx.geometry, ctx.groups = geometry, groups
        out = kernels.conv_input(g, weight, plane, geometry, groups)
        return out if bias is None else out + bias.reshape(-1, *(1,) * len(plane))

    @staticmethod
    def backward(ctx: Context, u: TensorOrArray) -> Gradients:
        """Linear in g with adjoint Conv, linear in weight."""
        g, weight = ctx.values
        how = {"geometry": ctx.geometry, "groups": ctx.groups}
        if not isinstance(u, Tensor):
            u = kernels.to_fastest_format(u)                   # once for both
        return (Conv.apply(u, bar(weight), None, **how) if ctx.needs(0) else None,
                ConvWeight.apply(bar(g), u, **how) if ctx.needs(1) else None,
                per_channel(u) if ctx.needs(2) else None)


class ConvTranspose(ConvInput, name="Convolution"):
    """ConvInput as users call it."""

    joins: tuple[tuple[int, int], ...] = ((0, 1),) * 3
    joins_zeros = False


class ConvWeight(Operation, name="ConvolutionBackwardWeight"):
    """g (n, m, *out), x (n, c, *plane) -> (m, c / groups, *kernel): the adjoint of Conv in weight."""

    batched = _weight_rule

    @staticmethod
    def forward(ctx: Context, g: Array, x: Array, *, geometry: WindowGeometry, groups: int) -> Array:
        ctx.save(g, x)
        ctx.geometry, ctx.groups = geometry, groups
        return kernels.conv_weight(g, x, geometry, groups)

    @staticmethod
    def backward(ctx: Context, u: TensorOrArray) -> Gradients:
        """Linear in g with adjoint Conv, linear in x."""
        g, x = ctx.values
        how = {"geometry": ctx.geometry, "groups": ctx.groups}
        return (Conv.apply(bar(x), u, None, **how) if ctx.needs(0) else None,
                ConvInput.apply(bar(g), u, None, plane=x.shape[2:], **how) if ctx.needs(1) else None)


class ConvEach(Operation, name="Convolution"):
    """Conv of each sample with its own weight: x (b, n, c, *plane), weight (b, m, c / groups, *kernel), bias (b, m) or None.

    The weight may be one that is repeated (stride 0), as parameters are whose gradients are taken by sample. The gradients
    are always those of each sample."""

    @staticmethod
    def forward(ctx: Context, x: Array, weight: Array, bias: Array | None, *, geometry: WindowGeometry,
                groups: int) -> Array:
        """One convolution: of all samples with one weight, or of groups of channels."""
        ctx.save(x, weight)
        ctx.geometry, ctx.groups = geometry, groups
        b, n, c = x.shape[:3]
        if weight.strides[0] == 0 and b:
            out = kernels.conv(x.reshape(b * n, *x.shape[2:]), weight[0], None, geometry, groups)
            out = out.reshape(b, n, *out.shape[1:])
        else:
            out = kernels.conv(x.swapaxes(0, 1).reshape(n, b * c, *x.shape[3:]), merged(weight), None, geometry, b * groups)
            out = out.reshape(n, b, weight.shape[1], *out.shape[2:]).swapaxes(0, 1)
        return out if bias is None else out + bias.reshape(b, 1, bias.shape[1], *(1,) * len(geometry.out))

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The adjoints, by groups of channels where they are recorded."""
        x, weight = ctx.values
        b, n = x.shape[:2]
        how = {"geometry": ctx.geometry, "groups": b * ctx.groups}
        sums = (1, *range(3, g.ndim))
        if isinstance(g, Tensor):
            return (_apart(ConvInput.apply(_merged(g), merged(bar(weight)), None, plane=x.shape[3:], **how), b)
                    if ctx.needs(0) else None,
                    ConvWeight.apply(_merged(g), _merged(bar(x)), **how).reshape(weight.shape) if ctx.needs(1) else None,
                    SumTo.apply(g, shape=(b, 1, g.shape[2], *(1,) * len(ctx.geometry.out))).reshape((b, g.shape[2]))
                    if ctx.needs(2) else None)
        gx = gw = None
        if ctx.needs(0):
            if weight.strides[0] == 0 and b:
                rows = g.reshape(b * n, *g.shape[2:])
                gx = kernels.conv_input(rows, bar(weight[0]), x.shape[3:], ctx.geometry, ctx.groups).reshape(x.shape)
            else:
                gx = kernels.conv_input(g.swapaxes(0, 1).reshape(n, b * g.shape[2], *g.shape[3:]), bar(merged(weight)),
                                        x.shape[3:], **how)
                gx = gx.reshape(n, b, *x.shape[2:]).swapaxes(0, 1)
        if ctx.needs(1):
            gw = kernels.conv_weight_each(g, bar(x), ctx.geometry, ctx.groups)
        return gx, gw, g.sum(sums) if ctx.needs(2) else None


def per_channel(g: Operand) -> Operand:
    """The sum of g (n, m, *out) over all but its channels."""
    shape = (g.shape[1],)
    planes = SumTo.apply(g, shape=(*g.shape[:2], *(1,) * (g.ndim - 2)))       # along contiguous memory first
    return SumTo.apply(reshape(planes, g.shape[:2]), shape=shape) if g.shape[0] != 1 else reshape(planes, shape)


# --- what callers may get wrong --------------------------------------------------------------------------------------

def check_operands(name: str, dims: int, input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    """RuntimeError unless the numbers of dimensions and the dtypes fit."""
    if weight.ndim != dims + 2:
        raise RuntimeError(f"{name}: expected weight of {dims + 2} dimensions (channels, channels per group, kernel), "
                           f"but got weight of size {list(weight.shape)}")
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {name}, but got input of "
                           f"size: {list(input.shape)}")
    if input.dtype != weight.dtype:
        raise RuntimeError(f"Input type ({input.dtype}) and weight type ({weight.dtype}) should be the same")
    if input.dtype.kind == "b":
        raise NotImplementedError(f"{name}: not implemented for {input.dtype}")
    if bias is not None and bias.dtype != input.dtype:
        raise RuntimeError(f"Input type ({input.dtype}) and bias type ({bias.dtype}) should be the same")


def check_bias(weight: Sizes, bias: Sizes | None, channels: int) -> None:
    """RuntimeError unless bias has one number for each output channel."""
    if bias is not None and tuple(bias) != (channels,):
        raise RuntimeError(f"Given weight of size {list(weight)}, expected bias to be 1-dimensional with {channels} "
                           f"elements, but got bias of size {list(bias)} instead")


def check_numbers(weight: Sizes, stride: Sizes, dilation: Sizes, groups: int) -> None:
    """RuntimeError unless stride, dilation and groups make sense."""
    if groups < 1:
        raise RuntimeError(f"non-positive groups is not supported, got groups={groups}")
    if min(stride) < 1:
        raise RuntimeError(f"non-positive stride is not supported, got stride={list(stride)}")
    if min(dilation) < 1:
        raise RuntimeError(f"dilation should be greater than zero, got dilation={list(dilation)}")
    m = weight[0]
    if m < groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight "
                           f"of size {list(weight)} instead")
    if m % groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got "
                           f"weight of size {list(weight)} instead")


def paddings(padding: Any, dims: int, kernel: Sizes, stride: Sizes, dilation: Sizes) -> tuple[Sizes, Sizes]:
    """The padding before and after each dimension; of an odd total for "same" the larger part is after it."""
    if isinstance(padding, str):
        if padding not in ("valid", "same"):
            raise RuntimeError(f"Invalid padding string: {padding!r}; it should be 'valid' or 'same'")
        if padding == "valid":
            return (0,) * dims, (0,) * dims
        if max(stride) > 1:
            raise RuntimeError(f"padding='same' is not supported for strided convolutions, got stride={list(stride)}")
        total = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
        return tuple([t // 2 for t in total]), tuple([t - t // 2 for t in total])
    both = ints(padding, dims, "padding")
    if min(both) < 0:
        raise RuntimeError(f"negative padding is not supported, got padding={list(both)}")
    return both, both


def batched(function: Callable[..., Any], input: Tensor, *rest: Any) -> Tensor:
    """A function of batches on one sample."""
    out = function(unsqueeze(input, 0), *rest)
    return reshape(out, out.shape[1:])


# --- convolution -----------------------------------------------------------------------------------------------------

def convolve(name: str, dims: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: SizeLike, padding: Any,
             dilation: SizeLike, groups: int) -> Tensor:
    """conv1d, conv2d, conv3d: they differ in `dims`."""
    check_operands(name, dims, input, weight, bias)
    if input.ndim == dims + 1:
        return batched(lambda x: convolve(name, dims, x, weight, bias, stride, padding, dilation, groups), input)
    geometry = sliding(input.shape, weight.shape, None if bias is None else bias.shape, ints(stride, dims, "stride"),
                    padding if isinstance(padding, str) else ints(padding, dims, "padding"),
                    ints(dilation, dims, "dilation"), groups)
    return Conv.apply(input, weight, bias, geometry=geometry, groups=groups)


@lru_cache(maxsize=512)
def sliding(shape: Sizes, weight: Sizes, bias: Sizes | None, stride: Sizes, padding: Sizes | str, dilation: Sizes,
            groups: int) -> WindowGeometry:
    """The windows of a convolution of these sizes, which are checked: 10 us, once."""
    check_numbers(weight, stride, dilation, groups)
    kernel, plane = weight[2:], shape[2:]
    before, after = paddings(padding, len(plane), kernel, stride, dilation)
    channels = weight[1] * groups
    if shape[1] != channels:
        raise RuntimeError(f"Given groups={groups}, weight of size {list(weight)}, expected input{list(shape)} to have "
                           f"{channels} channels, but got {shape[1]} channels instead")
    check_bias(weight, bias, weight[0])
    sizes = [n + b + a for n, b, a in zip(plane, before, after, strict=True)]
    spans = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    if any(n < s for n, s in zip(sizes, spans, strict=True)):
        raise RuntimeError(f"Calculated padded input size per channel: ({' x '.join(map(str, sizes))}). Kernel size: "
                           f"({' x '.join(map(str, spans))}). Kernel size can't be greater than actual input size")
    if 0 in plane:
        raise RuntimeError(f"Only zero batch or zero channel inputs are supported, but got input shape: {list(shape)}")
    if 0 in kernel:
        raise RuntimeError(f"kernel size should be greater than zero, but got kernel: {by(kernel)}")
    out = tuple([(n - s) // t + 1 for n, s, t in zip(sizes, spans, stride, strict=True)])
    return WindowGeometry(tuple(kernel), stride, before, dilation, out)


@casts_lower
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: Any = 0,
           dilation: SizeLike = 1, groups: int = 1) -> Tensor:
    """Cross-correlation of input (n, c, l) or (c, l) with weight (m, c / groups, k), plus bias (m,)."""
    return convolve("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@casts_lower
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: Any = 0,
           dilation: SizeLike = 1, groups: int = 1) -> Tensor:
    """Cross-correlation of input (n, c, h, w) or (c, h, w) with weight (m, c / groups, kh, kw), plus bias (m,)."""
    return convolve("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@casts_lower
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: Any = 0,
           dilation: SizeLike = 1, groups: int = 1) -> Tensor:
    """Cross-correlation of input (n, c, d, h, w) or (c, d, h, w) with weight (m, c / groups, kd, kh, kw), plus bias (m,)."""
    return convolve("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


# --- transposed convolution ------------------------------------------------------------------------------------------

def transposed(name: str, dims: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: SizeLike, padding: SizeLike,
               output_padding: SizeLike, groups: int, dilation: SizeLike) -> Tensor:
    """conv_transpose1d, 2d, 3d: they differ in `dims`."""
    check_operands(name, dims, input, weight, bias)
    if input.ndim == dims + 1:
        return batched(lambda x: transposed(name, dims, x, weight, bias, stride, padding, output_padding, groups,
                                            dilation), input)
    numbers = ((stride, "stride"), (padding, "padding"), (output_padding, "output_padding"), (dilation, "dilation"))
    sizes, geometry = spreading(input.shape, weight.shape, None if bias is None else bias.shape, groups,
                             *[ints(value, dims, what) for value, what in numbers])
    return ConvTranspose.apply(input, weight, bias, plane=sizes, geometry=geometry, groups=groups)


@lru_cache(maxsize=512)
def spreading(shape: Sizes, weight: Sizes, bias: Sizes | None, groups: int, stride: Sizes, padding: Sizes, extra: Sizes,
              dilation: Sizes) -> tuple[Sizes, WindowGeometry]:
    """The plane that a transposed convolution of these sizes gives, and the windows of its adjoint; all is checked."""
    check_numbers(weight, stride, dilation, groups)
    if min(padding) < 0 or min(extra) < 0:
        raise RuntimeError(f"negative padding is not supported, got padding={list(padding)} and output_padding="
                           f"{list(extra)}")
    kernel, plane = weight[2:], shape[2:]
    if shape[1] != weight[0]:
        raise RuntimeError(f"Given transposed=1, weight of size {list(weight)}, expected input{list(shape)} "
                           f"to have {weight[0]} channels, but got {shape[1]} channels instead")
    check_bias(weight, bias, weight[1] * groups)
    if any(e >= max(s, d) for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got output_padding="
                           f"{list(extra)}, stride={list(stride)}, dilation={list(dilation)}")
    sizes = tuple([(n - 1) * s - 2 * p + d * (k - 1) + e + 1
                   for n, s, p, d, k, e in zip(plane, stride, padding, dilation, kernel, extra, strict=True)])
    if min(sizes) < 1 or 0 in plane:
        raise RuntimeError(f"Given input size per channel: ({' x '.join(map(str, plane))}). Calculated output size per "
                           f"channel: ({' x '.join(map(str, sizes))}). Output size is too small")
    return sizes, WindowGeometry(tuple(kernel), stride, padding, dilation, tuple(plane))


@casts_lower
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: SizeLike = 0,
                     output_padding: SizeLike = 0, groups: int = 1, dilation: SizeLike = 1) -> Tensor:
    """The adjoint of conv1d: input (n, m, l) or (m, l), weight (m, c / groups, k) -> (n, c, l'), plus bias (c,).

    l' = (l - 1) * stride - 2 * padding + dilation * (k - 1) + output_padding + 1."""
    return transposed("conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation)


@casts_lower
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: SizeLike = 0,
                     output_padding: SizeLike = 0, groups: int = 1, dilation: SizeLike = 1) -> Tensor:
    """The adjoint of conv2d: input (n, m, h, w) or (m, h, w), weight (m, c / groups, kh, kw) -> (n, c, h', w').

    h' = (h - 1) * stride - 2 * padding + dilation * (kh - 1) + output_padding + 1, and w' likewise."""
    return transposed("conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation)


@casts_lower
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: SizeLike = 0,
                     output_padding: SizeLike = 0, groups: int = 1, dilation: SizeLike = 1) -> Tensor:
    """The adjoint of conv3d: input (n, m, d, h, w), weight (m, c / groups, kd, kh, kw) -> (n, c, d', h', w').

    d' = (d - 1) * stride - 2 * padding + dilation * (kd - 1) + output_padding + 1, and h' and w' likewise."""
    return transposed("conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation)


# --- under other names -----------------------------------------------------------------------------------------------

def convolution(input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
                output_padding: Any, groups: int) -> Any:
    """conv1d to conv3d, or their transposed forms, as the number of weight's dimensions says."""
    dims = weight.ndim - 2
    if dims not in (1, 2, 3):
        raise RuntimeError(f"convolution: expected weight of 3 to 5 dimensions, got {list(weight.shape)}")
    if transposed:
        flipped = (conv_transpose1d, conv_transpose2d, conv_transpose3d)[dims - 1]
        return flipped(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return (conv1d, conv2d, conv3d)[dims - 1](input, weight, bias, stride, padding, dilation, groups)


@casts_lower
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """conv1d on input (time, batch, channels) with weight (kernel, channels, outputs)."""
    if input.ndim != 3 or weight.ndim != 3:
        raise RuntimeError(f"conv_tbc: expected input and weight of 3 dimensions, got {list(input.shape)} and "
                           f"{list(weight.shape)}")
    return permute(conv1d(permute(input, 1, 2, 0), permute(weight, 2, 1, 0), bias, padding=pad), 2, 0, 1)


__all__ = ["conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
           "convolution"]
