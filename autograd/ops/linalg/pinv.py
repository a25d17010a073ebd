"""Pseudoinverse, rank, least squares: what depends on which singular values count as zero."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...base.dtypes import finfo
from ...base.types import Array
from ...core.casting import casting, casts_float32, lower
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor, result
from ...core.types import Context, Gradients, TensorOrArray, TensorOrNumber
from ..pointwise.complex import conj, real
from ..reductions.reduce import sum
from ..shape import mH, narrow, reshape, squeeze, unsqueeze
from .matmul import matrices
from .matrices import array_of, attempt, demand_matrices, demand_same_dtype, demand_square


class Lstsq(NamedTuple):
    """What lstsq returns."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


def tolerance(name: str, x: Array, largest: Array, atol: Any, rtol: Any) -> Array:
    """The singular values up to which count as zero: max(atol, rtol * largest); rtol is eps * max(m, n) unless atol is
    given."""
    for value in (atol, rtol):
        if isinstance(value, Tensor) and value.dtype.kind == "c":
            raise RuntimeError(f"{name}: atol and rtol tensors of complex type are not supported, got {value.dtype}")
    given = atol is not None
    atol = array_of(0.0 if atol is None else atol)
    if rtol is None:
        default = finfo(x.dtype).eps * max(x.shape[-2:])
        rtol = np.where(np.asarray(atol) > 0, 0.0, default) if given else default
    return np.maximum(atol, np.asarray(array_of(rtol)) * largest)


def sizes_of(name: str, x: Array, hermitian: bool) -> Array:
    """The singular values of arrays, or the moduli of a Hermitian matrix's eigenvalues."""
    if hermitian:
        return np.abs(attempt(name, np.linalg.eigvalsh, x))
    return attempt(name, np.linalg.svd, x, compute_uv=False)


class Pinv(Operation, name="LinalgPinv"):
    """The pseudoinverse, of constant rank near A."""

    @staticmethod
    def forward(ctx: Context, x: Array, *, atol: Any, rtol: TensorOrNumber | None, hermitian: bool) -> Array:
        """V diag(1/s where s is large enough) U^H."""
        if 0 in x.shape:
            out = np.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
        else:
            if hermitian:
                s, u = attempt("linalg.pinv", np.linalg.eigh, x)
                vh = np.conj(np.swapaxes(u, -1, -2))
            else:
                u, s, vh = attempt("linalg.pinv", np.linalg.svd, x, full_matrices=False)
            size = np.abs(s)
            zero = size <= np.asarray(tolerance("linalg.pinv", x, size.max(-1), atol, rtol))[..., None]
            inverses = np.where(zero, 0, 1 / np.where(zero, 1, s)).astype(s.dtype)
            out = np.matmul(np.conj(np.swapaxes(vh, -1, -2)) * inverses[..., None, :], np.conj(np.swapaxes(u, -1, -2)))
        ctx.save(x, out)
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The adjoint of dP = -P dA P + P P^H dA^H (1 - A P) + (1 - P A) dA^H P^H P (G. Golub and V. Pereyra, SIAM J. Numer.
        Anal. 10 (1973), eq. 4.12)."""
        x, p = ctx.values
        ph, gh = mH(p), mH(g)
        a = matrices(matrices(gh, p), ph)            # g^H P P^H
        b = matrices(matrices(ph, p), gh)            # P^H P g^H
        return a - matrices(x, matrices(p, a)) + b - matrices(matrices(b, p), x) - matrices(matrices(ph, g), ph)


def pinv_of(x: Tensor, atol: Any = None, rtol: TensorOrNumber | None = None, hermitian: bool = False) -> Tensor:
    """The pseudoinverse, for rules: no checks."""
    return Pinv.apply(x, atol=atol, rtol=rtol, hermitian=hermitian)


@takes_out
def pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None,
         rtol: TensorOrNumber | None = None) -> Tensor:
    """The pseudoinverse of each matrix; singular values up to max(atol, rtol * the largest) count as zero."""
    (demand_square if hermitian else demand_matrices)("linalg.pinv", A)
    out = pinv_of(A, atol, rcond if rtol is None else rtol, hermitian)
    return lower(out)[0] if casting.used else out         # PyTorch's last step is a matrix product


@casts_float32
@takes_out
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """linalg.pinv with rtol=rcond."""
    demand_matrices("linalg.pinv", input)
    return pinv_of(input, None, rcond)


@casts_float32
@takes_out
def matrix_rank(A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """How many singular values of each matrix are larger than max(atol, rtol * the largest)."""
    (demand_square if hermitian else demand_matrices)("linalg.matrix_rank", A, "input")
    x = array_of(A)
    if 0 in x.shape[-2:]:
        return result(np.zeros(x.shape[:-2], np.int64))
    sizes = sizes_of("linalg.matrix_rank", x, hermitian)
    if tol is not None:
        atol, rtol = tol, 0.0
    limit = np.asarray(tolerance("linalg.matrix_rank", x, sizes.max(-1), atol, rtol))
    return result(np.asarray((sizes > limit[..., None]).sum(-1, dtype=np.int64)))


DRIVERS = (None, "gels", "gelsy", "gelsd", "gelss")


@casts_float32
@takes_out
def lstsq(A: Tensor, B: Tensor, rcond: Any = None, *, driver: str | None = None) -> Lstsq:
    """(solution, residuals, rank, singular_values): the X of least norm with the least |A X - B|.

    Singular values of at most rcond times the largest count as zero; "gels" ignores rcond, as LAPACK does. The derivative
    takes what is dropped for zero. residuals are the squared sums, where A has full rank and more rows than columns, unless
    the driver is "gelsy"; rank is empty for the driver "gels", singular_values but for "gelsd" and "gelss"."""
    demand_matrices("linalg.lstsq", A)
    demand_same_dtype("linalg.lstsq", A, B)
    if driver not in DRIVERS:
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), not "
                           f"{driver}")
    if B.ndim < 1:
        raise RuntimeError("torch.linalg.lstsq: input B must have at least 1 dimension, its shape is []")
    vectors = B.ndim == A.ndim - 1 and B.shape == A.shape[:-1]
    b = unsqueeze(B, -1) if vectors else B
    if b.ndim < 2 or b.shape[-2] != A.shape[-2]:
        raise RuntimeError(f"torch.linalg.lstsq: A.size(-2) should match B.size({'-1' if vectors else '-2'}); the "
                           "shapes are "
                           f"{list(A.shape)} and {list(B.shape)}")
    try:
        batch = np.broadcast_shapes(A.shape[:-2], b.shape[:-2])
    except ValueError:
        raise RuntimeError(f"linalg.lstsq: batch dimensions of {list(A.shape)} and {list(B.shape)} do not "
                           "broadcast") from None
    rcond = _cutoff(rcond, driver, A.dtype)
    x = matrices(Pinv.apply(A, atol=None, rtol=rcond, hermitian=False), b)
    rank, sizes = _rank(array_of(A), rcond, batch)
    m, n = A.shape[-2:]
    residuals: Any = reshape(narrow(real(x), 0, 0, 0), 0)
    if m > n and driver not in (None, "gelsy") and (driver == "gels" or (rank == n).all()):
        misfit = matrices(A, x) - b
        residuals = sum(real(misfit * conj(misfit)), -2)
    none = np.zeros(0, sizes.dtype)
    return Lstsq(squeeze(x, -1) if vectors else x, residuals,
                 result(np.zeros(0, np.int64) if driver == "gels" else rank),
                 result(sizes if driver in ("gelsd", "gelss") else none))


def _cutoff(rcond: Any, driver: str | None, dtype: Any) -> float | None:
    """rcond as the driver's LAPACK routine reads it; None: the default, eps * max(m, n)."""
    if isinstance(rcond, Tensor):
        rcond = rcond.item()
    if rcond is not None and not isinstance(rcond, (int, float, np.number)):
        raise TypeError(f"linalg_lstsq(): argument 'rcond' must be float, not {type(rcond).__name__}")
    if rcond is None or driver == "gels":
        return None
    if (driver == "gelsd" and not 0 < rcond < 1) or (driver == "gelss" and rcond < 0):
        return float(finfo(dtype).eps)               # machine precision: LAPACK's dlalsd, dgelss
    return float(rcond)


def _rank(x: Array, rcond: Any, batch: tuple[int, ...]) -> tuple[Any, Any]:
    """The rank of each matrix, and its singular values."""
    k = min(x.shape[-2:])
    if k == 0:
        return np.zeros(x.shape[:-2], np.int64), np.zeros((*x.shape[:-2], 0), np.abs(x).dtype)
    sizes = sizes_of("linalg.lstsq", x, False)
    limit = np.asarray(tolerance("linalg.lstsq", x, sizes.max(-1), None, rcond))
    return np.asarray((sizes > limit[..., None]).sum(-1, dtype=np.int64)), sizes


__all__ = ["pinverse"]
METHODS = ["pinverse"]
