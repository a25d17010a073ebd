"""Norms: of all elements, over dimensions, of singular values; distances and rescaling by them."""

from __future__ import annotations

from typing import Any

from .._names import also
from .._out import takes_out
from ..creation.arguments import number
from ..linalg.linalg_norms import matrix_norm, vector_norm
from ..pointwise.choice import where
from .dims import Dims, dims_of, one_dim


@takes_out
def norm(input: Any, p: float | str | None = "fro", dim: Dims = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The vector norm of order p over `dim`; "fro" is 2; "nuc" is the sum of singular values of matrices."""
    if p is None or p == "fro":
        if p and isinstance(dim, (tuple, list)) and len(dim) > 2:
            raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {dim}")
        p = 2
    if p == "nuc":
        dims = dims_of(dim, input.ndim)
        return matrix_norm(input, "nuc", dims if dim is None else dim, keepdim, dtype=dtype)
    if isinstance(p, str):
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported; the orders by name are 'fro' and 'nuc'")
    return vector_norm(input, p, dim, keepdim, dtype=dtype)


@takes_out
def dist(input: Any, other: Any, p: float = 2) -> Any:
    """The p-norm of input - other, which broadcast."""
    if input.dtype.kind == "b" and other.dtype.kind == "b":
        raise RuntimeError("dist: subtraction of two bool tensors is not supported; convert with .float()")
    return vector_norm(input - other, p)


@also(axis="dim")
@takes_out
def renorm(input: Any, p: float, dim: int, maxnorm: float) -> Any:
    """Each slice of input at one place of `dim` scaled down to p-norm `maxnorm`, if its norm is larger."""
    p, maxnorm = number("renorm", "p", p), number("renorm", "maxnorm", maxnorm)
    if p <= 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported, got p={p}")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if input.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    place = one_dim(dim, input.ndim)
    size = vector_norm(input, p, [d for d in range(input.ndim) if d != place], keepdim=True)
    return input * where(size > maxnorm, maxnorm / (size + 1e-7), 1.0)


@takes_out
def frobenius_norm(input: Any, dim: Dims = None, keepdim: bool = False) -> Any:
    """The square root of the sum of squares over `dim`."""
    return vector_norm(input, 2, dim, keepdim)


@takes_out
def nuclear_norm(input: Any, dim: Any = (-2, -1), keepdim: bool = False) -> Any:
    """The sum of the singular values of each matrix."""
    return matrix_norm(input, "nuc", dim, keepdim)


__all__ = ["dist", "frobenius_norm", "norm", "nuclear_norm", "renorm"]
METHODS = ["dist", "norm", "renorm"]
IN_PLACE = ["renorm"]
