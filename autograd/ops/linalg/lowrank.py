"""The largest singular values and their vectors, by random projections (N. Halko, P. Martinsson and J. Tropp, Finding
Structure with Randomness, SIAM Review 53 (2011), algorithms 4.4 and 5.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ..random.draw import randn
from ..reductions.reduce import mean
from ..shape import mH
from .matmul import matrices
from .matrices import demand_matrices
from .qr import Qr
from .svd import thin_svd


def _range_of(a: Tensor, q: int, niter: int) -> Tensor:
    """Orthonormal columns that span nearly what a's first q left singular vectors span."""
    start = randn(a.shape[-1], q, dtype=np.abs(np.zeros(0, a.dtype)).dtype).to(a.dtype)
    basis = _orthonormal(matrices(a, start))
    for _ in range(niter):
        basis = _orthonormal(matrices(a, _orthonormal(matrices(mH(a), basis))))
    return basis


def _orthonormal(a: Tensor) -> Tensor:
    return Qr.apply(a, mode="reduced")[0]


def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Any = None) -> tuple[Any, Any, Any]:
    """(U, S, V) with A - M nearly U @ diag(S) @ V^H, of rank q; `niter` rounds make it more exact."""
    demand_matrices("svd_lowrank", A)
    a = A if M is None else A - M
    q, rounds = 6 if q is None else q, 2 if niter is None else niter
    if not 0 <= q <= min(a.shape[-2:]):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(a.shape[-2:])}")
    if rounds < 0:
        raise ValueError(f"niter(={rounds}) must be non-negative integer")
    wide = a.shape[-2] < a.shape[-1]
    a = mH(a) if wide else a
    basis = _range_of(a, q, rounds)
    u, s, vh = thin_svd(matrices(mH(basis), a))
    u, v = matrices(basis, u), mH(vh)
    return (v, s, u) if wide else (u, s, v)


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Any, Any, Any]:
    """svd_lowrank of A with the mean of its rows taken off: the first q principal components are the columns of V."""
    demand_matrices("pca_lowrank", A)
    q = min(6, *A.shape[-2:]) if q is None else q
    return svd_lowrank(A - mean(A, -2, keepdim=True) if center else A, q, niter)


__all__ = ["pca_lowrank", "svd_lowrank"]
