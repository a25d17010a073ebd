"""Norms: of all elements, over dimensions, of singular values; distances and rescaling by them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import float16, float32
from ._declare import Operation
from ._out import takes_out
from .dims import Dims, dims_of, kept, nonempty, one_dim
from .elementwise import abs as absolute
from .elementwise import cast, pow, sign, where
from .reduce import accumulate, sum
from .shape import permute, reshape

INF = float("inf")
largest: Any = np.maximum.reduce
smallest: Any = np.minimum.reduce


def vector_norm_array(x: Any, p: float, dims: tuple[int, ...], keepdim: bool) -> Any:
    """(sum of |x|^p)^(1/p) of an array; p infinite: the largest or smallest |x|; p = 0: how many are not 0."""
    a = x.astype(float32) if x.dtype is float16 else x
    if p == 2 and a.dtype.kind == "f":
        out = np.sqrt(accumulate(a * a, axis=dims, keepdims=keepdim))
    elif p == 0:
        out = np.count_nonzero(a, axis=dims, keepdims=keepdim)
    else:
        a = np.abs(a)
        if abs(p) == INF:
            out = largest(a, axis=dims, keepdims=keepdim) if p > 0 else smallest(a, axis=dims, keepdims=keepdim)
        else:
            out = accumulate(a if p == 1 else a ** p, axis=dims, keepdims=keepdim)
            out = out if p == 1 else out ** (1 / p)
    return np.asarray(out, x.dtype)


class VectorNorm(Operation, name="LinalgVectorNorm"):
    """The p-norm over dims."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, p: float, dims: tuple[int, ...], keepdim: bool) -> Any:
        """On the array."""
        out = vector_norm_array(x, p, dims, keepdim)
        ctx.save(x, out)
        ctx.p, ctx.dims = p, dims
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """g sign(x) (|x| / z)^(p - 1), 0 where x or z is 0; at p infinite equal parts for the extreme ones."""
        x, z = ctx.values
        p, shape = ctx.p, kept(x.shape, ctx.dims)
        g, z = reshape(g, shape), reshape(z, shape)
        if p == 0:
            return g * (0 * x)
        if p == 1:
            return g * sign(x)
        if p == 2:
            return g * where(z == 0, 0.0, x / z)
        if abs(p) == INF:
            chosen = cast(absolute(x) == z, x.dtype)
            return sign(x) * (g / sum(chosen, ctx.dims, keepdim=True)) * chosen
        if p < 1:
            return sign(x) * where(x == 0, 0.0, pow(absolute(x), p - 1)) * g * pow(z, 1 - p)
        if p < 2:
            return sign(x) * pow(absolute(x), p - 1) * where(z == 0, 0.0, g / pow(z, p - 1))
        return x * pow(absolute(x), p - 2) * where(z == 0, 0.0, g / pow(z, p - 1))


def vector_norm(x: Any, ord: float = 2, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The vector norm of order `ord` over `dim`, of all elements by default: (sum of |x|^ord)^(1 / ord)."""
    if dtype is not None:
        if np.dtype(dtype).kind not in "fc":
            raise RuntimeError(f"linalg.vector_norm: dtype should be floating point or complex, but got {dtype}")
        x = cast(x, dtype)
    if x.dtype.kind not in "fc":
        raise RuntimeError(f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {x.dtype}; "
                           "convert with .float()")
    dims = dims_of(dim, x.ndim)
    if x.size == 0 if isinstance(x, np.ndarray) else x.array.size == 0:
        _norm_of_nothing(x, ord, dims)
    return VectorNorm.apply(x, p=float(ord), dims=dims, keepdim=keepdim)


def _norm_of_nothing(x: Any, ord: float, dims: tuple[int, ...]) -> None:
    """A norm without an identity needs elements."""
    if ord < 0 or ord == INF:
        try:
            nonempty(x.shape, dims, "linalg.vector_norm")
        except IndexError:
            raise RuntimeError(f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor of shape "
                               f"{list(x.shape)} because the operation does not have an identity") from None


# --- the nuclear norm ------------------------------------------------------------------------------------------------

class Nuclear(Operation, name="LinalgMatrixNorm"):
    """The sum of the singular values of matrices (..., n, m)."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        """By NumPy's decomposition."""
        ctx.save(x)
        return np.asarray(np.linalg.svd(x, compute_uv=False).sum(-1), x.dtype)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """g times the orthogonal factor U V^T."""
        (x,) = ctx.values
        return reshape(g, (*g.shape, 1, 1)) * Polar.apply(x)


class Polar(Operation):
    """U V^T of the singular value decomposition U S V^T: the orthogonal factor of a matrix."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        """By NumPy's decomposition."""
        ctx.save(x)
        u, _, vt = np.linalg.svd(x, full_matrices=False)
        return u @ vt

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The derivative is its own adjoint: the second derivative of the nuclear norm."""
        (x,) = ctx.values
        return PolarChange.apply(x, g)


class PolarChange(Operation):
    """How U V^T changes with x in the direction g; linear in g, symmetric. Differentiable in g only.

    With C = U^T g V: U ((C - C^T) / (s_i + s_j)) V^T, and what g has outside of the spaces of U and of V, over s.
    """

    @staticmethod
    def forward(ctx: Any, x: Any, g: Any) -> Any:
        """By NumPy's decomposition."""
        ctx.save(x)
        u, s, vt = np.linalg.svd(x, full_matrices=False)
        ut, v = np.swapaxes(u, -1, -2), np.swapaxes(vt, -1, -2)
        core = ut @ g @ v
        total = s[..., :, None] + s[..., None, :]
        turn = u @ ((core - np.swapaxes(core, -1, -2)) / total) @ vt
        over = v / s[..., None, :] @ vt
        left = (g - u @ (ut @ g)) @ over
        right = (u / s[..., None, :]) @ ut @ (g - (g @ v) @ vt)
        return turn + left + right

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The same map of the gradient."""
        if ctx.needs(0):
            raise NotImplementedError("third derivatives of the nuclear norm are not implemented")
        (x,) = ctx.values
        return None, PolarChange.apply(x, g)


def nuclear_norm(x: Any, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum of the singular values of the matrices in two dimensions of x."""
    if dtype is not None:
        x = cast(x, dtype)
    dims = dims_of(dim, x.ndim)
    if len(dims) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {dim if dim is not None else list(dims)}")
    if x.dtype.kind not in "fc":
        raise RuntimeError(f"linalg.matrix_norm: Expected a floating point or complex tensor as input. Got {x.dtype}")
    rest = [i for i in range(x.ndim) if i not in dims]
    out = Nuclear.apply(permute(x, (*rest, *dims)))
    return reshape(out, kept(x.shape, dims)) if keepdim else out


# --- PyTorch's names -------------------------------------------------------------------------------------------------

@takes_out
def norm(input: Any, p: float | str | None = "fro", dim: Dims = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The vector norm of order p over `dim`; "fro" is 2; "nuc" is the sum of singular values of matrices."""
    if p is None or p == "fro":
        if p and isinstance(dim, (tuple, list)) and len(dim) > 2:
            raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {dim}")
        p = 2
    if p == "nuc":
        return nuclear_norm(input, dim, keepdim, dtype=dtype)
    if isinstance(p, str):
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported; the orders by name are 'fro' and 'nuc'")
    return vector_norm(input, p, dim, keepdim, dtype=dtype)


@takes_out
def dist(input: Any, other: Any, p: float = 2) -> Any:
    """The p-norm of input - other, which broadcast."""
    if input.dtype.kind == "b" and other.dtype.kind == "b":
        raise RuntimeError("dist: subtraction of two bool tensors is not supported; convert with .float()")
    return vector_norm(input - other, p)


@takes_out
def renorm(input: Any, p: float, dim: int, maxnorm: float) -> Any:
    """Each slice of input at one place of `dim` scaled down to p-norm `maxnorm`, if its norm is larger."""
    if p <= 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported, got p={p}")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if input.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    place = one_dim(dim, input.ndim)
    size = vector_norm(input, p, [d for d in range(input.ndim) if d != place], keepdim=True)
    return input * where(size > maxnorm, maxnorm / (size + 1e-7), 1.0)


__all__ = ["dist", "norm", "renorm"]
METHODS = ["dist", "norm", "renorm"]
IN_PLACE = ["renorm"]
