"""Variable: the name that tensors had before they recorded by themselves, for scripts that still say it."""

from __future__ import annotations

from typing import Any

from .engine import is_checkpoint_valid, queue_callback
from .tensor import Tensor


class ExecutionEngine:
    """The engine as `Variable._execution_engine`."""

    queue_callback = staticmethod(queue_callback)
    is_checkpoint_valid = staticmethod(is_checkpoint_valid)


class _AnyTensor(type):
    """Every Tensor is an instance of Variable."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_AnyTensor):
    """Variable(data, requires_grad) is a new leaf on the memory of data."""

    _execution_engine = ExecutionEngine()

    def __new__(cls, data: Tensor, requires_grad: bool = False) -> Any:
        """The leaf, a Tensor."""
        return data.detach().requires_grad_(requires_grad)


__all__ = ["Variable"]
