"""Convolutions and transposed convolutions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...base.arguments import whole_numbers
from ...base.types import DeviceLike, DTypeLike, SizeLike
from ...core.tensor import Parameter, Tensor
from ...ops.creation.fill import empty
from .. import functional as F
from .. import init
from ..module import Module
from .tuples import ntuple, reversed_repeated

MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """Base of convolutions: a weight (out, in / groups, *kernel); out and in are exchanged if transposed."""

    weight: Parameter
    bias: Parameter | None
    padding: Any                                     # a tuple, or "same" or "valid"

    def __init__(self, in_channels: int, out_channels: int, kernel_size: tuple[int, ...], stride: tuple[int, ...],
                 padding: SizeLike | str, dilation: tuple[int, ...], transposed: bool, output_padding: tuple[int, ...],
                 groups: int, bias: bool, padding_mode: str, device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        super().__init__()
        whole_numbers(type(self).__name__, in_channels=in_channels, out_channels=out_channels, groups=groups)
        for size in kernel_size:
            whole_numbers(type(self).__name__, kernel_size=size)
        _check(in_channels, out_channels, groups, padding, stride, padding_mode)
        self.in_channels: int = in_channels
        self.out_channels: int = out_channels
        self.groups: int = groups
        self.kernel_size: tuple[int, ...] = kernel_size
        self.stride: tuple[int, ...] = stride
        self.padding = padding
        self.dilation: tuple[int, ...] = dilation
        self.transposed: bool = transposed
        self.output_padding: tuple[int, ...] = output_padding
        self.padding_mode: str = padding_mode
        self._reversed_padding_repeated_twice = _borders(padding, kernel_size, dilation)
        channels = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(empty((*channels, *kernel_size), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_channels, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias from U(-b, b), b = 1 / sqrt(fan_in): PyTorch's default."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = init.fans(self.weight)[0]
            if fan_in:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def extra_repr(self) -> str:
        zeros, ones = (0,) * len(self.kernel_size), (1,) * len(self.kernel_size)
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        text += f", padding={self.padding}" if self.padding != zeros else ""
        text += f", dilation={self.dilation}" if self.dilation != ones else ""
        text += f", output_padding={self.output_padding}" if self.output_padding != zeros else ""
        text += f", groups={self.groups}" if self.groups != 1 else ""
        text += ", bias=False" if self.bias is None else ""
        return text + (f", padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else "")

    def _convolved(self, convolve: Callable[..., Any], input: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
        """The convolution of the input, whose borders are filled first if not with zeros."""
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * len(self.kernel_size)
        return convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)


def _check(in_channels: int, out_channels: int, groups: int, padding: Any, stride: Sequence[int], padding_mode: str) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups:
        raise ValueError(f"in_channels must be divisible by groups, got {in_channels} and {groups}")
    if out_channels % groups:
        raise ValueError(f"out_channels must be divisible by groups, got {out_channels} and {groups}")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of 'same', 'valid'")
        if padding == "same" and any(s != 1 for s in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in MODES:
        raise ValueError(f"padding_mode must be one of {list(MODES)}, but got padding_mode='{padding_mode}'")


def _borders(padding: Any, kernel_size: Sequence[int], dilation: Sequence[int]) -> Any:
    """The padding as pad() takes it: last dimension first, before and after. Of an odd "same" the larger part is after."""
    if not isinstance(padding, str):
        return reversed_repeated(padding, 2)
    if padding == "valid":
        return [0, 0] * len(kernel_size)
    totals = [d * (k - 1) for d, k in zip(dilation, kernel_size, strict=True)]
    return [part for total in reversed(totals) for part in (total // 2, total - total // 2)]


class Conv1d(_ConvNd):
    """Cross-correlation of sequences with learned kernels of shape (out_channels, in_channels / groups, k)."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: SizeLike, stride: SizeLike = 1,
                 padding: SizeLike | str = 0, dilation: SizeLike = 1, groups: int = 1, bias: bool = True,
                 padding_mode: str = "zeros", device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        size = ntuple(1)
        super().__init__(in_channels, out_channels, size(kernel_size), size(stride),
                         padding if isinstance(padding, str) else size(padding), size(dilation), False, size(0), groups,
                         bias, padding_mode, device, dtype)

    def _conv_forward(self, input: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
        return self._convolved(F.conv1d, input, weight, bias)

    def forward(self, input: Tensor) -> Tensor:
        """input (n, in_channels, l) or (in_channels, l) -> (n, out_channels, l'), with l' = (l + 2 padding - dilation
        (kernel - 1) - 1) // stride + 1."""
        return self._conv_forward(input, self.weight, self.bias)


class Conv2d(_ConvNd):
    """Cross-correlation of images with learned kernels of shape (out_channels, in_channels / groups, kh, kw)."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: SizeLike, stride: SizeLike = 1,
                 padding: SizeLike | str = 0, dilation: SizeLike = 1, groups: int = 1, bias: bool = True,
                 padding_mode: str = "zeros", device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        size = ntuple(2)
        super().__init__(in_channels, out_channels, size(kernel_size), size(stride),
                         padding if isinstance(padding, str) else size(padding), size(dilation), False, size(0), groups,
                         bias, padding_mode, device, dtype)

    def _conv_forward(self, input: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
        return self._convolved(F.conv2d, input, weight, bias)

    def forward(self, input: Tensor) -> Tensor:
        """input (n, in_channels, h, w) or (in_channels, h, w) -> (n, out_channels, h', w'); each size as in Conv1d.forward.
        """
        return self._conv_forward(input, self.weight, self.bias)


class Conv3d(_ConvNd):
    """Cross-correlation of volumes with learned kernels of shape (out_channels, in_channels / groups, kd, kh, kw)."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: SizeLike, stride: SizeLike = 1,
                 padding: SizeLike | str = 0, dilation: SizeLike = 1, groups: int = 1, bias: bool = True,
                 padding_mode: str = "zeros", device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        size = ntuple(3)
        super().__init__(in_channels, out_channels, size(kernel_size), size(stride),
                         padding if isinstance(padding, str) else size(padding), size(dilation), False, size(0), groups,
                         bias, padding_mode, device, dtype)

    def _conv_forward(self, input: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
        return self._convolved(F.conv3d, input, weight, bias)

    def forward(self, input: Tensor) -> Tensor:
        """input (n, in_channels, d, h, w) or without n -> (n, out_channels, d', h', w'); each size as in Conv1d.forward."""
        return self._conv_forward(input, self.weight, self.bias)


# --- transposed -------------------------------------------------------------------------------------------------------

class _ConvTransposeNd(_ConvNd):
    """Base of transposed convolutions, which checks output_size."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: tuple[int, ...], stride: tuple[int, ...],
                 padding: tuple[int, ...], dilation: tuple[int, ...], transposed: bool, output_padding: tuple[int, ...],
                 groups: int, bias: bool, padding_mode: str, device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding,
                         groups, bias, padding_mode, device, dtype)

    def _output_padding(self, input: Tensor, output_size: Sequence[int] | None, stride: Sequence[int],
                        padding: Sequence[int], kernel_size: Sequence[int], num_spatial_dims: int,
                        dilation: Sequence[int] | None = None) -> Sequence[int]:
        """The output padding, at the far ends, that gives the requested output size."""
        if output_size is None:
            return self.output_padding
        n, extra = num_spatial_dims, input.ndim - num_spatial_dims
        sizes = list(output_size)[extra:] if len(output_size) == input.ndim else list(output_size)
        if len(sizes) != n:
            raise ValueError(f"ConvTranspose{n}D: for {input.ndim}D input, output_size must have {n} or {input.ndim} "
                             f"elements (got {len(output_size)})")
        dilation = dilation or (1,) * n
        least = [(input.shape[extra + d] - 1) * stride[d] - 2 * padding[d] + dilation[d] * (kernel_size[d] - 1) + 1
                 for d in range(n)]
        if any(not low <= size < low + s for low, size, s in zip(least, sizes, stride, strict=True)):
            most = [low + s - 1 for low, s in zip(least, stride, strict=True)]
            raise ValueError(f"requested an output size of {sizes}, but valid sizes range from {least} to {most} (for an "
                             f"input of {list(input.shape[extra:])})")
        return [size - low for size, low in zip(sizes, least, strict=True)]

    def _transposed(self, convolve: Callable[..., Any], input: Tensor, output_size: Sequence[int] | None) -> Tensor:
        padding = self._output_padding(input, output_size, self.stride, self.padding, self.kernel_size,
                                       len(self.kernel_size), self.dilation)
        return convolve(input, self.weight, self.bias, self.stride, self.padding, padding, self.groups, self.dilation)


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution, the adjoint of Conv1d, with learned kernels (in_channels, out_channels / groups, k)."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: SizeLike, stride: SizeLike = 1,
                 padding: SizeLike = 0, output_padding: SizeLike = 0, groups: int = 1, bias: bool = True,
                 dilation: SizeLike = 1, padding_mode: str = "zeros", device: DeviceLike = None,
                 dtype: DTypeLike = None) -> None:
        size = ntuple(1)
        super().__init__(in_channels, out_channels, size(kernel_size), size(stride), size(padding), size(dilation), True,
                         size(output_padding), groups, bias, padding_mode, device, dtype)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """input (n, in_channels, l) -> (n, out_channels, l'), with l' = (l - 1) stride - 2 padding + dilation (kernel
        - 1) + output_padding + 1.

        With stride > 1 several lengths l' belong to one l: output_size picks one of them instead of output_padding.
        ValueError if it is none of them."""
        return self._transposed(F.conv_transpose1d, input, output_size)


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed convolution, the adjoint of Conv2d, with learned kernels (in_channels, out_channels / groups, kh, kw)."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: SizeLike, stride: SizeLike = 1,
                 padding: SizeLike = 0, output_padding: SizeLike = 0, groups: int = 1, bias: bool = True,
                 dilation: SizeLike = 1, padding_mode: str = "zeros", device: DeviceLike = None,
                 dtype: DTypeLike = None) -> None:
        size = ntuple(2)
        super().__init__(in_channels, out_channels, size(kernel_size), size(stride), size(padding), size(dilation), True,
                         size(output_padding), groups, bias, padding_mode, device, dtype)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """input (n, in_channels, h, w) -> (n, out_channels, h', w'); sizes and output_size as in ConvTranspose1d.forward."""
        return self._transposed(F.conv_transpose2d, input, output_size)


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed convolution, the adjoint of Conv3d, with kernels (in_channels, out_channels / groups, kd, kh, kw)."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: SizeLike, stride: SizeLike = 1,
                 padding: SizeLike = 0, output_padding: SizeLike = 0, groups: int = 1, bias: bool = True,
                 dilation: SizeLike = 1, padding_mode: str = "zeros", device: DeviceLike = None,
                 dtype: DTypeLike = None) -> None:
        size = ntuple(3)
        super().__init__(in_channels, out_channels, size(kernel_size), size(stride), size(padding), size(dilation), True,
                         size(output_padding), groups, bias, padding_mode, device, dtype)

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """input (n, in_channels, d, h, w) -> (n, out_channels, d', h', w'); sizes and output_size as in
        ConvTranspose1d.forward."""
        return self._transposed(F.conv_transpose3d, input, output_size)


__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]
