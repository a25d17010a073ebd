"""Cholesky factors, and solutions by means of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...base.types import Array
from ...core.batching import leading
from ...core.casting import casts_float32
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor, result
from ...core.types import Context, Gradients, TensorOrArray
from .._names import also
from ..pointwise.where import where
from ..shape import mH
from ..shape.diagonals import lower_part
from .matmul import matrices
from .matrices import (
    LinAlgError,
    array_of,
    demand_broadcast,
    demand_matrices,
    demand_same_dtype,
    demand_square,
    first_bad,
    no_info,
)
from .solve import triangular


class CholeskyEx(NamedTuple):
    """What cholesky_ex returns."""

    L: Tensor
    info: Tensor


class Cholesky(Operation, name="LinalgCholeskyEx"):
    """The lower triangular L with L @ L^H = A, of which the lower (or upper) triangle is read."""

    batched = leading

    @staticmethod
    def forward(ctx: Context, x: Array, *, upper: bool) -> Array:
        """np.linalg.cholesky; a matrix that is not positive-definite is an error."""
        x = mH(x) if upper else x
        try:
            out = np.linalg.cholesky(x)
        except np.linalg.LinAlgError:
            place, order = first_bad(failed_minors(x))
            raise LinAlgError(f"linalg.cholesky: {place}The factorization could not be completed because the input is not "
                              f"positive-definite (the leading minor of order {order} is not positive-definite). Its shape "
                              f"is {list(x.shape)}.") from None
        ctx.save(out)
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """L^-H P L^-1 / 2, where P is the lower triangle of L^H g, mirrored (I. Murray, arXiv:1602.07527, (8))."""
        (z,) = ctx.values
        upper = mH(z)
        p = lower_part(matrices(upper, g), 0)
        p = triangular(upper, p + mH(lower_part(p, -1)), True)
        return 0.5 * mH(triangular(upper, mH(p), True))


def failed_minors(x: Array) -> Array:
    """For each matrix the order of the first leading minor that is not positive definite, or 0."""
    info = np.zeros(x.shape[:-2], np.int32)
    for place in np.ndindex(*info.shape):
        for order in range(1, x.shape[-1] + 1):
            try:
                np.linalg.cholesky(x[place][:order, :order])
            except np.linalg.LinAlgError:
                info[place] = order
                break
    return info


class CholeskySolve(Operation):
    """X with L @ L^H @ X = B."""

    batched = leading

    mixes = True

    @staticmethod
    def forward(ctx: Context, b: Array, factor: Array, *, upper: bool) -> Array:
        lower = mH(factor) if upper else factor
        out = triangular(mH(lower), triangular(lower, b, False), True)
        ctx.save(factor, out)
        ctx.upper = upper
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """gB solves with g; gL = -(gB X^H + X gB^H) L. As PyTorch's, it fills both triangles."""
        factor, x = ctx.values
        gb = CholeskySolve.apply(g, factor, upper=ctx.upper)
        if not ctx.needs(1):
            return gb, None
        both = matrices(gb, mH(x))
        both = both + mH(both)
        return gb, -(matrices(factor, both) if ctx.upper else matrices(both, factor))


@casts_float32
@takes_out
def linalg_cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The triangular L with L @ L^H = A (or U^H @ U = A) for positive definite A, of which one triangle is read."""
    demand_square("linalg.cholesky", A)
    factor = Cholesky.apply(A, upper=upper)
    return mH(factor) if upper else factor


@casts_float32
@takes_out
def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """linalg.cholesky, under its older name."""
    return linalg_cholesky(input, upper=upper)


@casts_float32
@takes_out
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> CholeskyEx:
    """(L, info): info is 0, or the order of the first leading minor that is not positive definite; its L is nan."""
    demand_square("linalg.cholesky_ex", A)
    try:
        return CholeskyEx(linalg_cholesky(A, upper=upper), result(no_info(A)))
    except LinAlgError:
        if check_errors:
            raise
        info = failed_minors(array_of(mH(A) if upper else A))
        bad = (info > 0)[..., None, None]
        safe = where(bad, np.eye(A.shape[-1], dtype=A.dtype), A)
        return CholeskyEx(where(bad, np.array(np.nan, A.dtype), linalg_cholesky(safe, upper=upper)), result(info))


@casts_float32
@also(input2="L")
@takes_out
def cholesky_solve(input: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """X with A @ X = input, from the Cholesky factor of A."""
    demand_matrices("cholesky_solve", input, "b")
    demand_square("cholesky_solve", L)
    demand_same_dtype("cholesky_solve", L, input)
    if L.shape[-1] != input.shape[-2]:
        raise RuntimeError(f"Incompatible matrix sizes for cholesky_solve: each A matrix is {L.shape[-1]} by {L.shape[-1]} "
                           f"but each b matrix is {input.shape[-2]} by {input.shape[-1]}")
    demand_broadcast("cholesky_solve", L, input)
    return CholeskySolve.apply(input, L, upper=upper)


@casts_float32
@takes_out
def cholesky_inverse(input: Tensor, upper: bool = False) -> Tensor:
    """The inverse of A, from its Cholesky factor."""
    demand_square("cholesky_inverse", input)
    return CholeskySolve.apply(np.eye(input.shape[-1], dtype=input.dtype), input, upper=upper)


__all__ = ["cholesky", "cholesky_inverse", "cholesky_solve"]
METHODS = ["cholesky", "cholesky_inverse", "cholesky_solve"]
