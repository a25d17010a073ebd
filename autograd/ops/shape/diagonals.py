"""Diagonals and triangles of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.types import Array, DeviceLike, DTypeLike, Layout
from ...core.batching import placed, whole
from ...core.declare import linear
from ...core.out import takes_out
from ...core.tensor import Tensor, result
from ...core.types import Operand, TensorOrArray
from ...kernels.triangles import triangle
from .dims import sizes, wrap_dim
from .views import reshape


def _diagonal_view(x: Array, offset: int, i: int, j: int) -> Array:
    out = x.diagonal(offset, i, j)
    if x.flags.writeable:
        out.flags.writeable = True                   # NumPy's diagonals are read-only; they are views like any other
    return out


def _from_diagonal(g: Array, shape: tuple[int, ...], offset: int, i: int, j: int) -> Array:
    out = np.zeros(shape, g.dtype)
    _diagonal_view(out, offset, i, j)[...] = g
    return out


_diagonal: Any = linear("Diagonal", _diagonal_view,
                        lambda g, was, offset, i, j: _diagonal_backward(g, was, offset, i, j), view=True,
                        batched=placed(2, 3))
_diagonal_backward: Any = linear("DiagonalBackward", _from_diagonal,
                                 lambda g, was, shape, offset, i, j: _diagonal(g, offset, i, j),
                                 batched=placed(3, 4, shape=1))
_diag_embed = linear("DiagEmbed", _from_diagonal, lambda g, was, shape, offset, i, j: _diagonal(g, offset, i, j),
                     batched=placed(3, 4, shape=1))
_diagonal_copy = linear("DiagonalCopy", lambda x, *place: _diagonal_view(x, *place).copy(),
                        lambda g, was, *place: _diagonal_backward(g, was, *place), batched=placed(2, 3))

# lower_part(x, k), upper_part(x, k): tril() and triu() of matrices without checks, also of arrays, as rules use them.
lower_part: Any = linear("Tril", lambda x, k: triangle(x, k, True), lambda g, was, k: lower_part(g, k), batched=whole)
upper_part: Any = linear("Triu", lambda x, k: triangle(x, k, False), lambda g, was, k: upper_part(g, k), batched=whole)


def _pair(x: TensorOrArray, dim1: int, dim2: int, ndim: int) -> tuple[int, int]:
    i, j = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    if i == j:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return i, j


def diagonal(input: Operand, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Operand:
    """The diagonals of the matrices in dimensions dim1 and dim2, as the last dimension. A view."""
    return _diagonal(input, offset, *_pair(input, dim1, dim2, input.ndim))


@takes_out
def diagonal_copy(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """diagonal() as a copy."""
    return _diagonal_copy(input, offset, *_pair(input, dim1, dim2, input.ndim))


def diag_embed(input: Operand, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Operand:
    """Matrices, in dimensions dim1 and dim2, with input's last dimension as diagonals and zeros elsewhere."""
    i, j = _pair(input, dim1, dim2, input.ndim + 1)
    if not input.ndim:
        raise RuntimeError("diag_embed() needs at least one dimension")
    size = input.shape[-1] + abs(offset)
    shape = list(input.shape[:-1])
    for place in sorted((i, j)):
        shape.insert(place, size)
    return _diag_embed(input, tuple(shape), offset, i, j)


@takes_out
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Of a vector the matrix with that diagonal, of a matrix a copy of its diagonal."""
    if input.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    return diag_embed(input, diagonal) if input.ndim == 1 else diagonal_copy(input, diagonal)


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with all elements of input on its diagonal."""
    return diag_embed(reshape(input, -1), offset)


def _matrices(x: Tensor, name: str) -> Tensor:
    if x.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions, not {x.ndim}")
    return x


@takes_out
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The elements on and below a diagonal of each matrix, zeros above."""
    return lower_part(_matrices(input, "tril"), diagonal)


@takes_out
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The elements on and above a diagonal of each matrix, zeros below."""
    return upper_part(_matrices(input, "triu"), diagonal)


def _triangle(find: Any, row: int, col: int, offset: int, dtype: DTypeLike, device: DeviceLike,
              layout: Layout | None) -> Any:
    if device is not None and str(device) != "cpu":
        raise NotImplementedError(f"device={device!r}: tensors live in the CPU's memory; leave device out or pass 'cpu'")
    if layout is not None and "strided" not in str(layout):
        raise RuntimeError(f"layout={layout!r}: only dense (strided) tensors are implemented")
    rows, cols = sizes((row, col))
    if rows < 0 or cols < 0:
        raise RuntimeError(f"row and col must be non-negative, got {row} and {col}")
    return result(np.stack(find(rows, offset, cols)).astype(np.int64 if dtype is None else dtype))


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: DTypeLike = None, device: DeviceLike = None,
                 layout: Layout | None = None) -> Any:
    """The places on and below a diagonal of a (row, col) matrix: two rows of indices."""
    return _triangle(np.tril_indices, row, col, offset, dtype, device, layout)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: DTypeLike = None, device: DeviceLike = None,
                 layout: Layout | None = None) -> Any:
    """The places on and above a diagonal of a (row, col) matrix: two rows of indices."""
    return _triangle(np.triu_indices, row, col, offset, dtype, device, layout)


__all__ = ["diag", "diag_embed", "diagflat", "diagonal", "diagonal_copy", "tril", "tril_indices", "triu", "triu_indices"]
METHODS = ["diag", "diag_embed", "diagflat", "diagonal", "tril", "triu"]
IN_PLACE = ["tril", "triu"]
