"""Products of Tensors with SciPy's sparse matrices, which are constants: adjacency matrices, say."""

from __future__ import annotations

from typing import Any

from ...base.types import Array
from ...core.operation import Operation
from ...core.tensor import Tensor
from ...core.types import Context, TensorOrArray
from ..shape import mT


def is_sparse(x: object) -> bool:
    """Whether x is a sparse matrix or array of SciPy."""
    return hasattr(x, "tocsr") and hasattr(x, "nnz")


class SparseMatMul(Operation, name="SparseMm"):
    """matrix @ x for x (k,) or (k, m)."""

    @staticmethod
    def forward(ctx: Context, x: Array, matrix: Any) -> Array:
        ctx.matrix = matrix
        return matrix @ x                            # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> tuple[Any, ...]:
        """matrix^H @ g."""
        return (SparseMatMul.apply(g, matrix=ctx.matrix.conj().T),)


def sparse_matmul(x: Any, y: Any) -> Tensor:
    """x @ y, one of them sparse; a real sparse matrix takes the Tensor's dtype if that is a floating one."""
    first = is_sparse(x)
    matrix, tensor = (x, y) if first else (y.T, x)
    if tensor.ndim not in (1, 2):
        raise RuntimeError(f"matmul: a sparse matrix is multiplied with a vector or a matrix, not {tensor.ndim} dimensions")
    if tensor.shape[0 if first else -1] != matrix.shape[-1]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({'x'.join(map(str, x.shape))} and "
                           f"{'x'.join(map(str, y.shape))})")
    if tensor.dtype.kind in "fc" and (matrix.dtype.kind != "c" or tensor.dtype.kind == "c"):
        matrix = matrix.astype(tensor.dtype, copy=False)
    else:
        tensor = tensor.to((matrix.dtype.type(0) + tensor.dtype.type(0)).dtype)
    matrix = matrix.tocsr()
    if first or tensor.ndim == 1:
        return SparseMatMul.apply(tensor, matrix=matrix)  # type: ignore[no-any-return]
    return mT(SparseMatMul.apply(mT(tensor), matrix=matrix))  # type: ignore[no-any-return]
