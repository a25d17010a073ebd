"""Upsample: resize images, sequences and volumes by interpolation."""

from __future__ import annotations

from typing import Any

from ...base.types import SizeLike
from ...core.tensor import Tensor
from .. import functional as F
from ..module import Module


class Upsample(Module):
    """Resize (n, c, *spatial) to `size`, or by `scale_factor`, by interpolation."""

    def __init__(self, size: SizeLike | None = None, scale_factor: Any = None, mode: str = "nearest",
                 align_corners: bool | None = None, recompute_scale_factor: bool | None = None) -> None:
        super().__init__()
        self.name: str = type(self).__name__
        self.size: SizeLike | None = size
        self.mode: str = mode
        self.align_corners: bool | None = align_corners
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c, *spatial) -> (n, c, *size), or (n, c, *floor(spatial * scale_factor))."""
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners,
                             recompute_scale_factor=self.recompute_scale_factor)

    def extra_repr(self) -> str:
        size = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{size}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resize images (n, c, h, w) by copying the nearest pixel."""

    def __init__(self, size: SizeLike | None = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Resize images (n, c, h, w) bilinearly with align_corners=True."""

    def __init__(self, size: SizeLike | None = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]
