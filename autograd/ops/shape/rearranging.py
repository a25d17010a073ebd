"""Patches as columns and back (unfold, fold), and channels exchanged with places or with one another."""

from __future__ import annotations

from math import prod
from typing import Any

from ...kernels import convolution as kernels
from ...kernels.windows import Slide
from .._declare import Operation, linear
from ..nn.geometry import Sizes, ints
from . import reshape, unsqueeze


class Unfold(Operation, name="Im2Col"):
    """The patches of x (n, c, h, w) as columns (n, c * kh * kw, windows)."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, slide: Slide) -> Any:
        """The kernel unfold."""
        ctx.slide, ctx.plane = slide, x.shape[2:]
        return kernels.unfold(x, slide)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Added up again."""
        return Fold.apply(g, plane=ctx.plane, slide=ctx.slide)


class Fold(Operation, name="Col2Im"):
    """Columns added up where Unfold takes them, its adjoint."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, plane: Sizes, slide: Slide) -> Any:
        """The kernel fold."""
        ctx.slide = slide
        return kernels.fold(x, plane, slide)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Taken apart again."""
        return Unfold.apply(g, slide=ctx.slide)


def sliding(name: str, plane: Sizes, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Slide:
    """How the kernel slides over a plane (h, w)."""
    kernel, dilation = ints(kernel_size, 2, "kernel_size"), ints(dilation, 2, "dilation")
    padding, stride = ints(padding, 2, "padding"), ints(stride, 2, "stride")
    for what, values, least in (("kernel_size", kernel, 1), ("dilation", dilation, 1), ("stride", stride, 1),
                                ("padding", padding, 0)):
        if min(values) < least:
            raise RuntimeError(f"{name}: {what} should be at least {least}, but got {what}={list(values)}")
    outs = tuple([(n + 2 * p - d * (k - 1) - 1) // s + 1
                  for n, p, d, k, s in zip(plane, padding, dilation, kernel, stride, strict=True)])
    if min(outs) < 1:
        raise RuntimeError(f"{name}: Given plane with spatial size {list(plane)}, kernel_size={list(kernel)}, dilation="
                           f"{list(dilation)}, padding={list(padding)}, stride={list(stride)}, calculated shape of the "
                           f"array of sliding blocks as {list(outs)}, but its components must be at least one.")
    return Slide(kernel, stride, padding, dilation, outs)


def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The patches of input (n, c, h, w) or (c, h, w) as columns (n, c * kh * kw, windows)."""
    if input.ndim not in (3, 4) or 0 in input.shape[input.ndim - 3:]:
        raise RuntimeError(f"unfold: Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
                           f"dimensions for input, but got: {list(input.shape)}")
    slide = sliding("unfold", tuple(input.shape[-2:]), kernel_size, dilation, padding, stride)
    if input.ndim == 3:
        out = Unfold.apply(unsqueeze(input, 0), slide=slide)
        return reshape(out, out.shape[1:])
    return Unfold.apply(input, slide=slide)


def fold(input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Columns (n, c * kh * kw, windows), or without n, added up to (n, c, *output_size) where unfold takes them."""
    plane = ints(output_size, 2, "output_size")
    if min(plane) < 1:
        raise RuntimeError(f"fold: Expected output spatial size to be at least one, but got output_size={list(plane)}")
    if input.ndim not in (2, 3) or 0 in input.shape[input.ndim - 2:]:
        raise RuntimeError(f"fold: Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
                           f"dimensions for input, but got: {list(input.shape)}")
    slide = sliding("fold", plane, kernel_size, dilation, padding, stride)
    size, blocks = prod(slide.kernel), prod(slide.out)
    if input.shape[-2] % size:
        raise RuntimeError(f"fold: Expected size of input's dimension 1 to be divisible by the product of kernel_size, but "
                           f"got input.size(1)={input.shape[-2]} and kernel_size={list(slide.kernel)}.")
    if input.shape[-1] != blocks:
        raise RuntimeError(f"fold: Given output_size={list(plane)}, kernel_size={list(slide.kernel)}, dilation="
                           f"{list(slide.dilation)}, padding={list(slide.before)}, stride={list(slide.stride)}, expected "
                           f"size of input's dimension 2 to match the calculated number of sliding blocks {blocks}, but got "
                           f"input.size(2)={input.shape[-1]}.")
    if input.ndim == 2:
        out = Fold.apply(unsqueeze(input, 0), plane=plane, slide=slide)
        return reshape(out, out.shape[1:])
    return Fold.apply(input, plane=plane, slide=slide)


# --- channels --------------------------------------------------------------------------------------------------------

def _to_places(x: Any, factor: int) -> Any:
    *lead, c, h, w = x.shape
    k = len(lead)
    parts = x.reshape(*lead, c // factor**2, factor, factor, h, w)
    moved = parts.transpose(*range(k + 1), k + 3, k + 1, k + 4, k + 2)
    return moved.copy().reshape(*lead, c // factor**2, h * factor, w * factor)


def _to_channels(x: Any, factor: int) -> Any:
    *lead, c, h, w = x.shape
    k = len(lead)
    parts = x.reshape(*lead, c, h // factor, factor, w // factor, factor)
    moved = parts.transpose(*range(k + 1), k + 2, k + 4, k + 1, k + 3)
    return moved.copy().reshape(*lead, c * factor**2, h // factor, w // factor)


def _interleave(x: Any, groups: int) -> Any:
    n, c = x.shape[:2]
    return x.reshape(n, groups, c // groups, *x.shape[2:]).swapaxes(1, 2).copy().reshape(x.shape)


_shuffle: Any = linear("PixelShuffle", _to_places, lambda g, was, factor: _unshuffle(g, factor))
_unshuffle: Any = linear("PixelUnshuffle", _to_channels, lambda g, was, factor: _shuffle(g, factor))
_channels: Any = linear("ChannelShuffle", _interleave, lambda g, was, groups: _channels(g, was[1] // groups))


def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """input (..., c * r^2, h, w) -> (..., c, h * r, w * r): r^2 channels become the pixels of a block."""
    if input.ndim < 3:
        raise RuntimeError(f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {input.ndim} "
                           f"dimension(s)")
    if upscale_factor <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {upscale_factor}")
    if input.shape[-3] % upscale_factor**2:
        raise RuntimeError(f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
                           f"upscale_factor, but input.size(-3)={input.shape[-3]} is not divisible by {upscale_factor**2}")
    return _shuffle(input, upscale_factor)


def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """input (..., c, h * r, w * r) -> (..., c * r^2, h, w): the inverse of pixel_shuffle."""
    if input.ndim < 3:
        raise RuntimeError(f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {input.ndim} "
                           f"dimension(s)")
    if downscale_factor <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {downscale_factor}")
    if input.shape[-2] % downscale_factor or input.shape[-1] % downscale_factor:
        raise RuntimeError(f"pixel_unshuffle expects height and width to be divisible by downscale_factor, but "
                           f"{list(input.shape[-2:])} is not divisible by {downscale_factor}")
    return _unshuffle(input, downscale_factor)


def channel_shuffle(input: Any, groups: int) -> Any:
    """input (n, c, ...) with its channels dealt out: the first of every group, then the second of every group, ..."""
    if input.ndim < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if input.shape[1] % groups:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {input.shape[1]} channels and {groups} "
                           f"groups.")
    return _channels(input, groups)


__all__ = ["channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]
