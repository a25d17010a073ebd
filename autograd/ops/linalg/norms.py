"""Norms of vectors and matrices, the condition number; distance and rescaling by norms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.types import Array, DTypeLike
from ...core.batching import along
from ...core.casting import casts_float32
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor, result
from ...core.types import Context, Gradients, Operand, TensorOrArray, TensorOrNumber
from ...kernels.halves import converted
from ...kernels.memory_format import in_rows
from ...kernels.norms import norm as norm_kernel
from ...kernels.norms import power_of_two
from .._names import also
from ..creation.arguments import number
from ..pointwise.arithmetic import div, mul
from ..pointwise.cast import cast
from ..pointwise.powers import pow
from ..pointwise.sign import abs, sign
from ..pointwise.where import where
from ..reductions.dims import Dims, count, dims_of, keepdim_shape, one_dim
from ..reductions.extremes import amax, amin
from ..reductions.reduce import sum
from ..shape import permute, reshape, wrap_dim
from .matrices import LinAlgError, array_of, demand_square
from .solve import inv
from .svd import singular_values


class VectorNorm(Operation, name="LinalgVectorNorm"):
    """The p-norm over dims."""

    batched = along("dims")

    @staticmethod
    def forward(ctx: Context, x: Array, *, ord: float, dims: tuple[int, ...], keepdim: bool) -> Array:
        """kernels.norms.norm(), rounded to x's real dtype."""
        out = in_rows(converted(np.asarray(norm_kernel(x, ord, dims, keepdim)), x.real.dtype, copy=False))
        ctx.save(x, out)
        ctx.ord, ctx.dims = ord, dims
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """g x |x|^(p-2) / norm^(p-1), 0 where the norm is 0; equal extremes share the gradient of the infinite norms."""
        x, z = ctx.values
        shape = keepdim_shape(x.shape, ctx.dims)
        return norm_gradient(x, reshape(z, shape), reshape(g, shape), ctx.ord, ctx.dims)


def norm_gradient(x: TensorOrArray, z: TensorOrArray, g: TensorOrArray, ord: float, dims: tuple[int, ...]) -> Any:
    """The gradient of the p-norm z of x; z and g broadcast against x."""
    if ord == 0:
        return where(np.zeros((), bool), x, 0.0)
    if ord == 1:
        return g * direction(x)
    if ord == 2:
        return g * safe_ratio(x, z)
    size = abs(x)
    if math.isinf(ord):
        chosen = cast(array_of(size) == array_of(z), z.dtype)
        return direction(x) * (chosen * (g / np.sum(array_of(chosen), axis=dims, keepdims=True)))
    scale = power_of_two(array_of(z))                # a constant that cancels: powers of x and of z stay in range
    size, z = size / scale, z / scale
    if ord < 1:
        return direction(x) * where(size == 0, 0.0, pow(size, ord - 1)) * g * pow(z, 1 - ord)
    share = g * where(z == 0, 0.0, pow(where(z == 0, 1.0, z), 1 - ord))
    if ord < 2:
        return direction(x) * pow(size, ord - 1) * share
    return x / scale * pow(size, ord - 2) * share


def safe_ratio(x: TensorOrArray, z: TensorOrArray) -> Any:
    """x / z, 0 where z is 0; its own derivative is nan there, as PyTorch's."""
    return x / z if type(z) is np.ndarray and z.all() else where(z == 0, 0.0, x / z)


def direction(x: Operand) -> Operand:
    """x / |x|, 0 at 0; the sign of real numbers."""
    if x.dtype.kind != "c":
        return sign(x)
    size = abs(x)
    return where(size == 0, 0.0, x / where(size == 0, 1.0, size))


def _norm_dtype(name: str, x: Tensor, dtype: DTypeLike) -> Tensor:
    """x in `dtype`, checked."""
    if x.dtype.kind not in "fcV":
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {x.dtype}")
    if dtype is None:
        return x
    dtype = np.dtype(dtype)
    if dtype.kind not in "fcV" or (dtype.kind == "c") != (x.dtype.kind == "c"):
        raise RuntimeError(f"{name}: dtype should be {'complex' if x.dtype.kind == 'c' else 'floating point'} for an "
                           "input of "
                           f"{x.dtype}, but got {dtype}")
    if not np.can_cast(x.dtype, dtype):
        raise RuntimeError(f"{name}: the dtype of the input ({x.dtype}) should be convertible without narrowing to the "
                           f"specified dtype ({dtype})")
    return cast(x, dtype)


@takes_out
def vector_norm(x: Tensor, ord: TensorOrNumber = 2, dim: Dims = None, keepdim: bool = False, *,
                dtype: DTypeLike = None) -> Tensor:
    """(sum of |x|^ord)^(1/ord) over `dim`, or over all; for ord 0 the number of elements that are not 0, for inf and -inf
    the largest and smallest |x|."""
    x = _norm_dtype("linalg.vector_norm", x, dtype)
    ord = number("linalg.vector_norm", "ord", ord) if isinstance(ord, Tensor) else ord
    if isinstance(ord, complex) or not isinstance(ord, (int, float)):
        raise RuntimeError(f"linalg.vector_norm: Expected a non-complex scalar as the order of norm, not {ord!r}")
    dims = dims_of(dim, x.ndim)
    if (ord < 0 or ord == math.inf) and count(x.shape, dims) == 0:
        raise RuntimeError(f"linalg.vector_norm cannot compute the {ord} norm on an empty dimension because the "
                           "operation does "
                           f"not have an identity; the shape is {list(x.shape)}, dim {dim}")
    return VectorNorm.apply(x, ord=float(ord), dims=dims, keepdim=keepdim)


def _matrix_dims(x: Tensor, dim: Sequence[int]) -> tuple[int, int]:
    if x.ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions, its shape is "
                           f"{list(x.shape)}.")
    if not isinstance(dim, (tuple, list)) or len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {dim}")
    first, second = (wrap_dim(d, x.ndim) for d in dim)
    if first == second:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got {tuple(dim)}")
    return first, second


@takes_out
def matrix_norm(A: Tensor, ord: str | float = "fro", dim: Any = (-2, -1), keepdim: bool = False, *,
                dtype: DTypeLike = None) -> Tensor:
    """The norm of each matrix: "fro" (of all elements as one vector), "nuc" (the sum of the singular values), 2 and -2 (the
    largest and smallest), 1 and -1 (the largest and smallest sum of a column), inf and -inf (of a row)."""
    first, second = _matrix_dims(A, dim)
    A = _norm_dtype("linalg.matrix_norm", A, dtype)
    if ord == "fro":
        return vector_norm(A, 2, (first, second), keepdim)
    if ord in ("nuc", 2, -2):
        if A.dtype == np.float16:
            raise RuntimeError(f"linalg.svd: Low precision dtypes not supported. Got {A.dtype}")
        others = [d for d in range(A.ndim) if d not in (first, second)]
        values = singular_values(permute(A, *others, first, second))
        if ord == "nuc":
            out = sum(values, -1)
        else:
            out = _extreme_of(values, -1, ord)
        return reshape(out, keepdim_shape(A.shape, (first, second))) if keepdim else out
    if isinstance(ord, str):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported; use 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2")
    if ord not in (1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if math.isinf(ord):
        first, second = second, first
    sums = vector_norm(A, 1, first, True)
    out = _extreme_of(sums, second, ord, keepdim=True)
    return out if keepdim else reshape(out, tuple(n for d, n in enumerate(A.shape) if d not in (first, second)))


def _extreme_of(values: Tensor, dim: int, ord: Any, keepdim: bool = False) -> Tensor:
    if values.shape[dim] == 0 and ord > 0:
        return sum(values, dim, keepdim)             # 0, as PyTorch: the largest of no numbers that are 0 or more
    if values.shape[dim] == 0:
        raise RuntimeError(f"linalg.matrix_norm: the norm of order {ord} of matrices without elements is not defined")
    return (amax if ord > 0 else amin)(values, dim, keepdim)


@takes_out
def linalg_norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: DTypeLike = None) -> Tensor:
    """vector_norm, or matrix_norm where `dim` names two dimensions, or A is a matrix and ord is given."""
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    dims = (dim,) if isinstance(dim, int) else dim
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    if dims is None and A.ndim not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndim}D.")
    if isinstance(ord, str) and dims is not None and len(dims) != 2:
        raise RuntimeError(f"linalg.norm: the order {ord!r} is one of matrices; dim must name two dimensions, not "
                           f"{list(dims)}")
    if (len(dims) if dims is not None else A.ndim) == 2:
        return matrix_norm(A, ord, (0, 1) if dims is None else dims, keepdim, dtype=dtype)
    if isinstance(ord, str):
        raise RuntimeError(f"linalg.norm: The input tensor A must have at least 2 dimensions for ord={ord!r}, not {A.ndim}")
    return vector_norm(A, ord, dims, keepdim, dtype=dtype)


@casts_float32
@takes_out
def cond(A: Tensor, p: Any = None) -> Tensor:
    """The norm of each matrix times that of its inverse; for p None, 2 and -2 the ratio of its extreme singular values.
    inf for singular ones."""
    if A.ndim < 2:
        raise RuntimeError(f"linalg.cond: The input tensor must have at least 2 dimensions, its shape is {list(A.shape)}.")
    if p in (None, 2, -2):
        _norm_dtype("linalg.cond", A, None)
        if 0 in A.shape[-2:]:
            return result(np.zeros(A.shape[:-2], np.abs(A.array[:0]).dtype))
        values = singular_values(A)
        large, small = values[..., 0], values[..., -1]
        return div(small, large) if p == -2 else div(large, small)
    if p not in ("fro", "nuc", 1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    demand_square("linalg.cond", A)
    if 0 in A.shape[-2:]:
        return result(np.zeros(A.shape[:-2], np.abs(A.array[:0]).dtype))
    try:
        inverse = inv(A)
    except LinAlgError:
        return _cond_of_some(A, p)
    return mul(matrix_norm(A, p), matrix_norm(inverse, p))


def _cond_of_some(A: Tensor, p: Any) -> Tensor:
    """inf for the singular matrices of a stack, the condition of the others."""
    singular = np.linalg.matrix_rank(array_of(A)) < A.shape[-1]
    safe = where(singular[..., None, None], np.eye(A.shape[-1], dtype=A.dtype), A)
    return where(singular, math.inf, mul(matrix_norm(safe, p), matrix_norm(inv(safe), p)))


@takes_out
def norm(input: Tensor, p: float | str | None = "fro", dim: Dims = None, keepdim: bool = False,
         dtype: DTypeLike = None) -> Tensor:
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
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of input - other, which broadcast."""
    if input.dtype.kind == "b" and other.dtype.kind == "b":
        raise RuntimeError("dist: subtraction of two bool tensors is not supported; convert with .float()")
    return vector_norm(input - other, p)


@also(axis="dim")
@takes_out
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Each slice of input at one place of `dim` scaled down to p-norm `maxnorm`, if its norm is larger."""
    p, maxnorm = number("renorm", "p", p), number("renorm", "maxnorm", maxnorm)
    if p <= 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported, got p={p}")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if input.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    place = one_dim(dim, input.ndim)
    wide = cast(input, np.float32) if input.dtype.itemsize == 2 else input
    size = vector_norm(wide, p, [d for d in range(input.ndim) if d != place], keepdim=True)
    return cast(wide * where(size > maxnorm, maxnorm / (size + 1e-7), 1.0), input.dtype)


@takes_out
def frobenius_norm(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """The square root of the sum of squares over `dim`."""
    return vector_norm(input, 2, dim, keepdim)


@takes_out
def nuclear_norm(input: Tensor, dim: Sequence[int] = (-2, -1), keepdim: bool = False) -> Tensor:
    """The sum of the singular values of each matrix."""
    return matrix_norm(input, "nuc", dim, keepdim)

__all__ = ["dist", "frobenius_norm", "norm", "nuclear_norm", "renorm"]
METHODS = ["dist", "norm", "renorm"]
IN_PLACE = ["renorm"]
