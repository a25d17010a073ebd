"""Two functions of PyTorch's private torch._utils that model code imports all the same."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.tensor import Tensor
from ..ops.shape import cat, split


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """All elements of tensors of one dtype, in a vector."""
    return cat([t.reshape(-1) for t in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The vector cut into tensors of the shapes of `tensors`."""
    parts = split(flat, [t.numel() for t in tensors])
    return tuple(part.view(t.shape) for part, t in zip(parts, tensors, strict=True))
