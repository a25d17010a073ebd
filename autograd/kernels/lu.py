"""LU factors of stacks of matrices, and triangular systems: what NumPy does not have."""

from __future__ import annotations

from typing import Any

import numpy as np

BLOCK = 32


def lu_factor(matrices: Any) -> tuple[Any, Any, Any]:
    """(L and U in one array, pivots counted from 1, 0 or the number of the first zero pivot) of matrices (..., m, n).

    Right-looking, by blocks of columns, with row exchanges (Golub and Van Loan, Matrix Computations, 3.2.11), for all
    matrices of the stack at once.
    """
    *batch, m, n = matrices.shape
    count = int(np.prod(batch))
    a = np.array(matrices, order="C").reshape(count, m, n)
    pivots = np.zeros((count, min(m, n)), np.int32)
    info = np.zeros(count, np.int32)
    for start in range(0, min(m, n), BLOCK):
        end = min(start + BLOCK, m, n)
        _factor_columns(a, start, end, pivots, info)
        if end < n:
            head = np.tril(a[:, start:end, start:end], -1) + np.eye(end - start, dtype=a.dtype)
            a[:, start:end, end:] = np.linalg.solve(head, a[:, start:end, end:])
            a[:, end:, end:] -= a[:, end:, start:end] @ a[:, start:end, end:]
    return a.reshape(matrices.shape), pivots.reshape(*batch, -1) if count else np.zeros((*batch, min(m, n)), np.int32), \
        info.reshape(batch)


def _factor_columns(a: Any, start: int, end: int, pivots: Any, info: Any) -> None:
    """Columns start to end of a, in place; rows are exchanged over their whole length."""
    stack = np.arange(len(a))
    for j in range(start, end):
        column = a[:, j:, j]
        sizes = np.abs(column) if a.dtype.kind == "f" else np.abs(column.real) + np.abs(column.imag)   # as LAPACK
        p = j + np.argmax(sizes, 1)
        pivots[:, j] = p + 1
        upper = a[stack, j]
        a[stack, j] = a[stack, p]
        a[stack, p] = upper
        pivot = a[:, j, j]
        zero = pivot == 0
        info[zero & (info == 0)] = j + 1
        a[:, j + 1:, j] /= np.where(zero, 1, pivot)[:, None]
        a[:, j + 1:, j + 1:end] -= a[:, j + 1:, j, None] * a[:, None, j, j + 1:end]


def permutation(pivots: Any, m: int) -> Any:
    """The order of rows that exchanging row i with row pivots[i] - 1, one after the other, leads to."""
    *batch, k = pivots.shape
    flat = pivots.reshape(-1, k) if pivots.size else np.zeros((int(np.prod(batch)), k), np.int32)
    rows = np.tile(np.arange(m), (len(flat), 1))
    stack = np.arange(len(flat))
    for i in range(k):
        p = flat[:, i] - 1
        kept = rows[stack, i]
        rows[stack, i] = rows[stack, p]
        rows[stack, p] = kept
    return rows.reshape(*batch, m)


def solve_triangular(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """x with a @ x = b, where only one triangle of a is read; a zero on the diagonal gives inf and nan."""
    a = np.triu(a) if upper else np.tril(a)
    if unit:
        diagonal = np.einsum("...ii->...i", a)
        diagonal[...] = 1
    if not upper:                                    # turned round, for LAPACK exchanges no rows of an upper triangle
        return solve_triangular(a[..., ::-1, ::-1], b[..., ::-1, :], True, False)[..., ::-1, :]
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        return _substituted(a, b)


def _substituted(a: Any, b: Any) -> Any:
    """Row by row from below, with divisions by zero as they come."""
    n = a.shape[-1]
    x = np.zeros(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + b.shape[-2:], b.dtype)
    with np.errstate(all="ignore"):
        for i in range(n - 1, -1, -1):
            rest = np.matmul(a[..., i:i + 1, i + 1:], x[..., i + 1:, :])[..., 0, :]
            x[..., i, :] = (b[..., i, :] - rest) / a[..., i, i, None]
    return x
