"""LU factors with row exchanges, and solutions by means of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...base.types import Array
from ...core.batching import leading
from ...core.casting import casts_float32
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor, result
from ...core.types import Context, Gradients, Operand, TensorOrArray
from ...kernels.lu import lu_factor as lu_kernel
from ...kernels.lu import permutation
from ..index.indexing import getitem
from ..shape import cat, expand, mH, narrow
from ..shape.diagonals import lower_part, upper_part
from .matmul import matrices
from .matrices import LinAlgError, array_of, demand_broadcast, demand_matrices, demand_same_dtype, demand_square, first_bad
from .solve import triangular


class LuFactor(NamedTuple):
    """What lu_factor returns."""

    LU: Tensor
    pivots: Tensor


class LuFactorEx(NamedTuple):
    """What lu_factor_ex returns."""

    LU: Tensor
    pivots: Tensor
    info: Tensor


class Plu(NamedTuple):
    """What lu and lu_unpack return."""

    P: Tensor
    L: Tensor
    U: Tensor


class Lu(Operation, name="LinalgLuFactorEx"):
    """L (its diagonal of ones left out) and U in one matrix, the pivots, and info."""

    batched = leading

    @staticmethod
    def forward(ctx: Context, x: Array) -> tuple[Array, ...]:
        factors, pivots, info = lu_kernel(x)
        ctx.save(factors)
        ctx.rows = permutation(pivots, x.shape[-2])
        return factors, pivots, info

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray, *rest: Any) -> Gradients:
        """P L^-H (strictly lower part of L^H gL + upper part of gU U^H) U^-H, for the leading square; the rows below it, or
        the columns beside it, follow from it (S. Axen, arXiv:2003.11218, and the same for rectangles)."""
        (z,) = ctx.values
        m, n = z.shape[-2:]
        k = min(m, n)
        low, high = z.ndim - 2, z.ndim - 1
        square, g_square = narrow(narrow(z, low, 0, k), high, 0, k), narrow(narrow(g, low, 0, k), high, 0, k)
        lower, upper = unit_lower(square), upper_part(square, 0)
        gl, gu = lower_part(g_square, -1), upper_part(g_square, 0)
        more = None
        if n > k:                                    # U2 = L^-1 A2
            u2 = narrow(z, high, k, n - k)
            more = triangular(mH(lower), narrow(g, high, k, n - k), True, True)
            gl = gl - matrices(more, mH(u2))
        elif m > k:                                  # L2 = A2 U^-1
            l2 = narrow(z, low, k, m - k)
            more = mH(triangular(upper, mH(narrow(g, low, k, m - k)), True))
            gu = gu - matrices(mH(l2), more)
        core = lower_part(matrices(mH(lower), gl), -1) + upper_part(matrices(gu, mH(upper)), 0)
        core = triangular(mH(lower), core, True, True)
        out = mH(triangular(upper, mH(core), True))
        if more is not None:
            out = cat([out, more], -1 if n > k else -2)
        return rows_of(out, np.argsort(ctx.rows, -1))


def unit_lower(x: Operand) -> Operand:
    """The lower triangle of x (..., m, k) with ones on its diagonal."""
    return lower_part(x, -1) + np.eye(x.shape[-2], x.shape[-1], dtype=x.dtype)


def rows_of(x: TensorOrArray, order: Array) -> Any:
    """The rows of each matrix of x (..., m, n) in the order of an array (..., m); stacks broadcast."""
    if order.ndim == 1 and x.ndim == 2:
        return getitem(x, order)
    batch = np.broadcast_shapes(x.shape[:-2], order.shape[:-1])
    x, order = expand(x, (*batch, *x.shape[-2:])), np.broadcast_to(order, (*batch, order.shape[-1]))
    return getitem(x, (*np.ogrid[tuple([slice(n) for n in order.shape])][:-1], order))


def permutation_matrix(rows: Array, dtype: np.dtype[Any]) -> Array:
    """P with A = P L U, where L U has the rows of A in the order `rows`; an array."""
    return np.swapaxes(np.eye(rows.shape[-1], dtype=dtype)[rows], -1, -2)


def _factored(name: str, A: Tensor, pivot: bool) -> tuple[Tensor, ...]:
    demand_matrices(name, A)
    if not pivot:
        raise NotImplementedError(f"{name}: LU without pivoting (pivot=False) is not implemented on the CPU")
    return Lu.apply(A)


@takes_out
def lu_factor(A: Tensor, *, pivot: bool = True) -> LuFactor:
    """(LU, pivots): L and U in one matrix; row i was exchanged with row pivots[i] - 1. LinAlgError if U is singular."""
    factors, pivots, info = _factored("linalg.lu_factor", A, pivot)
    bad = array_of(info)
    if bad.any():
        place, number = first_bad(bad)
        raise LinAlgError(f"torch.linalg.lu_factor: {place}U[{number},{number}] is zero and using it on lu_solve "
                          "would result in a "
                          "division by zero. If you still want to perform the factorization, consider calling linalg.lu(A) "
                          "or linalg.lu_factor_ex(A)")
    return LuFactor(factors, pivots)


@takes_out
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> LuFactorEx:
    """(LU, pivots, info): lu_factor without the error; info is 0, or the number of the first zero of U's diagonal."""
    if check_errors:
        lu_factor(A, pivot=pivot)
    return LuFactorEx(*_factored("linalg.lu_factor_ex", A, pivot))


def _unpacked(factors: Tensor, pivots: Array) -> Plu:
    m, n = factors.shape[-2:]
    k = min(m, n)
    p = permutation_matrix(permutation(pivots, m), factors.dtype)
    return Plu(result(p), unit_lower(narrow(factors, factors.ndim - 1, 0, k)),
               upper_part(narrow(factors, factors.ndim - 2, 0, k), 0))


@takes_out
def linalg_lu(A: Tensor, *, pivot: bool = True) -> Plu:
    """(P, L, U) with A = P @ L @ U."""
    factors, pivots, _ = _factored("linalg.lu", A, pivot)
    return _unpacked(factors, array_of(pivots))


@takes_out
@casts_float32
def lu(input: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """(LU, pivots), and info if get_infos: linalg.lu_factor_ex, under its older name."""
    factors, pivots, info = _factored("lu", input, pivot)
    return (factors, pivots, info) if get_infos else (factors, pivots)


@takes_out
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Plu:
    """(P, L, U) from what lu_factor returns; empty tensors for what is not asked for."""
    pivots = array_of(LU_pivots)
    if unpack_pivots and pivots.dtype != np.int32:
        raise RuntimeError(f"torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype, not "
                           f"{pivots.dtype}. Note: this function is intended to be used with the output produced by "
                           "torch.linalg.lu_factor")
    if unpack_pivots and pivots.shape[-1:] != (min(LU_data.shape[-2:]),):
        raise RuntimeError(f"torch.lu_unpack: LU_pivots of shape {list(pivots.shape)} does not fit LU_data of shape "
                           f"{list(LU_data.shape)}")
    empty = result(np.zeros(0, LU_data.dtype))
    m, n = LU_data.shape[-2:]
    k = min(m, n)
    p, low, high = empty, empty, empty
    if unpack_pivots:
        p = result(permutation_matrix(permutation(pivots, m), LU_data.dtype))
    if unpack_data:
        low = unit_lower(narrow(LU_data, LU_data.ndim - 1, 0, k))
        high = upper_part(narrow(LU_data, LU_data.ndim - 2, 0, k), 0)
    return Plu(p, low, high)


@takes_out
def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """X with A @ X = B, from lu_factor(A); X @ A = B if left is False; A^H in place of A if `adjoint`."""
    name = "linalg.lu_solve"
    demand_square(name, LU, "LU")
    demand_matrices(name, B, "B")
    demand_same_dtype(name, LU, B)
    rows = array_of(pivots)
    if rows.dtype != np.int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32, not {rows.dtype}")
    if rows.shape != LU.shape[:-1]:
        raise RuntimeError(f"{name}: Number of pivots per batch should be same as the dimension of the matrix; the "
                           "shapes are "
                           f"{list(rows.shape)} and {list(LU.shape)}")
    if LU.shape[-1] != B.shape[-2 if left else -1]:
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
                           f"({LU.shape[-2]}x{LU.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})")
    demand_broadcast(name, LU, B)
    if not left:                                     # X A = B is A^H X^H = B^H
        return mH(_solve_factored(LU, rows, mH(B), not adjoint))
    return _solve_factored(LU, rows, B, adjoint)


def _solve_factored(factors: Tensor, pivots: Array, b: Tensor, adjoint: bool) -> Tensor:
    order = permutation(pivots, factors.shape[-2])
    if adjoint:
        return rows_of(triangular(mH(factors), triangular(mH(factors), b, False), True, True), np.argsort(order, -1))
    return triangular(factors, triangular(factors, rows_of(b, order), False, True), True)


@casts_float32
@takes_out
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """linalg.lu_solve, under its older name and order."""
    return linalg_lu_solve(LU_data, LU_pivots, input)


__all__ = ["lu", "lu_solve", "lu_unpack"]
METHODS = ["lu", "lu_solve"]
