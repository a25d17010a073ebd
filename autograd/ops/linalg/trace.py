"""The diagonals of matrices as torch.linalg has them, and their sum."""

from __future__ import annotations

from ...core.casting import casts_float32
from ...core.tensor import Tensor
from ..reductions.reduce import sum
from ..shape import diagonal


def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonal of each matrix, a view: diagonal() of the last two dimensions unless others are named."""
    return diagonal(A, offset, dim1, dim2)


@casts_float32
def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal."""
    if callable(input):
        raise TypeError("trace() takes a matrix; trace_step(step, examples) records a training step")
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    return sum(diagonal(input))


__all__ = ["trace"]
METHODS = ["trace"]
