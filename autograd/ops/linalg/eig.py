"""Eigenvalues and eigenvectors, of Hermitian matrices and of any."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...base.types import Array
from ...core.batching import leading
from ...core.casting import casts_float32
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor, result
from ...core.types import Context, Gradients, TensorOrArray
from ..pointwise.cast import cast
from ..pointwise.complex import as_complex, conj, real
from ..shape import diag_embed, diagonal, mH, unsqueeze
from .matmul import matrices
from .matrices import attempt, demand_square
from .solve import solve_matrices


class Eigh(NamedTuple):
    """What eigh returns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class Eig(NamedTuple):
    """What eig returns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class LinalgEigh(Operation):
    """L, V with A V = V diag(L) for Hermitian A, L in increasing order."""

    batched = leading

    @staticmethod
    def forward(ctx: Context, x: Array, *, triangle: str) -> tuple[Array, ...]:
        """np.linalg.eigh of the triangle that is asked for."""
        values, vectors = attempt("linalg.eigh", np.linalg.eigh, x, UPLO=triangle)
        ctx.save(values, vectors)
        return values, vectors

    @staticmethod
    def backward(ctx: Context, gl: Any, gv: TensorOrArray | None) -> Gradients:
        """V (diag(gL) + V^H gV / (l_j - l_i)) V^H (M. Giles, Collected matrix derivative results, 2008, 3.1)."""
        values, v = ctx.values
        if gv is None:
            return matrices(v * unsqueeze(cast(gl, v.dtype), -2), mH(v))
        gaps = unsqueeze(values, -2) - unsqueeze(values, -1) + np.eye(v.shape[-1], dtype=values.dtype)
        turn = matrices(mH(v), gv)
        core = (turn - mH(turn)) / (2 * gaps)
        core = core - diag_embed(diagonal(core, 0, -2, -1))
        if gl is not None:
            core = core + diag_embed(cast(gl, v.dtype))
        return matrices(matrices(v, core), mH(v))


class LinalgEig(Operation):
    """L, V with A V = V diag(L), both complex; the vectors have length 1."""

    batched = leading

    @staticmethod
    def forward(ctx: Context, x: Array) -> tuple[Array, ...]:
        values, vectors = attempt("linalg.eig", np.linalg.eig, x)
        values, vectors = (as_complex(np.asarray(v)) for v in (values, vectors))
        ctx.save(values, vectors)
        ctx.real = x.dtype.kind != "c"
        return values, vectors

    @staticmethod
    def backward(ctx: Context, gl: Any, gv: TensorOrArray | None) -> Gradients:
        """V^-H (diag(gL) + (V^H gV - V^H V diag(Re V^H gV)) / conj(l_j - l_i)) V^H."""
        values, v = ctx.values
        vh = mH(v)
        core: Any = 0
        if gv is not None:
            turn = matrices(vh, gv)
            along = as_complex(real(diagonal(turn, 0, -2, -1)))
            turn = turn - matrices(vh, v * unsqueeze(along, -2))
            gaps = conj(unsqueeze(values, -2) - unsqueeze(values, -1)) + np.eye(v.shape[-1], dtype=values.dtype)
            core = turn / gaps
            core = core - diag_embed(diagonal(core, 0, -2, -1))
        if gl is not None:
            core = core + diag_embed(gl)
        out = solve_matrices(vh, matrices(core, vh))
        return real(out) if ctx.real else out


def _triangle(UPLO: str) -> str:
    if not isinstance(UPLO, str) or UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper()


@casts_float32
@takes_out
def eigh(A: Tensor, UPLO: str = "L") -> Eigh:
    """(eigenvalues, eigenvectors) of each Hermitian matrix, of which one triangle is read; values in increasing order."""
    demand_square("linalg.eigh", A)
    return Eigh(*LinalgEigh.apply(A, triangle=_triangle(UPLO)))


@casts_float32
@takes_out
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of each Hermitian matrix, in increasing order."""
    demand_square("linalg.eigvalsh", A)
    if isinstance(A, Tensor) and not A.tracked:
        return result(attempt("linalg.eigvalsh", np.linalg.eigvalsh, A.array, UPLO=_triangle(UPLO)))
    return LinalgEigh.apply(A, triangle=_triangle(UPLO))[0]


@casts_float32
@takes_out
def eig(A: Tensor) -> Eig:
    """(eigenvalues, eigenvectors) of each square matrix, complex."""
    demand_square("linalg.eig", A)
    return Eig(*LinalgEig.apply(A))


@casts_float32
@takes_out
def eigvals(A: Tensor) -> Tensor:
    """The eigenvalues of each square matrix, complex."""
    demand_square("linalg.eigvals", A)
    return LinalgEig.apply(A)[0]


__all__: list[str] = []
