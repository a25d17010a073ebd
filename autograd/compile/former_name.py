"""autograd.trace: the sum of a matrix's diagonal, as in PyTorch; for a training step the former name of trace_step()."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..ops.linalg.trace import trace as diagonal_sum
from .trace import trace_step

MSG_RENAMED = "autograd.trace(step, examples) is called autograd.trace_step(step, examples) now; trace() is of matrices"


def trace(input: Tensor | Callable[..., Any], example_inputs: Any = (), *, check: bool = True) -> Any:
    """The sum of a matrix's diagonal. For a function it is trace_step(), with a DeprecationWarning.

    Args:
        input (Tensor or Callable[..., Any]): (n, m), of any dtype; or a step, as trace_step() takes it.
        example_inputs: With a step: the arguments to record with, one Tensor or a tuple.
        check (bool): With a step: whether the recording is compared with it. Default: True.

    Returns:
        A 0-d tensor; of bools and integers an int64. Of a step the function that replays it.

    Raises:
        RuntimeError: trace: expected a matrix, but got tensor with dim {ndim}.

    Example:
        >>> ag.trace(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor(5.)
    """
    if callable(input) and not isinstance(input, Tensor):
        warnings.warn(MSG_RENAMED, DeprecationWarning, stacklevel=2)
        return trace_step(input, example_inputs, check=check)
    return diagonal_sum(input)


__all__ = ["trace"]
