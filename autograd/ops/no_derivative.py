"""Results that require grad although nobody has written their derivative: the error comes in backward, as in PyTorch."""

from __future__ import annotations

from typing import Any

from ..core.operation import Operation


class NoDerivative(Operation, name="NotImplemented"):
    """`value`, computed from x; its backward raises `error`."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, value: Any, error: Exception) -> Any:
        """What was computed."""
        ctx.error = error
        return value

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        """There is none."""
        raise ctx.error


def underived(x: Any, value: Any, error: Exception) -> Any:
    """An array (or a tuple of them) computed from x as a Tensor, whose backward raises error."""
    return NoDerivative.apply(x, value=value, error=error)
