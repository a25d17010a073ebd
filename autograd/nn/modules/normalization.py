"""Layer normalisation as a module."""

from __future__ import annotations

from typing import Any

from ...ops.create import ones, zeros
from ...tensor import Parameter
from .. import functional as F
from ..module import Module


class LayerNorm(Module):
    """(x - mean) / sqrt(variance + eps) * weight + bias over the last dimensions."""

    def __init__(self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
                 device: Any = None, dtype: Any = None) -> None:
        self.normalized_shape = tuple(normalized_shape) if hasattr(normalized_shape, "__iter__") else (normalized_shape,)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.register_parameter("weight", Parameter(ones(self.normalized_shape, device=device, dtype=dtype))
                                if elementwise_affine else None)
        self.register_parameter("bias", Parameter(zeros(self.normalized_shape, device=device, dtype=dtype))
                                if elementwise_affine and bias else None)

    def forward(self, input: Any) -> Any:
        """Normalise."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The shape and all options."""
        return (f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
                f"bias={self.bias is not None}")

    weight: Any
    bias: Any


__all__ = ["LayerNorm"]
