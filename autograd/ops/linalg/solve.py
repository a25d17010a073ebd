"""Systems of linear equations, and inverses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...base.types import Array
from ...core.batching import leading
from ...core.casting import casts_float32
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor, result
from ...core.types import Context, Declared, Gradients, Operand, TensorOrArray
from ...kernels.lu import solve_triangular as triangular_kernel
from ..pointwise.where import where
from ..shape import expand, mH, mT, permute, reshape, squeeze, unsqueeze, wrap_dim
from ..shape.diagonals import lower_part, upper_part
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
    zero_pivots,
)


class InvEx(NamedTuple):
    """What inv_ex returns."""

    inverse: Tensor
    info: Tensor


class SolveEx(NamedTuple):
    """What solve_ex returns."""

    result: Tensor
    info: Tensor


class TriangularSolve(NamedTuple):
    """What triangular_solve returns."""

    solution: Tensor
    cloned_coefficient: Tensor


class Inverse(Operation, name="LinalgInvEx"):
    """The inverse A^-1 of each matrix."""

    batched = leading

    @staticmethod
    def forward(ctx: Context, x: Array) -> Array:
        """np.linalg.inv; a singular matrix is an error that names its first zero pivot."""
        try:
            out = np.linalg.inv(x)
        except np.linalg.LinAlgError:
            where_, info = first_bad(zero_pivots(x))
            raise LinAlgError(f"linalg.inv: {where_}The diagonal element {info} is zero, the inversion could not be "
                              "completed "
                              f"because the input matrix is singular. Its shape is {list(x.shape)}.") from None
        ctx.save(out)
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """-A^-H g A^-H, for d(A^-1) = -A^-1 dA A^-1."""
        (z,) = ctx.values
        z = mH(z)
        return -matrices(matrices(z, g), z)


class Solve(Operation, name="LinalgSolveEx"):
    """X with A @ X = B."""

    batched = leading

    mixes = True

    @staticmethod
    def forward(ctx: Context, a: Array, b: Array) -> Array:
        try:
            out = np.linalg.solve(a, b)
        except np.linalg.LinAlgError:
            where_, _ = first_bad(zero_pivots(a))
            raise LinAlgError(f"torch.linalg.solve: {where_}The solver failed because the input matrix is singular. Shapes: "
                              f"{list(a.shape)} and {list(b.shape)}.") from None
        ctx.save(a, out)
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """gB = A^-H g; gA = -gB X^H."""
        a, x = ctx.values
        gb = Solve.apply(mH(a), g)
        return (-matrices(gb, mH(x)) if ctx.needs(0) else None), gb


class SolveTriangular(Operation, name="LinalgSolveTriangular"):
    """X with A @ X = B for a triangular A."""

    batched = leading

    mixes = True

    @staticmethod
    def forward(ctx: Context, a: Array, b: Array, *, upper: bool, unit: bool) -> Array:
        out = triangular_kernel(a, b, upper, unit)
        ctx.save(a, out)
        ctx.kind = upper, unit
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """As Solve's, in the triangle that was read."""
        a, x = ctx.values
        upper, unit = ctx.kind
        gb = SolveTriangular.apply(mH(a), g, upper=not upper, unit=unit)
        if not ctx.needs(0):
            return None, gb
        ga = -matrices(gb, mH(x))
        return (upper_part(ga, int(unit)) if upper else lower_part(ga, -int(unit))), gb


solve_matrices: Declared = Solve.apply


def triangular(a: Operand, b: Operand, upper: bool, unit: bool = False) -> Operand:
    """X with A @ X = B, for rules: no checks."""
    return SolveTriangular.apply(a, b, upper=upper, unit=unit)


@casts_float32
@takes_out
def inv(A: Tensor) -> Tensor:
    """The inverse of each square matrix. LinAlgError if one is singular."""
    demand_square("linalg.inv", A)
    return Inverse.apply(A)


@casts_float32
@takes_out
def inverse(input: Tensor) -> Tensor:
    """linalg.inv() under its older name."""
    return inv(input)


def _regular(name: str, A: Tensor, check_errors: bool) -> tuple[Any, Any]:
    """A with unit matrices for its singular ones, and info: for each matrix 0, or its first zero pivot."""
    info = zero_pivots(array_of(A))
    if not info.any():
        return A, info
    if check_errors:
        place, number = first_bad(info)
        raise LinAlgError(f"{name}: {place}The diagonal element {number} is zero: the matrix is singular. The input "
                          "has shape "
                          f"{list(A.shape)}.")
    return where((info > 0)[..., None, None], np.eye(A.shape[-1], dtype=A.dtype), A), info


@casts_float32
@takes_out
def inv_ex(A: Tensor, *, check_errors: bool = False) -> InvEx:
    """(inverse, info): info is 0, or the number of the first zero pivot of a singular matrix, whose inverse is nan."""
    demand_square("linalg.inv", A)
    try:
        return InvEx(Inverse.apply(A), result(no_info(A)))
    except LinAlgError:
        safe, info = _regular("linalg.inv_ex", A, check_errors)
        nan: Any = np.array(np.nan, A.dtype)
        return InvEx(where((info > 0)[..., None, None], nan, Inverse.apply(safe)), result(info))


def _is_vectors(A: Tensor, B: Tensor) -> bool:
    """Whether B holds right-hand sides that are vectors, one for each matrix."""
    return B.ndim == 1 or (A.ndim - 1 == B.ndim and A.shape[:-1] == B.shape)


def _solved(name: str, A: Tensor, B: Tensor, left: bool) -> Tensor:
    demand_square(name, A)
    demand_same_dtype(name, A, B)
    vectors = _is_vectors(A, B)
    if vectors and not left:
        raise RuntimeError(f"{name}: Vector broadcasting of the left hand side is not supported for left=False. In "
                           "this case "
                           "linalg.solve is equivalent to B / A.squeeze(-1)")
    b = unsqueeze(B, -1) if vectors else B
    _demand_sides(name, A, b, left)
    if left:
        x = Solve.apply(A, b)
    else:
        x = mT(Solve.apply(mT(A), mT(b)))
    return squeeze(x, -1) if vectors else x


def _demand_sides(name: str, A: Tensor, B: Tensor, left: bool) -> None:
    """RuntimeError unless B has as many rows (left) or columns as A."""
    demand_matrices(name, B, "B")
    if A.shape[-2] != B.shape[-2 if left else -1]:
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
                           f"({A.shape[-2]}x{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})")
    demand_broadcast(name, A, B)


@casts_float32
@takes_out
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """X with A @ X = B, or X @ A = B where left is False. LinAlgError if A is singular."""
    return _solved("linalg.solve", A, B, left)


@takes_out
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> SolveEx:
    """(result, info): info is 0, or the number of the first zero pivot of a singular matrix."""
    try:
        return SolveEx(_solved("linalg.solve", A, B, left), result(no_info(A)))
    except LinAlgError:
        safe, info = _regular("linalg.solve_ex", A, check_errors)
        x = _solved("linalg.solve", safe, B, left)
        bad = (info > 0)[..., None] if _is_vectors(A, B) else (info > 0)[..., None, None]
        return SolveEx(where(bad, np.array(np.nan, A.dtype), x), result(info))


@takes_out
def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """X with A @ X = B (or X @ A = B) where only the upper or lower triangle of A is read; unitriangular: and its diagonal
    taken for ones."""
    name = "linalg.solve_triangular"
    demand_square(name, A)
    demand_same_dtype(name, A, B)
    _demand_sides(name, A, B, left)
    if left:
        return triangular(A, B, upper, unitriangular)
    return mT(triangular(mT(A), mT(B), not upper, unitriangular))


@casts_float32
@takes_out
def triangular_solve(input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False,
                     unitriangular: bool = False) -> TriangularSolve:
    """(X, A) with A @ X = input, or A^T @ X = input; the older form of linalg.solve_triangular."""
    demand_matrices("triangular_solve", input, "b")
    demand_square("triangular_solve", A)
    demand_same_dtype("triangular_solve", A, input)
    _demand_sides("triangular_solve", A, input, True)
    x = triangular(mT(A) if transpose else A, input, upper != transpose, unitriangular)
    batch = np.broadcast_shapes(A.shape[:-2], input.shape[:-2])
    return TriangularSolve(x, expand(A, *batch, *A.shape[-2:]))


@casts_float32
@takes_out
def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of A for tensordot: tensordot(tensorinv(A, ind), A, ind) is the identity."""
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', got {ind}")
    first, rest = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    n, m = int(np.prod(first, dtype=int)), int(np.prod(rest, dtype=int))
    if n != m:
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but "
                           f"got {m} != {n}, for shape {list(A.shape)}")
    return reshape(inv(reshape(A, n, m)), (*rest, *first))


@casts_float32
@takes_out
def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """X with tensordot(A, X, X.ndim) = B; `dims` of A are moved to its end first."""
    if dims is not None:
        last = [wrap_dim(d, A.ndim) for d in dims]
        A = permute(A, *(d for d in range(A.ndim) if d not in last), *last)
    rest = tuple(A.shape[B.ndim:])
    n, m = int(np.prod(rest, dtype=int)), int(np.prod(B.shape, dtype=int))
    if n != m or int(np.prod(A.shape[:B.ndim], dtype=int)) != m:
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
                           f"prod(self.shape[:other.ndim]), but got {n} != {m}, for shapes {list(A.shape)} and "
                           f"{list(B.shape)}")
    return reshape(solve(reshape(A, m, n), reshape(B, -1)), rest)


__all__ = ["inverse", "triangular_solve"]
METHODS = ["inverse", "triangular_solve"]
