"""Channels traded for places. Shi et al. 2016 (arXiv:1609.05158)."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ..module import Module
from .shown import shown


class PixelShuffle(Module):
    """(..., c * r^2, h, w) -> (..., c, h * r, w * r)."""

    def __init__(self, upscale_factor: int) -> None:
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Any:
        """pixel_shuffle."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return shown(self, "upscale_factor")


class PixelUnshuffle(Module):
    """(..., c, h * r, w * r) -> (..., c * r^2, h, w)."""

    def __init__(self, downscale_factor: int) -> None:
        self.downscale_factor = downscale_factor

    def forward(self, input: Any) -> Any:
        """pixel_unshuffle."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return shown(self, "downscale_factor")


__all__ = ["PixelShuffle", "PixelUnshuffle"]
