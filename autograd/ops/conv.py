"""Convolution and pooling over images. The three passes of a convolution are bilinear, and differentiate into each other."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import kernels
from ..tensor import Tensor, result
from ._declare import Operation
from .shape import pad_constant, reshape, unsqueeze

Pair = tuple[int, int]


class Conv2d(Operation, name="Convolution"):
    """x (n, c, h, w), weight (m, c / groups, kh, kw) -> (n, m, out_h, out_w)."""

    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any, *, how: Any) -> Any:
        """The kernel conv2d."""
        ctx.save(x, weight)
        ctx.how = how
        return kernels.conv2d(x, weight, *how)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Its two adjoints."""
        x, weight = ctx.values
        return (ConvInput.apply(g, weight, shape=x.shape, how=ctx.how) if ctx.needs(0) else None,
                ConvWeight.apply(g, x, shape=weight.shape, how=ctx.how) if ctx.needs(1) else None)


class ConvInput(Operation, name="ConvolutionBackwardInput"):
    """g (n, m, out_h, out_w), weight -> (n, c, h, w): the adjoint of Conv2d in x, a transposed convolution."""

    @staticmethod
    def forward(ctx: Any, g: Any, weight: Any, *, shape: tuple[int, ...], how: Any) -> Any:
        """The kernel conv2d_input."""
        ctx.save(g, weight)
        ctx.how = how
        return kernels.conv2d_input(g, weight, shape, *how)

    @staticmethod
    def backward(ctx: Any, u: Any) -> Any:
        """Linear in g with adjoint Conv2d, linear in weight."""
        g, weight = ctx.values
        return (Conv2d.apply(u, weight, how=ctx.how) if ctx.needs(0) else None,
                ConvWeight.apply(g, u, shape=weight.shape, how=ctx.how) if ctx.needs(1) else None)


class ConvWeight(Operation, name="ConvolutionBackwardWeight"):
    """g (n, m, out_h, out_w), x (n, c, h, w) -> (m, c / groups, kh, kw): the adjoint of Conv2d in weight."""

    @staticmethod
    def forward(ctx: Any, g: Any, x: Any, *, shape: tuple[int, ...], how: Any) -> Any:
        """The kernel conv2d_weight."""
        ctx.save(g, x)
        ctx.how = how
        return kernels.conv2d_weight(g, x, shape, *how)

    @staticmethod
    def backward(ctx: Any, u: Any) -> Any:
        """Linear in g with adjoint Conv2d, linear in x."""
        g, x = ctx.values
        return (Conv2d.apply(x, u, how=ctx.how) if ctx.needs(0) else None,
                ConvInput.apply(g, u, shape=x.shape, how=ctx.how) if ctx.needs(1) else None)


def pair(value: Any, name: str) -> Pair:
    """One integer for both directions, or one for each."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(values) == 1:
        values *= 2
    if len(values) != 2:
        raise RuntimeError(f"{name} must be one integer or two, got {value}")
    return operator.index(values[0]), operator.index(values[1])


def conv2d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           groups: int = 1) -> Any:
    """Cross-correlation of input (n, c, h, w) or (c, h, w) with weight (m, c / groups, kh, kw), plus bias (m,).

    padding: zeros on each side, or "valid" (none), or "same" (stride 1: the output has the input's size).
    """
    if weight.ndim != 4 or input.ndim not in (3, 4):
        raise RuntimeError(f"conv2d: expected input of 3 or 4 dimensions and weight of 4, got input "
                           f"{list(input.shape)} and weight {list(weight.shape)}")
    if input.ndim == 3:
        out = conv2d(unsqueeze(input, 0), weight, bias, stride, padding, dilation, groups)
        return reshape(out, out.shape[1:])
    if input.dtype != weight.dtype:
        raise RuntimeError(f"Input type ({input.dtype}) and weight type ({weight.dtype}) should be the same")
    stride, dilation = pair(stride, "stride"), pair(dilation, "dilation")
    _check_conv(input.shape, weight.shape, stride, dilation, groups)
    input, padding = _resolve_padding(input, weight.shape[2:], stride, padding, dilation)
    for size, k, p, d in zip(input.shape[2:], weight.shape[2:], padding, dilation, strict=True):
        if p < 0 or size + 2 * p < d * (k - 1) + 1:
            raise RuntimeError(f"Calculated padded input size per channel: ({size + 2 * p}). Kernel size: "
                               f"({d * (k - 1) + 1}). Kernel size can't be greater than actual input size")
    out = Conv2d.apply(input, weight, how=(stride, padding, dilation, groups))
    if bias is None:
        return out
    if bias.shape != weight.shape[:1]:
        raise RuntimeError(f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with "
                           f"{weight.shape[0]} elements, but got bias of size {list(bias.shape)} instead")
    return out + reshape(bias, (1, -1, 1, 1))


def _check_conv(x: tuple[int, ...], weight: tuple[int, ...], stride: Pair, dilation: Pair, groups: int) -> None:
    if min(stride) < 1 or min(dilation) < 1:
        raise RuntimeError(f"conv2d: stride {stride} and dilation {dilation} must be positive")
    if groups < 1 or weight[0] % groups or x[1] != weight[1] * groups:
        raise RuntimeError(f"Given groups={groups}, weight of size {list(weight)}, expected input{list(x)} to have "
                           f"{weight[1] * groups} channels, but got {x[1]} channels instead")


def _resolve_padding(x: Any, kernel: Pair, stride: Pair, padding: Any, dilation: Pair) -> tuple[Any, Pair]:
    """Padding as two integers; what "same" needs on one side only is put into x."""
    if padding == "valid":
        return x, (0, 0)
    if padding != "same":
        if isinstance(padding, str):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of 'valid', 'same'")
        return x, pair(padding, "padding")
    if stride != (1, 1):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    odd = tuple((0, t % 2) for t in total)
    if any(b for _, b in odd):
        from_right = ((0, 0), (0, 0), *odd)
        x = pad_constant(x, from_right)
    return x, (total[0] // 2, total[1] // 2)


class MaxPool2d(Operation, name="MaxPool2DWithIndices"):
    """The largest element under each window, and its place in the (h, w) plane."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, how: Any) -> Any:
        """The kernel max_pool2d."""
        values, places = kernels.max_pool2d(x, *how)
        ctx.places, ctx.shape = places, x.shape
        return values, places

    @staticmethod
    def backward(ctx: Any, g: Any, _: Any) -> Any:
        """To the places where they came from."""
        return AddAt.apply(g, places=ctx.places, shape=ctx.shape)


class AddAt(Operation, name="MaxPool2DWithIndicesBackward"):
    """Zeros (n, c, h, w) with g added at places in each plane; the adjoint of TakeAt."""

    @staticmethod
    def forward(ctx: Any, g: Any, *, places: Any, shape: tuple[int, ...]) -> Any:
        """The kernel add_at."""
        ctx.places = places
        return kernels.add_at(g, places, shape[2] * shape[3]).reshape(shape)

    @staticmethod
    def backward(ctx: Any, u: Any) -> Any:
        """Take them again."""
        return TakeAt.apply(u, places=ctx.places)


class TakeAt(Operation, name="Gather"):
    """The elements of x (n, c, h, w) at places in each plane."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, places: Any) -> Any:
        """take_along_axis over flat planes."""
        ctx.places, ctx.shape = places, x.shape
        n, c = x.shape[:2]
        if not places.size:
            return np.empty(places.shape, x.dtype)
        rows = np.arange(n * c)[:, None]
        return x.reshape(n * c, -1)[rows, places.reshape(n * c, -1)].reshape(places.shape)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Add them back."""
        return AddAt.apply(g, places=ctx.places, shape=ctx.shape)


def max_pool2d(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
               ceil_mode: bool = False, return_indices: bool = False) -> Any:
    """The largest element under each window of input (n, c, h, w) or (c, h, w); stride defaults to the window.

    With return_indices also where it stands in its plane, counted row by row. The first of equal ones is taken.
    """
    if input.ndim == 3:
        out = max_pool2d(unsqueeze(input, 0), kernel_size, stride, padding, dilation, ceil_mode, True)
        values, places = (reshape(v, v.shape[1:]) for v in out)
        return (values, places) if return_indices else values
    if input.ndim != 4:
        raise RuntimeError(f"max_pool2d: expected 3 or 4 dimensions, got {list(input.shape)}")
    kernel = pair(kernel_size, "kernel_size")
    step = kernel if stride is None or stride == [] or stride == () else pair(stride, "stride")
    around, dilation = pair(padding, "padding"), pair(dilation, "dilation")
    if min(kernel) < 1 or min(step) < 1 or min(dilation) < 1:
        raise RuntimeError(f"max_pool2d: kernel_size {kernel}, stride {step} and dilation {dilation} must be positive")
    if any(p < 0 or 2 * p > k for p, k in zip(around, kernel, strict=True)):
        raise RuntimeError(f"pad should be at most half of effective kernel size, but got pad={around}, kernel={kernel}")
    sizes = [kernels.pooled_size(n, k, s, p, d, ceil_mode)
             for n, k, s, p, d in zip(input.shape[2:], kernel, step, around, dilation, strict=True)]
    if min(sizes) < 1:
        raise RuntimeError(f"Given input size: {list(input.shape[1:])}. Calculated output size: "
                           f"{[input.shape[1], *sizes]}. Output size is too small")
    values, places = MaxPool2d.apply(input, how=(kernel, step, around, dilation, ceil_mode))
    return (values, places if isinstance(places, Tensor) else result(places)) if return_indices else values


__all__ = ["conv2d", "max_pool2d"]
