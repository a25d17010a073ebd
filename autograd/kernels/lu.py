"""LU factors of stacks of matrices, and triangular systems: LAPACK's where it is found, else made of what NumPy has."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.types import Array
from .lapack import beginnings, lapack_for

BLOCK = 32
FEW = 8                              # matrices of few rows: a call for each takes 2 us, NumPy is quicker with more of them
MANY = 64                            # matrices: from here on all of them together, one exchange after the other


def lu_factor(matrices: Array) -> tuple[Any, Any, Any]:
    """(L and U in one array, pivots counted from 1, 0 or the number of the first zero pivot) of matrices (..., m, n)."""
    *batch, m, n = matrices.shape
    library = lapack_for(matrices)
    if library is None or (m < 6 and math.prod(batch) > FEW):
        return _factored(matrices)
    a = np.array(np.swapaxes(matrices, -1, -2), order="C")      # by columns, as PyTorch's factors lie too
    pivots, info = library.factor(a.reshape(-1, n, m) if a.size else np.empty((0, n, m), a.dtype))
    if not a.size:
        pivots, info = np.zeros((*batch, min(m, n)), np.int32), np.zeros(batch, np.int32)
    return (np.swapaxes(a, -1, -2), pivots.astype(np.int32).reshape(*batch, min(m, n)), info.astype(np.int32).reshape(batch))


def _factored(matrices: Array) -> tuple[Any, Any, Any]:
    """lu_factor by NumPy.

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


def _factor_columns(a: Array, start: int, end: int, pivots: Array, info: Array) -> None:
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


def permutation(pivots: Array, m: int) -> Array:
    """The order of rows that exchanging row i with row pivots[i] - 1, one after the other, leads to."""
    *batch, k = pivots.shape
    flat = pivots.reshape(-1, k) if pivots.size else np.zeros((int(np.prod(batch)), k), np.int32)
    if len(flat) < MANY:
        orders = np.empty((len(flat), m), np.int64)
        for number, exchanges in enumerate(flat.tolist()):
            order = list(range(m))
            for i, p in enumerate(exchanges):
                order[i], order[p - 1] = order[p - 1], order[i]
            orders[number] = order
        return orders.reshape(*batch, m)
    rows = np.tile(np.arange(m), (len(flat), 1))
    stack = np.arange(len(flat))
    for i in range(k):
        p = flat[:, i] - 1
        kept = rows[stack, i]
        rows[stack, i] = rows[stack, p]
        rows[stack, p] = kept
    return rows.reshape(*batch, m)


def solve_triangular(a: Array, b: Array, upper: bool, unit: bool) -> Array:
    """x with a @ x = b, where only one triangle of a is read; a zero on the diagonal gives inf and nan. x lies by rows,
    unless the matrices of b lie by columns."""
    n, k = b.shape[-2:]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    library = lapack_for(a, b)
    if library is None or (n < 12 and math.prod(batch) > FEW):
        return _solved(a, b, upper, unit)
    columns = k == 1 or (b.strides[-2] == b.itemsize != b.strides[-1])
    if columns:
        x = np.empty((*batch, k, n), b.dtype)
        out = np.swapaxes(x, -1, -2)
    else:
        out = x = np.empty((*batch, n, k), b.dtype)
    out[...] = b
    if not x.size:
        return out
    a, by_columns = _dense_matrices(a)
    step = a.strides[-1 if by_columns else -2] // a.itemsize
    # Memory by rows is the transpose by columns: X^T A^T = B^T. The triangle is that of A as it lies.
    triangle = "U" if upper == by_columns else "L"
    turned = "N" if columns == by_columns else "T"
    rows = (n, k) if columns else (k, n)
    at_x = range(x.ctypes.data, x.ctypes.data + x.nbytes, n * k * x.itemsize)
    library.solve(a, x, "L" if columns else "R", triangle, turned, "U" if unit else "N", *rows,
                  beginnings(a, batch), at_x, max(step, n))
    return out


def _dense_matrices(a: Array) -> tuple[Any, bool]:
    """a, copied if its matrices have gaps inside rows and columns, and whether they lie by columns."""
    n, size = a.shape[-1], a.itemsize
    rows, columns = a.strides[-2:]
    if columns == size and rows >= n * size and rows % size == 0:
        return a, False
    if rows == size and columns >= n * size and columns % size == 0:
        return a, True
    return np.array(a, order="C"), False


def _solved(a: Array, b: Array, upper: bool, unit: bool) -> Array:
    """solve_triangular by NumPy's solve."""
    a = np.triu(a) if upper else np.tril(a)
    if unit:
        diagonal = np.einsum("...ii->...i", a)
        diagonal[...] = 1
    if not upper:                                    # turned round, for LAPACK exchanges no rows of an upper triangle
        return _solved(a[..., ::-1, ::-1], b[..., ::-1, :], True, False)[..., ::-1, :]
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        return _substituted(a, b)


def _substituted(a: Array, b: Array) -> Array:
    """Row by row from below, with divisions by zero as they come."""
    n = a.shape[-1]
    x = np.zeros(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + b.shape[-2:], b.dtype)
    with np.errstate(all="ignore"):
        for i in range(n - 1, -1, -1):
            rest = np.matmul(a[..., i:i + 1, i + 1:], x[..., i + 1:, :])[..., 0, :]
            x[..., i, :] = (b[..., i, :] - rest) / a[..., i, i, None]
    return x
