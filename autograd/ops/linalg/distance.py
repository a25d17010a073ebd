"""How far vectors are apart: p-norms, pairwise distance, cosine similarity."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import promote
from ...core.traced import again, tracers
from ..creation.arguments import number
from ..pointwise.cast import cast
from ..reductions.dims import dims_of
from ..reductions.reduce import sum
from ..shape import expand, reshape
from .linalg_norms import VectorNorm


def p_norm(x: Any, p: float, dim: Any, keepdim: bool = False) -> Any:
    """The p-norm along dim."""
    return VectorNorm.apply(x, ord=float(p), dims=dims_of(dim, x.ndim), keepdim=keepdim)


def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The p-norm of x1 - x2 + eps along the last dimension."""
    difference = x1 - x2 + eps
    return p_norm(difference, p, -1, keepdim) if difference.ndim else p_norm(reshape(difference, (1,)), p, -1, keepdim)


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
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


def _unit(x: Any, dim: int, eps: float) -> Any:
    length = p_norm(x, 2, dim, True)
    lift = again(_up_to, eps, length.array)
    return x / (length + lift if tracers or lift.any() else length)


def _up_to(eps: float, x: Any) -> Any:
    """What is missing up to eps."""
    return np.maximum(eps - x, 0)


__all__ = ["cosine_similarity", "pairwise_distance"]
METHODS: list[str] = []
