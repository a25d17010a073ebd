"""Channels exchanged with pixels (pixel_shuffle, pixel_unshuffle), or interleaved between groups (channel_shuffle)."""

from __future__ import annotations

from typing import Any

from ...base.types import Array
from ...core.batching import samples, whole
from ...core.declare import linear
from ...core.tensor import Tensor
from ...kernels.onednn.reorder import like_order


def _to_pixels(x: Array, factor: int) -> Array:
    *lead, c, h, w = x.shape
    k = len(lead)
    parts = x.reshape(*lead, c // factor**2, factor, factor, h, w)
    moved = parts.transpose(*range(k + 1), k + 3, k + 1, k + 4, k + 2)
    return like_order(moved.copy().reshape(*lead, c // factor**2, h * factor, w * factor), x)


def _to_channels(x: Array, factor: int) -> Array:
    *lead, c, h, w = x.shape
    k = len(lead)
    parts = x.reshape(*lead, c, h // factor, factor, w // factor, factor)
    moved = parts.transpose(*range(k + 1), k + 2, k + 4, k + 1, k + 3)
    return like_order(moved.copy().reshape(*lead, c * factor**2, h // factor, w // factor), x)


def _interleave(x: Array, groups: int) -> Array:
    n, c = x.shape[:2]
    return like_order(x.reshape(n, groups, c // groups, *x.shape[2:]).swapaxes(1, 2).copy().reshape(x.shape), x)


_shuffle: Any = linear("PixelShuffle", _to_pixels, lambda g, was, factor: _unshuffle(g, factor), batched=whole)
_unshuffle: Any = linear("PixelUnshuffle", _to_channels, lambda g, was, factor: _shuffle(g, factor), batched=whole)
_channels: Any = linear("ChannelShuffle", _interleave, lambda g, was, groups: _channels(g, was[1] // groups),
                        batched=samples())


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
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


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
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


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
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
