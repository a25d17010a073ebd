"""The one operation behind pooling by means and interpolation: a sparse linear map along each dimension of a plane."""

from __future__ import annotations

from typing import Any

from ...base.types import Array
from ...core.batching import samples
from ...core.operation import Operation
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels import resampling as kernels
from ...kernels.onednn import resampling as onednn_resampling
from ...kernels.onednn.reorder import to_suggested_format


class Upsample(Operation):
    """A sparse linear map along each dimension of the planes of x (n, c, *plane)."""

    batched = samples()

    @staticmethod
    def forward(ctx: Context, x: Array, *, maps: Any, lines: bool = False) -> Array:
        """The kernel resample. lines: the maps are what oneDNN knows as linear interpolation."""
        ctx.maps, ctx.plane, ctx.lines = maps, x.shape[2:], lines
        quick = onednn_resampling.linear(x, tuple([m.rows for m in maps])) if lines else None
        return to_suggested_format(kernels.resample(x, maps) if quick is None else quick, x)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        quick = onednn_resampling.linear_back(g, ctx.plane) if ctx.lines and not isinstance(g, Tensor) else None
        return Upsample.apply(g, maps=tuple([m.transpose for m in ctx.maps])) if quick is None else quick
