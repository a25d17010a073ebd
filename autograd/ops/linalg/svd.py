"""Singular values and vectors."""

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
from ..pointwise.complex import imag
from ..shape import diag_embed, diagonal, mH, narrow, unsqueeze
from .matmul import matrices
from .matrices import attempt, demand_matrices


class LinalgSvd(NamedTuple):
    """What linalg.svd returns."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class SvdResult(NamedTuple):
    """What svd returns."""

    U: Tensor
    S: Tensor
    V: Tensor


class Svd(Operation, name="LinalgSvd"):
    """U, S, V^H with A = U S V^H and S in decreasing order."""

    batched = leading

    @staticmethod
    def forward(ctx: Context, x: Array, *, full: bool) -> tuple[Array, ...]:
        u, s, vh = attempt("linalg.svd", np.linalg.svd, x, full_matrices=full)
        ctx.save(u, s, vh)
        return u, s, vh

    @staticmethod
    def backward(ctx: Context, gu: TensorOrArray | None, gs: Any, gvh: TensorOrArray | None) -> Gradients:
        """svd_gradient, for the first min(m, n) vectors: the others are arbitrary."""
        u, s, vh = ctx.values
        k = s.shape[-1]
        gu, u = (v if v is None or v.shape[-1] == k else narrow(v, v.ndim - 1, 0, k) for v in (gu, u))
        gvh, vh = (v if v is None or v.shape[-2] == k else narrow(v, v.ndim - 2, 0, k) for v in (gvh, vh))
        return svd_gradient(u, s, vh, gu, gs, gvh)


def svd_gradient(u: Any, s: TensorOrArray, vh: Any, gu: TensorOrArray | None, gs: Any,
                 gvh: TensorOrArray | None) -> Any:
    """The gradient of A = U S V^H for thin factors (J. Townsend, Differentiating the Singular Value Decomposition, 2016;
    for complex ones Z.-Q. Wan and S.-X. Zhang, arXiv:1909.02659)."""
    if gu is None and gvh is None:
        return matrices(u * unsqueeze(cast(gs, u.dtype), -2), vh)
    k = s.shape[-1]
    s2 = s * s
    gaps = unsqueeze(s2, -2) - unsqueeze(s2, -1) + np.eye(k, dtype=s.dtype)
    row, column = unsqueeze(s, -2), unsqueeze(s, -1)
    core: Any = np.zeros((*s.shape, k), u.dtype) if gs is None else diag_embed(cast(gs, u.dtype))
    if gu is not None:
        turn = skew(matrices(mH(u), gu))
        core = core + turn / gaps * row
        if u.dtype.kind == "c":
            core = core + diag_embed(cast(imag(diagonal(turn, 0, -2, -1)), u.dtype) * 1j / (2 * s))
    if gvh is not None:
        core = core + column * (skew(matrices(vh, mH(gvh))) / gaps)
    out = matrices(matrices(u, core), vh)
    if gu is not None and u.shape[-2] > k:
        rest = gu / row
        out = out + matrices(rest - matrices(u, matrices(mH(u), rest)), vh)
    if gvh is not None and vh.shape[-1] > k:
        rest = gvh / column
        out = out + matrices(u, rest - matrices(matrices(rest, mH(vh)), vh))
    return out


def skew(x: TensorOrArray) -> Any:
    """x - x^H."""
    return x - mH(x)


def thin_svd(x: TensorOrArray) -> Any:
    """(U, S, V^H) with min(m, n) singular vectors, for rules."""
    return Svd.apply(x, full=False)


@casts_float32
@takes_out
def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> LinalgSvd:
    """(U, S, Vh) with A = U @ diag(S) @ Vh, S in decreasing order; with full_matrices=False only min(m, n) vectors."""
    demand_matrices("linalg.svd", A)
    if driver is not None:
        raise RuntimeError(f"linalg.svd: keyword argument `driver={driver}` is only supported on CUDA inputs with cuSOLVER "
                           "backend.")
    return LinalgSvd(*Svd.apply(A, full=full_matrices))


@casts_float32
@takes_out
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> SvdResult:
    """(U, S, V) with input = U @ diag(S) @ V^H; without compute_uv, U and V are zeros."""
    demand_matrices("linalg.svd", input, "input")
    if not compute_uv:
        *batch, m, n = input.shape
        return SvdResult(result(np.zeros((*batch, m, m), input.dtype)), singular_values(input),
                         result(np.zeros((*batch, n, n), input.dtype)))
    u, s, vh = Svd.apply(input, full=not some)
    return SvdResult(u, s, mH(vh))


def singular_values(x: Tensor) -> Tensor:
    """The singular values of each matrix, for rules; vectors are computed only if a gradient may need them."""
    if isinstance(x, Tensor) and x.tracked:
        return thin_svd(x)[1]
    array = x.array if isinstance(x, Tensor) else x
    return result(attempt("linalg.svdvals", np.linalg.svd, array, compute_uv=False))


@casts_float32
@takes_out
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values of each matrix, in decreasing order."""
    demand_matrices("linalg.svdvals", A)
    if driver is not None:
        raise RuntimeError(f"linalg.svdvals: keyword argument `driver={driver}` is only supported on CUDA inputs with "
                           "cuSOLVER backend.")
    return singular_values(A)


__all__ = ["svd"]
METHODS = ["svd"]
