"""The one operation behind pooling by means and interpolation: a sparse linear map along each dimension of a plane."""

from __future__ import annotations

from typing import Any

from ..kernels import resampling as kernels
from ._declare import Operation


class Resample(Operation, name="Upsample"):
    """A sparse linear map along each dimension of the planes of x (n, c, *plane)."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, maps: Any) -> Any:
        """The kernel resample."""
        ctx.maps = maps
        return kernels.resample(x, maps)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The transposed maps."""
        return Resample.apply(g, maps=tuple([m.transpose for m in ctx.maps]))
