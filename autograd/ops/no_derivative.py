"""Results that require grad although their derivative is not implemented: the error comes in backward, as in PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base.types import Array
from ..core.operation import Operation
from ..core.tensor import Tensor
from ..core.types import Context, Gradients


class NoDerivative(Operation, name="NotImplemented"):
    """`value`, computed from x; its backward raises `error`."""

    @staticmethod
    def forward(ctx: Context, x: Array, *, value: Array | Sequence[Array], error: Exception) -> Any:
        ctx.error = error
        return value

    @staticmethod
    def backward(ctx: Context, *gs: Any) -> Gradients:
        raise ctx.error


def underived(x: Tensor, value: Array | Sequence[Array], error: Exception) -> Any:
    """An array (or a tuple of them) computed from x as a Tensor, whose backward raises error."""
    return NoDerivative.apply(x, value=value, error=error)
