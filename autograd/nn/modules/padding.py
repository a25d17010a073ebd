"""Padding modules: constants, reflections, repetitions or circular continuation around the input.

`padding` is one number, or the sizes before and after each padded dimension, the last dimension first.
"""

from __future__ import annotations

from ...base.types import SizeLike
from ...core.tensor import Tensor
from .. import functional as F
from ..module import Module
from .extra_repr import format_attributes
from .tuples import ntuple


class _PadNd(Module):
    """Base of the padding modules: the sizes, the mode and the number of padded dimensions."""

    dims = 0
    mode = "constant"
    padding: tuple[int, ...]

    def __init__(self, padding: SizeLike) -> None:
        self.padding = ntuple(2 * self.dims)(padding)

    def forward(self, input: Tensor) -> Tensor:
        """input (..., *sizes) -> the last `dims` dimensions grown by their paddings."""
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        """The padding sizes, as repr() shows them."""
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    """Borders of one value."""

    def __init__(self, padding: SizeLike, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """input (..., *sizes) -> the last `dims` dimensions grown by their paddings."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """The sizes and the value."""
        return format_attributes(self, "padding value")


class ConstantPad1d(_ConstantPadNd):
    """Pad the last dimension with one value.

    Args:
        padding (int or ints): Numbers of elements before and behind: one for all, or two for each dimension, the last
            first.
        value (float): The number.

    Example:
        >>> ag.nn.ConstantPad1d((1, 2), 7.)(ag.tensor([[1.0, 2.0]]))
        tensor([[7., 1., 2., 7., 7.]])
    """

    dims = 1


class ConstantPad2d(_ConstantPadNd):
    """Pad the last two dimensions with one value.

    Args:
        padding (int or ints): Numbers of elements before and behind: one for all, or two for each dimension, the last
            first.
        value (float): The number.

    Example:
        >>> ag.nn.ConstantPad2d(1, 7.)(ag.ones(1, 3, 3)).shape
        Size([1, 5, 5])
    """

    dims = 2


class ConstantPad3d(_ConstantPadNd):
    """Pad the last three dimensions with one value.

    Args:
        padding (int or ints): Numbers of elements before and behind: one for all, or two for each dimension, the last
            first.
        value (float): The number.

    Example:
        >>> ag.nn.ConstantPad3d(1, 7.)(ag.ones(1, 3, 3, 3)).shape
        Size([1, 5, 5, 5])
    """

    dims = 3


class ZeroPad1d(ConstantPad1d):
    """Pad the last dimension with zeros.

    Args:
        padding (int or ints): Numbers of elements before and behind: one for all, or two for each dimension, the last
            first.

    Example:
        >>> ag.nn.ZeroPad1d(1)(ag.tensor([[1.0, 2.0]]))
        tensor([[0., 1., 2., 0.]])
    """

    def __init__(self, padding: SizeLike) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """The padding sizes, as repr() shows them."""
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Pad the last two dimensions with zeros.

    Args:
        padding (int or ints): Numbers of elements before and behind: one for all, or two for each dimension, the last
            first.

    Example:
        >>> ag.nn.ZeroPad2d(1)(ag.ones(1, 3, 3)).shape
        Size([1, 5, 5])
    """

    def __init__(self, padding: SizeLike) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """The padding sizes, as repr() shows them."""
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Pad the last three dimensions with zeros.

    Args:
        padding (int or ints): Numbers of elements before and behind: one for all, or two for each dimension, the last
            first.

    Example:
        >>> ag.nn.ZeroPad3d(1)(ag.ones(1, 3, 3, 3)).shape
        Size([1, 5, 5, 5])
    """

    def __init__(self, padding: SizeLike) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """The padding sizes, as repr() shows them."""
        return f"{self.padding}"


class _ReflectionPadNd(_PadNd):
    """The input mirrored at its edge, which is not repeated."""

    mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """(c, length) or (n, c, length), mirrored.

    Args:
        padding (int or ints): Numbers of elements before and behind: one for all, or two for each dimension, the last
            first.

    Example:
        >>> ag.nn.ReflectionPad1d(1)(ag.tensor([[1.0, 2.0, 3.0]]))
        tensor([[2., 1., 2., 3., 2.]])
    """

    dims = 1


class ReflectionPad2d(_ReflectionPadNd):
    """(c, h, w) or (n, c, h, w), mirrored.

    Args:
        padding (int or ints): Numbers of elements before and behind: one for all, or two for each dimension, the last
            first.

    Example:
        >>> ag.nn.ReflectionPad2d(1)(ag.ones(1, 3, 3)).shape
        Size([1, 5, 5])
    """

    dims = 2


class ReflectionPad3d(_ReflectionPadNd):
    """(c, d, h, w) or (n, c, d, h, w), mirrored.

    Args:
        padding (int or ints): Numbers of elements before and behind: one for all, or two for each dimension, the last
            first.

    Example:
        >>> ag.nn.ReflectionPad3d(1)(ag.ones(1, 3, 3, 3)).shape
        Size([1, 5, 5, 5])
    """

    dims = 3


class _ReplicationPadNd(_PadNd):
    """The edge repeated."""

    mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """(c, length) or (n, c, length), its edges repeated.

    Args:
        padding (int or ints): Numbers of elements before and behind: one for all, or two for each dimension, the last
            first.

    Example:
        >>> ag.nn.ReplicationPad1d(1)(ag.tensor([[1.0, 2.0, 3.0]]))
        tensor([[1., 1., 2., 3., 3.]])
    """

    dims = 1


class ReplicationPad2d(_ReplicationPadNd):
    """(c, h, w) or (n, c, h, w), its edges repeated.

    Args:
        padding (int or ints): Numbers of elements before and behind: one for all, or two for each dimension, the last
            first.

    Example:
        >>> ag.nn.ReplicationPad2d(1)(ag.ones(1, 3, 3)).shape
        Size([1, 5, 5])
    """

    dims = 2


class ReplicationPad3d(_ReplicationPadNd):
    """(c, d, h, w) or (n, c, d, h, w), its edges repeated.

    Args:
        padding (int or ints): Numbers of elements before and behind: one for all, or two for each dimension, the last
            first.

    Example:
        >>> ag.nn.ReplicationPad3d(1)(ag.ones(1, 3, 3, 3)).shape
        Size([1, 5, 5, 5])
    """

    dims = 3


class _CircularPadNd(_PadNd):
    """The other end of the input."""

    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """input (c, ...) or (n, c, ...) -> the same with its last dimensions padded with the elements of their other ends.

        Raises:
            ValueError: input has another number of dimensions.
        """
        if input.ndim not in (self.dims + 1, self.dims + 2):
            raise ValueError(f"expected {self.dims + 1}D or {self.dims + 2}D input (got {input.ndim}D input)")
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """(c, length) or (n, c, length), wrapped round.

    Args:
        padding (int or ints): Numbers of elements before and behind: one for all, or two for each dimension, the last
            first.

    Example:
        >>> ag.nn.CircularPad1d(1)(ag.tensor([[1.0, 2.0, 3.0]]))
        tensor([[3., 1., 2., 3., 1.]])
    """

    dims = 1


class CircularPad2d(_CircularPadNd):
    """(c, h, w) or (n, c, h, w), wrapped round.

    Args:
        padding (int or ints): Numbers of elements before and behind: one for all, or two for each dimension, the last
            first.

    Example:
        >>> ag.nn.CircularPad2d(1)(ag.ones(1, 3, 3)).shape
        Size([1, 5, 5])
    """

    dims = 2


class CircularPad3d(_CircularPadNd):
    """(c, d, h, w) or (n, c, d, h, w), wrapped round.

    Args:
        padding (int or ints): Numbers of elements before and behind: one for all, or two for each dimension, the last
            first.

    Example:
        >>> ag.nn.CircularPad3d(1)(ag.ones(1, 3, 3, 3)).shape
        Size([1, 5, 5, 5])
    """

    dims = 3


__all__ = ["CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
           "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
           "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"]
