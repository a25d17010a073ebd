"""Variable: PyTorch's class of recorded tensors before 0.4, for scripts that still use it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..core.backward import MSG_UNUSED, edges_of, roots_and_seeds, run_backward
from ..core.edges import GradientEdge
from ..core.engine import is_checkpoint_valid, queue_callback
from ..core.tensor import Tensor, result


class ImperativeEngine:
    """The engine, as PyTorch's Python code calls it: `Variable._execution_engine`."""

    queue_callback = staticmethod(queue_callback)
    is_checkpoint_valid: staticmethod[[], bool] = staticmethod(is_checkpoint_valid)

    @staticmethod
    def run_backward(tensors: tuple[Any, ...], grad_tensors: tuple[Any, ...], keep_graph: bool, create_graph: bool,
                     inputs: tuple[Any, ...] = (), allow_unreachable: bool = False,
                     accumulate_grad: bool = False) -> tuple[Any, ...] | None:
        """One backward pass, which backward() and grad() start after they have completed their arguments."""
        for name, value in (("tensors argument is expected to be", tensors), ("grad_tensors argument is expected to be",
                            grad_tensors), ("inputs to run_backward must be", inputs)):
            if not isinstance(value, tuple):
                raise RuntimeError(f"{name} a tuple, but got {type(value).__name__}")
        for number, root in enumerate(tensors):
            if not isinstance(root, (Tensor, GradientEdge)):
                raise RuntimeError(f"element {number} of tensors tuple is neither a Tensor nor a GradientEdge")
        for number, gradient in enumerate(grad_tensors):
            if gradient is not None and not isinstance(gradient, Tensor):
                raise RuntimeError(f"element {number} of gradients tuple is not a Tensor or None")
            if gradient is None:
                raise RuntimeError(f"element {number} of gradients tuple is None, but the corresponding Tensor requires "
                                   "grad")
        edges, seeds = roots_and_seeds(list(tensors), grad_tensors)
        targets = edges_of(inputs) if inputs else None
        if targets is None and not accumulate_grad:
            raise RuntimeError("run_backward: name inputs, whose gradients are returned, or let accumulate_grad=True")
        if accumulate_grad:
            for given in inputs:
                if isinstance(given, Tensor):
                    given.retain_grad()
        found = run_backward(edges, seeds, keep_graph, create_graph, targets, accumulate_grad)
        if accumulate_grad:
            return None
        for index, gradient in enumerate(found):
            if gradient is None and not allow_unreachable:
                raise RuntimeError(MSG_UNUSED.format(index=index))
        return tuple(found)


def _tensor_or_tensors_to_tuple(tensors: Any, length: int) -> tuple[Any, ...]:
    """A tensor, a sequence or None as a tuple, as backward() completes its gradients in PyTorch's source."""
    if tensors is None:
        return (None,) * length
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def _make_grads(outputs: Sequence[Any], grads: Sequence[Any], is_grads_batched: bool = False) -> tuple[Any, ...]:
    """The gradients that a pass starts from: 1 for an output of one element whose gradient is None."""
    return tuple(roots_and_seeds(list(outputs), grads, is_grads_batched)[1])


def _engine_run_backward(t_outputs: Sequence[Any], *args: Any, **kwargs: Any) -> tuple[Any, ...] | None:
    """run_backward() of the engine, as backward() and grad() call it in PyTorch's source."""
    return ImperativeEngine.run_backward(tuple(t_outputs), *args, **kwargs)


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

    _execution_engine = ImperativeEngine()

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
