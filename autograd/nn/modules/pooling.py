"""Pooling: one number for each sliding window of (n, c, *spatial) or (c, *spatial).

A spatial size s becomes (s + 2 padding - dilation (kernel - 1) - 1) / stride + 1, rounded down, or up with ceil_mode=True.
stride defaults to the kernel size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...base.types import SizeLike
from ...core.tensor import Tensor
from .. import functional as F
from ..module import Module
from .tuples import ntuple, pair, single, triple


class _MaxPoolNd(Module):
    """Base of max pooling: the arguments of the window."""

    _shown = "kernel_size stride padding dilation ceil_mode"
    _pool: Callable[..., Any]

    def __init__(self, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0, dilation: SizeLike = 1,
                 return_indices: bool = False, ceil_mode: bool = False) -> None:
        super().__init__()
        self.kernel_size: SizeLike = kernel_size
        self.stride: SizeLike = kernel_size if stride is None else stride
        self.padding: SizeLike = padding
        self.dilation: SizeLike = dilation
        self.return_indices: bool = return_indices
        self.ceil_mode: bool = ceil_mode

    def forward(self, input: Tensor) -> Tensor | Any:
        """input (n, c, *sizes) or (c, *sizes) -> the same with other sizes, or the pair (maxima, their int64 indices)."""
        return self._pool(input, self.kernel_size, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode,
                          return_indices=self.return_indices)


class MaxPool1d(_MaxPoolNd):
    """Max pooling: the maximum of each window of a sequence, optionally with its flat index for MaxUnpool1d."""

    _pool = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPoolNd):
    """Max pooling: the maximum of each window of an image, optionally with its flat index for MaxUnpool2d."""

    _pool = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPoolNd):
    """Max pooling: the maximum of each window of a volume, optionally with its flat index for MaxUnpool3d."""

    _pool = staticmethod(F.max_pool3d)


class _MaxUnpoolNd(Module):
    """Base of max unpooling: write elements to the indices that max pooling returned, and zeros elsewhere."""

    _shown = "kernel_size stride padding"
    _unpool: Callable[..., Any]
    dims = 0

    def __init__(self, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0) -> None:
        super().__init__()
        sizes = ntuple(self.dims)
        self.kernel_size: tuple[int, ...] = sizes(kernel_size)
        self.padding: tuple[int, ...] = sizes(padding)
        self.stride: tuple[int, ...] = sizes(kernel_size if stride is None else stride)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """input, indices (n, c, *sizes') as max pooling returned them -> (n, c, *sizes); output_size picks the sizes where
        several pool to sizes'."""
        return self._unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpoolNd):
    """Partial inverse of MaxPool1d: maxima return to their indices, all other elements are 0."""

    dims = 1
    _unpool = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpoolNd):
    """Partial inverse of MaxPool2d: maxima return to their indices, all other elements are 0."""

    dims = 2
    _unpool = staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpoolNd):
    """Partial inverse of MaxPool3d: maxima return to their indices, all other elements are 0."""

    dims = 3
    _unpool = staticmethod(F.max_unpool3d)


# --- means and powers -------------------------------------------------------------------------------------------------

class _AvgPoolNd(Module):
    """Base of average pooling, with the constructor of its 2d and 3d forms."""

    _shown = "kernel_size stride padding"

    def __init__(self, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0, ceil_mode: bool = False,
                 count_include_pad: bool = True, divisor_override: int | None = None) -> None:
        super().__init__()
        self.kernel_size: SizeLike = kernel_size
        self.stride: SizeLike = kernel_size if stride is None else stride
        self.padding: SizeLike = padding
        self.ceil_mode: bool = ceil_mode
        self.count_include_pad: bool = count_include_pad
        self.divisor_override: int | None = divisor_override


class AvgPool1d(_AvgPoolNd):
    """Average pooling: the mean of each window of a sequence."""

    def __init__(self, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0, ceil_mode: bool = False,
                 count_include_pad: bool = True) -> None:
        Module.__init__(self)                        # as in PyTorch there is no divisor_override
        self.kernel_size: tuple[int, ...] = single(kernel_size)
        self.padding: tuple[int, ...] = single(padding)
        self.stride: tuple[int, ...] = single(kernel_size if stride is None else stride)
        self.ceil_mode: bool = ceil_mode
        self.count_include_pad: bool = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c, l) or (c, l) -> (n, c, l')."""
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class AvgPool2d(_AvgPoolNd):
    """Average pooling: the mean of each window of an image."""

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c, h, w) or (c, h, w) -> (n, c, h', w')."""
        return F.avg_pool2d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
                            self.divisor_override)


class AvgPool3d(_AvgPoolNd):
    """Average pooling: the mean of each window of a volume."""

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c, d, h, w) or (c, d, h, w) -> (n, c, d', h', w')."""
        return F.avg_pool3d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
                            self.divisor_override)


class _LPPoolNd(Module):
    """Base of power-average pooling: (sum of x^p)^(1/p) of each window, p = norm_type."""

    _shown = "norm_type kernel_size stride ceil_mode"
    _pool: Callable[..., Tensor]

    def __init__(self, norm_type: float, kernel_size: SizeLike, stride: SizeLike | None = None,
                 ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type: float = norm_type
        self.kernel_size: SizeLike = kernel_size
        self.stride: SizeLike | None = stride
        self.ceil_mode: bool = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c, *sizes) or (c, *sizes) -> the same with other sizes."""
        return self._pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPoolNd):
    """Power-average pooling: (sum of x^p)^(1/p) of each window of a sequence, p = norm_type."""

    _pool = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPoolNd):
    """Power-average pooling: (sum of x^p)^(1/p) of each window of an image, p = norm_type."""

    _pool = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPoolNd):
    """Power-average pooling: (sum of x^p)^(1/p) of each window of a volume, p = norm_type."""

    _pool = staticmethod(F.lp_pool3d)


# --- to a given size --------------------------------------------------------------------------------------------------

class _AdaptiveMaxPoolNd(Module):
    """Base of adaptive max pooling: output element i covers input rows floor(i s / o) to ceil((i + 1) s / o), for sizes s
    in, o out. None in output_size keeps the input's size."""

    _shown = "output_size"
    _pool: Callable[..., Any]

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size: int | Sequence[int | None] = output_size
        self.return_indices: bool = return_indices

    def forward(self, input: Tensor) -> Tensor | Any:
        """input (n, c, *sizes) or (c, *sizes) -> (n, c, *output_size), with the indices if return_indices."""
        return self._pool(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Max pooling of sequences to a given length."""

    _pool = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Max pooling of images to a given size."""

    _pool = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Max pooling of volumes to a given size."""

    _pool = staticmethod(F.adaptive_max_pool3d)


class _AdaptiveAvgPoolNd(Module):
    """Base of adaptive average pooling: windows as in adaptive max pooling; None in output_size keeps the input's size."""

    _shown = "output_size"
    _pool: Callable[..., Tensor]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c, *sizes) or (c, *sizes) -> (n, c, *output_size)."""
        return self._pool(input, self.output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Average pooling of sequences to a given length."""

    _pool = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Average pooling of images to a given size."""

    _pool = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Average pooling of volumes to a given size."""

    _pool = staticmethod(F.adaptive_avg_pool3d)


# --- at random places -------------------------------------------------------------------------------------------------

class _FractionalMaxPoolNd(Module):
    """Base of max pooling over windows at pseudo-random offsets. Graham 2014 (arXiv:1412.6071)."""

    tuples: Any = None

    def __init__(self, kernel_size: SizeLike, output_size: SizeLike | None = None, output_ratio: Any = None,
                 return_indices: bool = False, _random_samples: Tensor | None = None) -> None:
        super().__init__()
        form = type(self).tuples
        self.kernel_size: tuple[int, ...] = form(kernel_size)
        self.return_indices: bool = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size: tuple[int, ...] | None = None if output_size is None else form(output_size)
        self.output_ratio: tuple[float, ...] | None = None if output_ratio is None else form(output_ratio)
        name = type(self).__name__
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError(f"only one of output_size and output_ratio may be specified for {name}")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def _pooled(self, pool: Callable[..., Any], input: Tensor) -> Any:
        return pool(input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
                    _random_samples=self._random_samples)

    _random_samples: Any


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """Fractional max pooling of images."""

    tuples: Callable[[Any], tuple[Any, ...]] = staticmethod(pair)

    def forward(self, input: Tensor) -> Tensor | Any:
        """input (n, c, h, w) or (c, h, w) -> (n, c, h', w'), sizes by output_size or output_ratio, with the indices if
        return_indices."""
        return self._pooled(F.fractional_max_pool2d, input)


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """Fractional max pooling of volumes."""

    tuples: Callable[[Any], tuple[Any, ...]] = staticmethod(triple)

    def forward(self, input: Tensor) -> Tensor | Any:
        """input (n, c, d, h, w) or (c, d, h, w) -> (n, c, d', h', w'), sizes by output_size or output_ratio, with the
        indices if return_indices."""
        return self._pooled(F.fractional_max_pool3d, input)


__all__ = ["AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
           "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "FractionalMaxPool2d", "FractionalMaxPool3d",
           "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d",
           "MaxUnpool3d"]
