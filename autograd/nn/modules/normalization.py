"""Normalisation of each sample by itself: over its last dimensions, groups of channels, or neighbouring channels."""

from __future__ import annotations

from ...base.arguments import whole_numbers
from ...base.types import DeviceLike, DTypeLike, SizeLike
from ...core.tensor import Parameter, Tensor
from ...ops.creation.fill import empty
from .. import functional as F
from .. import init
from ..extra_repr import format_attributes
from ..module import Module


def _shape(normalized_shape: SizeLike) -> tuple[int, ...]:
    return tuple(normalized_shape) if hasattr(normalized_shape, "__iter__") else (int(normalized_shape),)


class LayerNorm(Module):
    """(x - mean) / sqrt(variance + eps) * weight + bias over the last dimensions. Ba et al. 2016 (arXiv:1607.06450)."""

    weight: Parameter                       # None without it
    bias: Parameter                       # None without it

    def __init__(self, normalized_shape: SizeLike, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
                 device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        super().__init__()
        self.normalized_shape: tuple[int, ...] = _shape(normalized_shape)
        self.eps: float = eps
        self.elementwise_affine: bool = elementwise_affine
        for name, wanted in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            made = Parameter(empty(self.normalized_shape, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the scale to 1 and the shift to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """input (..., *normalized_shape) -> the same shape and dtype."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
                f"bias={self.bias is not None}")


class RMSNorm(Module):
    """x / sqrt(mean of x^2 + eps) * weight over the last dimensions. Zhang & Sennrich 2019 (arXiv:1910.07467)."""

    weight: Parameter                       # None without it

    def __init__(self, normalized_shape: SizeLike, eps: float | None = None, elementwise_affine: bool = True,
                 device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        super().__init__()
        self.normalized_shape: tuple[int, ...] = _shape(normalized_shape)
        self.eps: float | None = eps
        self.elementwise_affine: bool = elementwise_affine
        made = Parameter(empty(self.normalized_shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the scale to 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """x (..., *normalized_shape) -> the same shape and dtype. eps=None stands for the dtype's machine epsilon."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, {format_attributes(self, 'eps elementwise_affine')}"


class GroupNorm(Module):
    """Normalise over each group of channels and all spatial positions, with a scale and a shift per channel. Wu & He 2018
    (arXiv:1803.08494)."""

    weight: Parameter                       # None without it
    bias: Parameter                       # None without it

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: DeviceLike = None,
                 dtype: DTypeLike = None, *, bias: bool = True) -> None:
        super().__init__()
        whole_numbers(type(self).__name__, num_groups=num_groups, num_channels=num_channels)
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups: int = num_groups
        self.num_channels: int = num_channels
        self.eps: float = eps
        self.affine: bool = affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(empty(num_channels, device=device, dtype=dtype)) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the scale to 1 and the shift to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """input (n, num_channels, ...) -> the same shape and dtype."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        settings = format_attributes(self, "eps affine")
        return f"{self.num_groups}, {self.num_channels}, {settings}, bias={self.bias is not None}"


class LocalResponseNorm(Module):
    """x / (k + alpha * mean of the squares of `size` neighbouring channels)^beta. Krizhevsky et al. 2012."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size: int = size
        self.alpha: float = alpha
        self.beta: float = beta
        self.k: float = k

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c, ...) -> the same shape and dtype."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, {format_attributes(self, 'alpha beta k')}"


class CrossMapLRN2d(LocalResponseNorm):
    """LocalResponseNorm of images over an odd number of channels: an even size is reduced by one.

    PyTorch's forward never subtracts the first channel from its moving sum, although its gradient does. Here both use the
    same window."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c, h, w) -> the same shape. The sum of squares is divided by `size` even if the window is one smaller.
        """
        if input.ndim != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead.")
        window = self.size - (self.size + 1) % 2
        return F.local_response_norm(input, window, self.alpha * window / self.size, self.beta, self.k)


__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]
