"""PixelShuffle and PixelUnshuffle: move channels into space and back. Shi et al. 2016 (arXiv:1609.05158)."""

from __future__ import annotations

from ...core.tensor import Tensor
from .. import functional as F
from ..module import Module


class PixelShuffle(Module):
    """Upscale images by moving channels into space: r = upscale_factor."""

    _shown = "upscale_factor"

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """input (..., c * r^2, h, w) -> (..., c, h * r, w * r). RuntimeError if r^2 does not divide the channels."""
        return F.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Module):
    """Downscale images by moving space into channels: r = downscale_factor. The inverse of PixelShuffle."""

    _shown = "downscale_factor"

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """input (..., c, h * r, w * r) -> (..., c * r^2, h, w). RuntimeError if r does not divide h and w."""
        return F.pixel_unshuffle(input, self.downscale_factor)


__all__ = ["PixelShuffle", "PixelUnshuffle"]
