"""How far vectors are apart: p-norms, pairwise distance, cosine similarity."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import promote
from ._declare import Operation
from .cast import cast
from .choice import where
from .powers import pow
from .reduce import dims_of, kept, sum
from .shape import expand, reshape
from .sign import abs as absolute
from .sign import sign

add_up: Any = np.add.reduce
largest: Any = np.maximum.reduce
smallest: Any = np.minimum.reduce


class PNorm(Operation, name="LinalgVectorNorm"):
    """(sum |x|^p)^(1/p) over dims."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, p: float, dims: tuple[int, ...], keepdim: bool) -> Any:
        """The largest or smallest |x| for infinite p, the number of those that are not 0 for p = 0."""
        ctx.shape, ctx.given = x.shape, (p, dims)
        size = np.abs(x)
        if math.isinf(p):
            out = (largest if p > 0 else smallest)(size, axis=dims, keepdims=keepdim)
        elif p == 0:
            out = add_up(size != 0, axis=dims, keepdims=keepdim, dtype=size.dtype)
        elif p == 1:
            out = add_up(size, axis=dims, keepdims=keepdim)
        elif p == 2:
            out = np.sqrt(add_up(size * size, axis=dims, keepdims=keepdim))
        else:
            out = add_up(size ** p, axis=dims, keepdims=keepdim) ** (1 / p)
        out = np.asarray(out, size.dtype)
        ctx.save(x, out)
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """sign(x) (|x| / norm)^(p - 1), 0 where norm is 0; at infinite p the extreme ones share."""
        x, z = ctx.values
        p, dims = ctx.given
        shape = kept(ctx.shape, dims)
        g, z = reshape(g, shape), reshape(z, shape)
        if p == 0:
            return g * (x * 0)
        if p == 1:
            return g * sign(x)
        if math.isinf(p):
            extreme = cast(absolute(x) == z, x.dtype)
            return sign(x) * extreme * (g / sum(extreme, dims, keepdim=True))
        z = where(z == 0, 1.0, z)
        if p == 2:
            return x * (g / z)
        size = absolute(x)
        size = where(size == 0, 1.0, size)
        return sign(x) * pow(size, p - 1) * (g * pow(z, 1 - p))


def p_norm(x: Any, p: float, dim: Any, keepdim: bool = False) -> Any:
    """The p-norm along dim."""
    return PNorm.apply(x, p=float(p), dims=dims_of(dim, x.ndim), keepdim=keepdim)


def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The p-norm of x1 - x2 + eps along the last dimension."""
    difference = x1 - x2 + eps
    return p_norm(difference, p, -1, keepdim) if difference.ndim else p_norm(reshape(difference, (1,)), p, -1, keepdim)


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) along dim; the gradient is that of the quotient without max."""
    dtype = promote(x1.dtype, x2.dtype)
    if dtype.kind not in "fc":
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
    lift = np.maximum(eps - length.array, 0)
    return x / (length + lift if lift.any() else length)


__all__ = ["cosine_similarity", "pairwise_distance"]
METHODS: list[str] = []
