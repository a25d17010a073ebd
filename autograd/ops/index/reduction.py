"""Elements reduced with those that an index sends to them: scatter_reduce's five reductions and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.operation import Operation
from ...core.tensor import Tensor
from ...kernels.scatter import flat_places, reduce_at
from ..pointwise.cast import cast
from ..pointwise.choice import where
from .scattering import Gather, Scatter, ScatterAdd


class ScatterReduce(Operation):
    """x with each element reduced with those of src that index sends to it."""

    @staticmethod
    def forward(ctx: Any, x: Any, index: Any, src: Any, *, dim: int, reduce: str, include_self: bool) -> Any:
        """See kernels.scatter."""
        out = reduce_at(x, dim, index, src, reduce, include_self)
        ctx.save(*(index,) if reduce in ("sum", "mean") else (index, x, src, out))
        ctx.dim, ctx.reduce, ctx.include, ctx.shape = dim, reduce, include_self, x.shape
        if reduce == "prod":
            ctx.joins = ((0, 2), (), (0, 2))
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Each reduction's own rule; what was replaced gets nothing."""
        index, *rest = ctx.values
        gx, gs = RULES[ctx.reduce](ctx, g, index, *rest)
        if not ctx.include and ctx.needs(0):
            gx = Scatter.apply(gx, index, 0, dim=ctx.dim)
        return gx, None, gs


def _sum(ctx: Any, g: Any, index: Any) -> tuple[Any, Any]:
    return g, Gather.apply(g, index, dim=ctx.dim)


def _mean(ctx: Any, g: Any, index: Any) -> tuple[Any, Any]:
    share = g / np.maximum(coming(index, ctx.dim, ctx.shape) + ctx.include, 1).astype(g.dtype)
    return share, Gather.apply(share, index, dim=ctx.dim)


def _prod(ctx: Any, g: Any, index: Any, x: Any, src: Any, z: Any) -> tuple[Any, Any]:
    """For x the product of what comes; for src the product over itself, or, where it is the one zero, of the others."""
    dim, plain = ctx.dim, {"dim": ctx.dim, "reduce": "prod"}
    gx = gs = None
    if ctx.needs(0):
        gx = g * ScatterReduce.apply(np.ones(x.shape, x.dtype), index, src, include_self=True, **plain)
    if ctx.needs(2):
        zero = src == 0
        zeros = coming(index, dim, x.shape, array_of(zero))
        if isinstance(src, Tensor) and (zeros > 1).any():
            raise RuntimeError("scatter_reduce(): Double backward is unsupported for src when >1 zeros in src are "
                               "scattered to the same position in self")
        alone = array_of(zero) & (Gather.apply(zeros, array_of(index), dim=dim) == 1)
        ones = np.ones((), x.dtype)
        others = ScatterReduce.apply(x, index, where(alone, ones, src), include_self=ctx.include, **plain)
        gs = where(alone, Gather.apply(g * others, index, dim=dim),
                   Gather.apply(g * z, index, dim=dim) / where(zero, ones, src))
    return gx, gs


def _extreme(ctx: Any, g: Any, index: Any, x: Any, src: Any, z: Any) -> tuple[Any, Any]:
    """Equal shares for all that are equal to the result."""
    dim, dtype = ctx.dim, g.dtype
    own = cast(array_of(x) == array_of(z), dtype)
    coming_ones = cast(array_of(src) == Gather.apply(array_of(z), array_of(index), dim=dim), dtype)
    share = g / ScatterAdd.apply(own, array_of(index), coming_ones, dim=dim)
    return share * own, Gather.apply(share, index, dim=dim) * coming_ones


RULES: dict[str, Any] = {"sum": _sum, "mean": _mean, "prod": _prod, "amax": _extreme, "amin": _extreme}


def array_of(x: Any) -> Any:
    """The array of a Tensor, or the array itself."""
    return x.array if isinstance(x, Tensor) else x


def coming(index: Any, dim: int, shape: tuple[int, ...], mask: Any = None) -> Any:
    """How many elements (of those in the mask) index sends to each place of `shape`."""
    at = flat_places(array_of(index), dim, shape)
    return np.bincount(at if mask is None else at[mask.reshape(-1)], minlength=int(np.prod(shape))).reshape(shape)


__all__: list[str] = []
