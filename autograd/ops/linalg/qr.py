"""QR factors, and products of Householder reflections."""

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
from ..pointwise.cast import cast
from ..pointwise.complex import real
from ..shape import cat, diag_embed, diagonal, mH, narrow, unsqueeze
from ..shape.diagonals import lower_part, upper_part
from .matmul import matrices
from .matrices import array_of, attempt, demand_matrices, demand_same_dtype
from .solve import triangular


class LinalgQr(NamedTuple):
    """What qr returns."""

    Q: Tensor
    R: Tensor


class Geqrf(NamedTuple):
    """What geqrf returns."""

    a: Tensor
    tau: Tensor


class Qr(Operation, name="LinalgQr"):
    """Q with orthonormal columns and upper triangular R, A = Q R."""

    batched = leading

    @staticmethod
    def forward(ctx: Context, x: Array, *, mode: str) -> tuple[Array, ...]:
        if mode == "r":
            ctx.mode = mode
            return np.zeros(0, x.dtype), attempt("linalg.qr", np.linalg.qr, x, mode="r")
        q, r = attempt("linalg.qr", np.linalg.qr, x, mode=mode)
        ctx.save(q, r)
        ctx.mode = mode
        return q, r

    @staticmethod
    def backward(ctx: Context, gq: TensorOrArray | None, gr: TensorOrArray | None) -> Gradients:
        """(gQ + Q S) R^-H where S is made of R gR^H - gQ^H Q; a wide matrix is [A1 | Q V] for R = [U | V]."""
        if ctx.mode == "r":
            raise RuntimeError("The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
                               "linalg.qr(A, mode='reduced') if you are going to require the derivatives wrt. Q or R.")
        q, r = ctx.values
        m, n, k = q.shape[-2], r.shape[-1], q.shape[-1]
        if ctx.mode == "complete" and m > n:
            raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols, as here "
                               f"with {m} and {n}")
        if m >= n:
            return qr_gradient(q, r, gq, gr)
        u, v = narrow(r, r.ndim - 1, 0, k), narrow(r, r.ndim - 1, k, n - k)
        if gr is None:
            rest: Any = np.zeros((*r.shape[:-2], m, n - k), r.dtype)
            return cat([qr_gradient(q, u, gq, None), rest], -1)
        gu, gv = narrow(gr, r.ndim - 1, 0, k), narrow(gr, r.ndim - 1, k, n - k)
        more = matrices(matrices(q, v), mH(gv))
        return cat([qr_gradient(q, u, more if gq is None else gq + more, gu), matrices(q, gv)], -1)


def qr_gradient(q: Operand, r: Operand, gq: TensorOrArray | None, gr: TensorOrArray | None) -> Operand:
    """The gradient of A = Q R for a square R (S. Walter and L. Lehmann, Algorithmic differentiation of linear algebra
    functions, 2010)."""
    core: Any = 0
    if gr is not None:
        core = matrices(r, mH(gr))
    if gq is not None:
        core = core - matrices(mH(gq), q)
    low = lower_part(core, 0)
    turn = low + mH(low)
    turn = turn - diag_embed(cast(real(diagonal(low, 0, -2, -1)), turn.dtype))
    inner = matrices(q, turn) if gq is None else gq + matrices(q, turn)
    return mH(triangular(r, mH(inner), True))


def _factors(A: Tensor, mode: str) -> LinalgQr:
    demand_matrices("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
                           "'complete'")
    return LinalgQr(*Qr.apply(A, mode=mode))


@casts_float32
@takes_out
def linalg_qr(A: Tensor, mode: str = "reduced") -> LinalgQr:
    """(Q, R) with A = Q @ R, Q^H @ Q = 1, R upper triangular; mode "complete": Q square; "r": R alone, Q empty."""
    return _factors(A, mode)


@casts_float32
@takes_out
def qr(input: Tensor, some: bool = True) -> LinalgQr:
    """linalg.qr, under its older name: reduced, or complete."""
    return _factors(input, "reduced" if some else "complete")


@casts_float32
@takes_out
def geqrf(input: Tensor) -> Geqrf:
    """(a, tau): R in the upper triangle of a, the Householder vectors below it, and their factors. Without gradient."""
    demand_matrices("geqrf", input, "input")
    h, tau = np.linalg.qr(array_of(input), mode="raw")
    return Geqrf(result(np.swapaxes(h, -1, -2)), result(tau))


def reflected(v: Tensor, tau: Tensor, x: Tensor | None = None, adjoint: bool = False) -> Tensor:
    """Q x, or Q^H x, or without x the first columns of Q, as many as v has. Q = (1 - tau_0 v_0 v_0^H) (1 - tau_1 v_1 v_1^H)
    ... for the columns of v (..., m, n) below its diagonal, 1 on it, and tau (..., k).

    Q = 1 - V D (1 + S D)^-1 V^H with D of tau and S the part of V^H V above the diagonal (T. Joffrain et al., Accumulating
    Householder transformations, revisited, 2006): products and a triangular system in place of k products of vectors."""
    (m, n), k = v.shape[-2:], tau.shape[-1]
    v = narrow(v, v.ndim - 1, 0, k)
    vectors = lower_part(v, -1) + np.eye(m, k, dtype=v.dtype)
    row = unsqueeze(tau, -2)
    system = upper_part(matrices(mH(vectors), vectors), 1) * row
    inner = mH(narrow(vectors, v.ndim - 2, 0, n)) if x is None else matrices(mH(vectors), x)
    if adjoint:
        inner = triangular(mH(system), mH(row) * inner, False, True)
    else:
        inner = unsqueeze(tau, -1) * triangular(system, inner, True, True)
    return (np.eye(m, n, dtype=v.dtype) if x is None else x) - matrices(vectors, inner)


def _demand_reflections(name: str, v: Tensor, tau: Tensor) -> None:
    demand_matrices(name, v, "input")
    demand_same_dtype(name, v, tau)
    m, n = v.shape[-2:]
    if m < n:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1], not {m} and {n}")
    if tau.ndim != v.ndim - 1 or tau.shape[:-1] != v.shape[:-2]:
        raise RuntimeError(f"{name}: Expected tau to have one dimension less than input and the same batch, but got shapes "
                           f"{list(tau.shape)} and {list(v.shape)}")
    if n < tau.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1], not {n} and "
                           f"{tau.shape[-1]}")


@casts_float32
@takes_out
def householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The first columns of the product of the reflections 1 - tau_i v_i v_i^H, with v_i below the diagonal of A's column i
    and 1 on it."""
    _demand_reflections("linalg.householder_product", A, tau)
    if not tau.shape[-1]:
        return 0 * A + np.eye(*A.shape[-2:], dtype=A.dtype)
    return reflected(A, tau)


@casts_float32
@takes_out
def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """linalg.householder_product, under its older name."""
    return householder_product(input, input2)


@casts_float32
@takes_out
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """Q @ other (or other @ Q, or with Q^H) for the square Q of the reflections in input and tau."""
    demand_matrices("ormqr", input, "input")
    demand_matrices("ormqr", other, "other")
    demand_same_dtype("ormqr", input, other)
    demand_same_dtype("ormqr", input, tau)
    side = other.shape[-2 if left else -1]
    if tau.ndim != input.ndim - 1 or tau.shape[:-1] != input.shape[:-2] or other.shape[:-2] != input.shape[:-2]:
        raise RuntimeError("torch.ormqr: batch dimensions of input, tau and other must be equal, but their shapes are "
                           f"{list(input.shape)}, {list(tau.shape)} and {list(other.shape)}")
    if side < tau.shape[-1] or side != input.shape[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{-2 if left else -1}] must be equal to input.shape[-2] and at least "
                           f"tau.shape[-1]; they are {side}, {input.shape[-2]} and {tau.shape[-1]}")
    if not tau.shape[-1]:
        return 1 * other
    return reflected(input, tau, other, transpose) if left else mH(reflected(input, tau, mH(other), not transpose))


__all__ = ["geqrf", "orgqr", "ormqr", "qr"]
METHODS = ["geqrf", "orgqr", "ormqr", "qr"]
