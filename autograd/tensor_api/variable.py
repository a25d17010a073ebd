"""Variable: PyTorch's class of recorded tensors before 0.4, for scripts that still use it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..base import dtypes
from ..core.engine import is_checkpoint_valid, queue_callback
from ..core.tensor import Tensor, result


class ExecutionEngine:
    """The engine as `Variable._execution_engine`."""

    queue_callback = staticmethod(queue_callback)
    is_checkpoint_valid: staticmethod[[], bool] = staticmethod(is_checkpoint_valid)


class _AnyTensor(type):
    """Every Tensor is an instance of Variable."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_AnyTensor):
    """PyTorch's class of recorded tensors before 0.4: a new leaf on the memory of data. What it makes is a Tensor.

    Args:
        data (Tensor): The values, of any shape and dtype; an empty tensor if None.
        requires_grad (bool): Whether backward() gives it a gradient. Default: False.
        volatile (bool): Has no effect, and warns: use `with no_grad():`. Default: False.

    Raises:
        TypeError: Variable data has to be a tensor, but got {type}.

    Example:
        >>> x = ag.autograd.Variable(ag.tensor([1.0, 2.0]), requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
        >>> isinstance(ag.ones(1), ag.autograd.Variable)
        True
    """

    _execution_engine = ExecutionEngine()

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        """The leaf. TypeError if data is no Tensor."""
        if data is None:
            return result(np.empty(0, dtypes.default.dtype))
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        if volatile:
            warnings.warn("volatile was removed and now has no effect. Use `with no_grad():` instead.", UserWarning,
                          stacklevel=2)
        return data.detach().requires_grad_(requires_grad)


__all__ = ["Variable"]
