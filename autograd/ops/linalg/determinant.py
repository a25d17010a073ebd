"""Determinants, as they are and as logarithms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...base.types import Array
from ...core.batching import leading
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, Operand, TensorOrArray
from .._names import also
from ..pointwise.complex import as_complex, complex, conj, imag
from ..pointwise.exponential import log
from ..pointwise.where import where
from ..shape import mH, reshape, stack
from .matmul import matrices
from .matrices import demand_square
from .solve import Inverse
from .svd import thin_svd


class SlogDet(NamedTuple):
    """What slogdet returns."""

    sign: Tensor
    logabsdet: Tensor


class Det(Operation, name="LinalgDet"):
    """The determinant of each matrix."""

    batched = leading

    @staticmethod
    def forward(ctx: Context, x: Array) -> Array:
        out = np.asarray(np.linalg.det(x))
        ctx.save(x, out)
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """g times the conjugate cofactors: det * A^-H, or where a determinant is 0 by singular vectors."""
        x, z = ctx.values
        n = x.shape[-1]
        if n == 0:
            return 0 * x
        if (z == 0).any():
            return reshape(g, (*g.shape, 1, 1)) * cofactors(x)
        g = g * conj(z)
        return reshape(g, (*g.shape, 1, 1)) * Inverse.apply(mH(x))


def cofactors(x: Operand) -> Operand:
    """The conjugate cofactors of each matrix: for x = U S V^H, conj(det(U V^H)) U diag(products of the other s) V^H."""
    u, s, vh = thin_svd(x)
    n = s.shape[-1]
    before, after = [np.ones(s.shape[:-1], s.dtype)], [np.ones(s.shape[:-1], s.dtype)]
    for i in range(n - 1):
        before.append(before[-1] * s[..., i])
        after.append(after[-1] * s[..., n - 1 - i])
    others = stack([a * b for a, b in zip(before, after[::-1], strict=True)], -1)
    phase = conj(Det.apply(matrices(u, vh)))
    return reshape(phase, (*phase.shape, 1, 1)) * matrices(u * reshape(others, (*s.shape[:-1], 1, n)), vh)


class SignLogDet(Operation, name="LinalgSlogdet"):
    """The sign (of modulus 1, or 0) of the determinant, and the logarithm of its modulus."""

    batched = leading

    @staticmethod
    def forward(ctx: Context, x: Array) -> tuple[Array, ...]:
        sign, size = np.linalg.slogdet(x)
        sign, size = np.asarray(sign, x.dtype), np.asarray(size)
        ctx.save(x, sign)
        return sign, size

    @staticmethod
    def backward(ctx: Context, g_sign: Tensor | None, g: Tensor | None) -> Gradients:
        """d log det = tr(A^-1 dA): its real part moves the logarithm, its imaginary part turns the sign."""
        x, sign = ctx.values
        if x.dtype.kind == "c" and g_sign is not None:
            turn = imag(g_sign * conj(sign))
            g = complex(0 * turn if g is None else g, turn)
        if g is None or 0 in x.shape:
            return 0 * x
        return reshape(g, (*g.shape, 1, 1)) * Inverse.apply(mH(x))


@also(input="A")
@takes_out
def det(A: Tensor) -> Tensor:
    """The determinant of each square matrix."""
    demand_square("linalg.det", A)
    return Det.apply(A)


@also(input="A")
@takes_out
def slogdet(A: Tensor) -> SlogDet:
    """(sign, logabsdet) of each square matrix: the determinant is sign * exp(logabsdet)."""
    demand_square("linalg.slogdet", A)
    return SlogDet(*SignLogDet.apply(A))


def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant of each square matrix: nan where it is negative."""
    demand_square("logdet", input)
    sign, size = SignLogDet.apply(input)
    if input.dtype.kind == "c":
        return as_complex(size) + log(sign)
    negative = (sign.array if isinstance(sign, Tensor) else sign) == -1
    return where(negative, float("nan"), size)


__all__ = ["det", "logdet", "slogdet"]
METHODS = ["det", "logdet", "slogdet"]
