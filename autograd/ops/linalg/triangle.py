"""Parts of matrices: triangles and diagonals, and matrices made of them. For the rules of the matrix functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.casting import casts_float32
from ...core.declare import linear
from ...core.operation import Operation
from ...kernels.triangles import triangle
from ..reductions.reduce import sum
from ..shape import wrap_dim

lower_part: Any = linear("Tril", lambda x, k: triangle(x, k, True), lambda g, was, k: lower_part(g, k))
upper_part: Any = linear("Triu", lambda x, k: triangle(x, k, False), lambda g, was, k: upper_part(g, k))


class Diagonal(Operation):
    """The elements x[..., i, i + offset] of dimensions dim1 and dim2, along a new last dimension; a view."""

    view = True

    @staticmethod
    def forward(ctx: Any, x: Any, *, offset: int, dim1: int, dim2: int) -> Any:
        """NumPy's diagonal."""
        ctx.shape, ctx.place = x.shape, (offset, dim1, dim2)
        out = np.diagonal(x, offset, dim1, dim2)
        if x.flags.writeable:
            out.flags.writeable = True
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Zeros but for the diagonal."""
        return OnDiagonal.apply(g, shape=ctx.shape, place=ctx.place)


class OnDiagonal(Operation, name="DiagonalBackward"):
    """Zeros of `shape` with g on the diagonal; the adjoint of Diagonal."""

    @staticmethod
    def forward(ctx: Any, g: Any, *, shape: tuple[int, ...], place: tuple[int, int, int]) -> Any:
        """Written through NumPy's view of the diagonal."""
        ctx.place = place
        out = np.zeros(shape, g.dtype)
        diagonal = np.diagonal(out, *place)
        diagonal.flags.writeable = True
        diagonal[...] = g
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The diagonal."""
        offset, dim1, dim2 = ctx.place
        return Diagonal.apply(g, offset=offset, dim1=dim1, dim2=dim2)


def diagonal_of(x: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The diagonal of each matrix, a view."""
    first, second = wrap_dim(dim1, x.ndim), wrap_dim(dim2, x.ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return Diagonal.apply(x, offset=offset, dim1=first, dim2=second)


def linalg_diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The diagonal of each matrix, a view."""
    return diagonal_of(A, offset, dim1, dim2)


def on_diagonal(x: Any) -> Any:
    """Square matrices with the vectors x[..., :] on their diagonal."""
    return OnDiagonal.apply(x, shape=(*x.shape, x.shape[-1]), place=(0, x.ndim - 1, x.ndim))


@casts_float32
def trace(input: Any) -> Any:
    """The sum of a matrix's diagonal."""
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    return sum(diagonal_of(input))


__all__ = ["trace"]
METHODS = ["trace"]
