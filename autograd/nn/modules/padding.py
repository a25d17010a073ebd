"""Padding modules: constants, reflections, repetitions or circular continuation around the input.

`padding` is one number, or the sizes before and after each padded dimension, the last dimension first."""

from __future__ import annotations

from ...base.types import SizeLike
from ...core.tensor import Tensor
from .. import functional as F
from ..module import Module
from .tuples import ntuple


class _PadNd(Module):
    """Base of the padding modules: the sizes, the mode and the number of padded dimensions."""

    dims = 0
    mode = "constant"
    padding: tuple[int, ...]

    def __init__(self, padding: SizeLike) -> None:
        super().__init__()
        self.padding = ntuple(2 * self.dims)(padding)

    def forward(self, input: Tensor) -> Tensor:
        """input (..., *sizes) -> the last `dims` dimensions grown by their paddings."""
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    """Base of padding with a constant."""

    def __init__(self, padding: SizeLike, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Pad the last dimension with a constant."""

    dims = 1


class ConstantPad2d(_ConstantPadNd):
    """Pad the last two dimensions with a constant."""

    dims = 2


class ConstantPad3d(_ConstantPadNd):
    """Pad the last three dimensions with a constant."""

    dims = 3


class _ZeroPadNd(_ConstantPadNd):
    """Base of padding with zeros."""

    def __init__(self, padding: SizeLike) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPadNd, ConstantPad1d):
    """Pad the last dimension with zeros."""


class ZeroPad2d(_ZeroPadNd, ConstantPad2d):
    """Pad the last two dimensions with zeros."""


class ZeroPad3d(_ZeroPadNd, ConstantPad3d):
    """Pad the last three dimensions with zeros."""


class _ReflectionPadNd(_PadNd):
    """Base of reflection padding."""

    mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Pad (c, length) or (n, c, length) by reflecting the input at its edges, which are not repeated."""

    dims = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Pad (c, h, w) or (n, c, h, w) by reflecting the input at its edges, which are not repeated."""

    dims = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Pad (c, d, h, w) or (n, c, d, h, w) by reflecting the input at its edges, which are not repeated."""

    dims = 3


class _ReplicationPadNd(_PadNd):
    """Base of replication padding."""

    mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """Pad (c, length) or (n, c, length) by repeating the edges."""

    dims = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Pad (c, h, w) or (n, c, h, w) by repeating the edges."""

    dims = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Pad (c, d, h, w) or (n, c, d, h, w) by repeating the edges."""

    dims = 3


class _CircularPadNd(_PadNd):
    """Base of circular padding."""

    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """input (c, ...) or (n, c, ...) -> the same with its last dimensions continued circularly. ValueError for other
        dimensions."""
        if input.ndim not in (self.dims + 1, self.dims + 2):
            raise ValueError(f"expected {self.dims + 1}D or {self.dims + 2}D input (got {input.ndim}D input)")
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """Pad (c, length) or (n, c, length) circularly, with the opposite end of the input."""

    dims = 1


class CircularPad2d(_CircularPadNd):
    """Pad (c, h, w) or (n, c, h, w) circularly, with the opposite end of the input."""

    dims = 2


class CircularPad3d(_CircularPadNd):
    """Pad (c, d, h, w) or (n, c, d, h, w) circularly, with the opposite end of the input."""

    dims = 3


__all__ = ["CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
           "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
           "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"]
