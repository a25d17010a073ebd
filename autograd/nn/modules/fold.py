"""Fold and Unfold: sliding windows of an image as columns (im2col), and the adjoint (col2im)."""

from __future__ import annotations

from ...base.types import SizeLike
from ...core.tensor import Tensor
from .. import functional as F
from ..module import Module
from .extra_repr import format_attributes


class Fold(Module):
    """Sum columns (n, c * window, windows) into their windows of an image (n, c, *output_size)."""

    def __init__(self, output_size: SizeLike, kernel_size: SizeLike, dilation: SizeLike = 1, padding: SizeLike = 0,
                 stride: SizeLike = 1) -> None:
        self.output_size: SizeLike = output_size
        self.kernel_size: SizeLike = kernel_size
        self.dilation: SizeLike = dilation
        self.padding: SizeLike = padding
        self.stride: SizeLike = stride

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c * prod(kernel_size), windows) or without n -> (n, c, *output_size); overlapping windows are summed."""
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """The size and the window."""
        return format_attributes(self, "output_size kernel_size dilation padding stride")


class Unfold(Module):
    """Extract the windows of (n, c, h, w) as columns (n, c * window, windows)."""

    def __init__(self, kernel_size: SizeLike, dilation: SizeLike = 1, padding: SizeLike = 0, stride: SizeLike = 1) -> None:
        self.kernel_size: SizeLike = kernel_size
        self.dilation: SizeLike = dilation
        self.padding: SizeLike = padding
        self.stride: SizeLike = stride

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c, h, w) or (c, h, w) -> (n, c * prod(kernel_size), windows)."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """Kernel size, dilation, padding and stride, as repr() shows them."""
        return format_attributes(self, "kernel_size dilation padding stride")


__all__ = ["Fold", "Unfold"]
