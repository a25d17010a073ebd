"""Distances: of vectors (pairwise_distance, cosine_similarity), and of all pairs of rows (cdist, pdist)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import promote
from ...base.types import Dims
from ...core.batching import leading
from ...core.casting import casts_float32
from ...core.operation import Operation
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels.memory_format import in_rows
from ...kernels.norms import exact, power_of_two
from .._pointwise import lifted
from ..creation.arguments import number
from ..index import getitem
from ..pointwise.cast import cast
from ..pointwise.where import where
from ..reductions.dims import dims_of
from ..reductions.reduce import sum
from ..shape import expand, mT, reshape, unsqueeze
from .matmul import matrices
from .norms import VectorNorm, vector_norm


def p_norm(x: Tensor, p: float, dim: Dims, keepdim: bool = False) -> Tensor:
    """The p-norm along dim."""
    return VectorNorm.apply(x, ord=float(p), dims=dims_of(dim, x.ndim), keepdim=keepdim)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension."""
    difference = x1 - x2 + eps
    return p_norm(difference, p, -1, keepdim) if difference.ndim else p_norm(reshape(difference, (1,)), p, -1, keepdim)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) along dim; the gradient is that of the quotient without max."""
    dtype, eps = promote(x1.dtype, x2.dtype), number("cosine_similarity", "eps", eps)
    if dtype.kind not in "fcV":
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {dtype}")
    x1, x2 = cast(x1, dtype), cast(x2, dtype)
    if x1.shape != x2.shape:
        try:
            shape = np.broadcast_shapes(x1.shape, x2.shape)
        except ValueError:
            raise RuntimeError(f"cosine_similarity: shapes {list(x1.shape)} and {list(x2.shape)} do not broadcast") from None
        x1, x2 = expand(x1, shape), expand(x2, shape)
    return sum(_unit(x1, dim, eps) * _unit(x2, dim, eps), dim)


def _unit(x: Tensor, dim: int, eps: float) -> Tensor:
    length = p_norm(x, 2, dim, True)
    return x / lifted(length, eps)


MANY = 25                                            # rows from which on PyTorch too computes Euclid's by a product
MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


class EuclideanDist(Operation):
    """Distances by |x|^2 + |y|^2 - 2 x.y: as much memory as the result, not as all differences."""

    batched = leading

    mixes = True

    @staticmethod
    def forward(ctx: Context, x: Any, y: Any) -> Any:
        """Rounding may go below 0. Rows near the ends of the range are divided by a power of two."""
        scale = np.ones((), x.dtype)
        a, b = x, y
        if not exact(np.maximum((x * x).sum(-1).max(), (y * y).sum(-1).max())):
            scale = power_of_two(np.maximum(np.abs(x).max(), np.abs(y).max()))
            a, b = x / scale, y / scale
        square = (a * a).sum(-1)[..., :, None] + (b * b).sum(-1)[..., None, :] - 2 * (a @ np.swapaxes(b, -1, -2))
        out = in_rows(np.sqrt(np.maximum(square, 0)) * scale)
        ctx.save(x, y, out)
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """Along the line between the two; 0 at distance 0."""
        x, y, z = ctx.values
        ratio = where(z == 0, 0.0, g / z)
        gx = x * sum(ratio, -1, keepdim=True) - matrices(ratio, y) if ctx.needs(0) else None
        ratio = mT(ratio)
        return gx, y * sum(ratio, -1, keepdim=True) - matrices(ratio, x) if ctx.needs(1) else None


@casts_float32
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = MODES[0]) -> Tensor:
    """The p-norm distance of each row of x1 (..., n, d) from each row of x2 (..., m, d): (..., n, m)."""
    if compute_mode not in MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode; it is one of {', '.join(MODES)}")
    for name, x in (("X1", x1), ("X2", x2)):
        if x.dtype.kind not in "fV":
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {x.dtype}")
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    if p < 0:
        raise RuntimeError(f"cdist only supports non-negative p values, got {p}")
    if x1.dtype != x2.dtype:
        dtype = promote(x1.dtype, x2.dtype)
        x1, x2 = cast(x1, dtype), cast(x2, dtype)
    many = compute_mode != MODES[2] and (compute_mode == MODES[1] or max(x1.shape[-2], x2.shape[-2]) > MANY)
    if p == 2 and many and x1.array.size and x2.array.size:
        return EuclideanDist.apply(x1, x2)
    return _norm_of_last(unsqueeze(x1, -2) - unsqueeze(x2, -3), p)


def _norm_of_last(difference: Tensor, p: float) -> Tensor:
    """The p-norm over the last dimension; 0 where that has no elements."""
    if difference.shape[-1] == 0:
        return sum(difference, -1)
    return vector_norm(difference, p, -1)


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distances of all pairs of rows of a matrix, (0, 1), (0, 2), ..., (1, 2), ...: a vector."""
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if input.dtype.kind not in "fV":
        raise RuntimeError(f"pdist only supports floating-point dtypes, got {input.dtype}")
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values, got {p}")
    i, j = np.triu_indices(len(input), 1)
    return _norm_of_last(getitem(input, i) - getitem(input, j), p)

__all__ = ["cdist", "cosine_similarity", "pairwise_distance", "pdist"]
