"""Linear maps: Identity, Linear, Bilinear."""

from __future__ import annotations

import math
from typing import Any

from ...base.arguments import whole_numbers
from ...base.types import DeviceLike, DTypeLike
from ...core.tensor import Parameter, Tensor
from ...ops.creation.fill import empty
from .. import functional as F
from .. import init
from ..extra_repr import format_attributes
from ..module import Module


class Identity(Module):
    """Return the input; constructor arguments are accepted and ignored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Accept and ignore all arguments, as PyTorch's Identity does."""
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape and dtype -> the same Tensor."""
        return input


class Linear(Module):
    """x @ weight^T + bias: x (..., in_features) -> (..., out_features); weight (out_features, in_features)."""

    weight: Parameter
    bias: Parameter                       # None without it

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: DeviceLike = None,
                 dtype: DTypeLike = None) -> None:
        super().__init__()
        whole_numbers(type(self).__name__, in_features=in_features, out_features=out_features)
        self.in_features: int = in_features
        self.out_features: int = out_features
        self.weight = Parameter(empty((out_features, in_features), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias from U(-b, b), b = 1 / sqrt(in_features): PyTorch's default."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """input (..., in_features) -> (..., out_features)."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"{format_attributes(self, 'in_features out_features')}, bias={self.bias is not None}"


class Bilinear(Module):
    """x1^T weight[k] x2 + bias[k] for every output k: weight (out_features, in1_features, in2_features)."""

    weight: Parameter
    bias: Parameter                       # None without it

    def __init__(self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device: DeviceLike = None,
                 dtype: DTypeLike = None) -> None:
        super().__init__()
        whole_numbers(type(self).__name__, in1_features=in1_features, in2_features=in2_features, out_features=out_features)
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features: int = in1_features
        self.in2_features: int = in2_features
        self.out_features: int = out_features
        self.weight = Parameter(empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias from U(-b, b), b = 1 / sqrt(in1_features): PyTorch's default."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """input1 (..., in1_features), input2 (..., in2_features) -> (..., out_features)."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"{format_attributes(self, 'in1_features in2_features out_features')}, bias={self.bias is not None}"


__all__ = ["Bilinear", "Identity", "Linear"]
