"""torch._C._functions: the nodes that PyTorch's source and texts about it name."""

from __future__ import annotations

from typing import Any, NoReturn

from ..core.function import Function
from ..core.tensor import AccumulateGrad, Tensor
from ..core.views import CopySlices as _Operation

CopySlices: Any = _Operation.node                    # of a tensor that was written to through a view


class UndefinedGradBackward(Function):
    """The identity, through which no gradient passes."""

    @staticmethod
    def forward(ctx: Any, *inputs: Tensor) -> Any:
        return inputs[0] if len(inputs) == 1 else inputs

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> tuple[None, ...]:
        """None for each input."""
        return (None,) * len(gs)


class Error(Function):
    """The identity, through which a backward pass is an error."""

    @staticmethod
    def forward(ctx: Any, *inputs: Tensor, message: str) -> Any:
        ctx.message = message
        return inputs[0] if len(inputs) == 1 else inputs

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> NoReturn:
        """Raise the message."""
        raise RuntimeError(ctx.message)


class UndefinedGrad:
    """UndefinedGrad()(*tensors) returns the tensors, of which none passes a gradient on."""

    def __call__(self, *tensors: Tensor) -> Any:
        return UndefinedGradBackward.apply(*tensors)


class DelayedError:
    """DelayedError(message, count)(*tensors) returns the tensors; a backward pass that reaches one raises the message."""

    def __init__(self, msg: str, num_inputs: int) -> None:
        self.msg, self.num_inputs = msg, num_inputs

    def __call__(self, *tensors: Tensor) -> Any:
        if len(tensors) != self.num_inputs:
            raise RuntimeError(f"DelayedError of {self.num_inputs} tensors was called with {len(tensors)}")
        return Error.apply(*tensors, message=self.msg)


__all__ = ["AccumulateGrad", "CopySlices", "DelayedError", "Error", "UndefinedGrad"]
