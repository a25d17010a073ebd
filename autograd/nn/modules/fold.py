"""Fold and Unfold: sliding windows of an image as columns (im2col), and the adjoint (col2im)."""

from __future__ import annotations

from ...base.types import SizeLike
from ...core.tensor import Tensor
from .. import functional as F
from ..module import Module


class Fold(Module):
    """Sum columns (n, c * window, windows) into their windows of an image (n, c, *output_size)."""

    _shown = "output_size kernel_size dilation padding stride"

    def __init__(self, output_size: SizeLike, kernel_size: SizeLike, dilation: SizeLike = 1, padding: SizeLike = 0,
                 stride: SizeLike = 1) -> None:
        super().__init__()
        self.output_size: SizeLike = output_size
        self.kernel_size: SizeLike = kernel_size
        self.dilation: SizeLike = dilation
        self.padding: SizeLike = padding
        self.stride: SizeLike = stride

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c * prod(kernel_size), windows) or without n -> (n, c, *output_size); overlapping windows are summed."""
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)


class Unfold(Module):
    """Extract the windows of (n, c, h, w) as columns (n, c * window, windows)."""

    _shown = "kernel_size dilation padding stride"

    def __init__(self, kernel_size: SizeLike, dilation: SizeLike = 1, padding: SizeLike = 0, stride: SizeLike = 1) -> None:
        super().__init__()
        self.kernel_size: SizeLike = kernel_size
        self.dilation: SizeLike = dilation
        self.padding: SizeLike = padding
        self.stride: SizeLike = stride

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c, h, w) or (c, h, w) -> (n, c * prod(kernel_size), windows)."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


__all__ = ["Fold", "Unfold"]
