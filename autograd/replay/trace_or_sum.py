"""autograd.trace: of a matrix the sum of its diagonal, as in PyTorch; of a function, its recording."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..core.tensor import Tensor
from ..ops.linalg.trace import trace as diagonal_sum


def trace(input: Tensor | Callable[..., Any], example_inputs: Any = (), *, check: bool = True) -> Any:
    """The sum of a matrix's diagonal; or, of a training step, a function that replays it: see autograd.replay.trace.

    >>> fast = trace(step, (x, y))         # step(x, y): zero_grad, forward, backward, optimizer.step
    >>> loss = fast(x, y)                  # bitwise what step(x, y) gives, without a graph
    """
    if callable(input) and not isinstance(input, Tensor):
        return import_module(".trace", __package__).trace(input, example_inputs, check=check)
    return diagonal_sum(input)


__all__ = ["trace"]
