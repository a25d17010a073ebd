"""The last linear layer of a classifier together with its loss."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...base.types import DeviceLike, DTypeLike
from ...core.tensor import Tensor
from .. import functional as F
from ..extra_repr import format_attributes
from .linear import Linear
from .loss import Loss


class LinearCrossEntropyOptions(NamedTuple):
    """How PyTorch divides the computation to save memory; no effect here, and results do not depend on it."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None


class LinearCrossEntropyLoss(Loss):
    """cross_entropy(linear(input), target): input (n, in_features), target (n, *out_features) of class numbers."""

    weight: Tensor | None

    def __init__(self, in_features: int, num_classes: int, *, out_features: tuple[int, ...] = (), bias: bool = False,
                 device: DeviceLike = None, dtype: DTypeLike = None, reduction: str = "mean", weight: Tensor | None = None,
                 ignore_index: int | None = None, label_smoothing: float = 0.0,
                 options: LinearCrossEntropyOptions | None = None) -> None:
        super().__init__(reduction=reduction)
        self.register_buffer("weight", weight)
        self.num_classes: int = num_classes
        self.out_features: tuple[int, ...] = tuple(out_features)
        self.ignore_index: int | None = ignore_index
        self.label_smoothing: float = label_smoothing
        self.options: LinearCrossEntropyOptions | None = options
        outputs = num_classes
        for size in self.out_features:
            outputs *= size
        self.linear: Linear = Linear(in_features, outputs, bias=bias, device=device, dtype=dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input (n, in_features), target (n, *out_features) of class numbers -> a scalar, or target's shape if reduction is
        "none"."""
        shape = (self.num_classes, *self.out_features)
        bias = None if self.linear.bias is None else self.linear.bias.reshape(shape)
        return F.linear_cross_entropy(input, self.linear.weight.reshape(*shape, self.linear.in_features), target,
                                      linear_bias=bias, weight=self.weight, reduction=self.reduction,
                                      ignore_index=self.ignore_index, label_smoothing=self.label_smoothing,
                                      options=self.options)

    def extra_repr(self) -> str:
        return (f"in_features={self.linear.in_features}, {format_attributes(self, 'num_classes out_features')}, "
                f"bias={self.linear.bias is not None}, "
                f"{format_attributes(self, 'reduction ignore_index label_smoothing options')}")


__all__ = ["LinearCrossEntropyLoss", "LinearCrossEntropyOptions"]
