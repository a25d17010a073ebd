"""The operations behind gather and scatter, for tensors of one dimension or more and an index as large as src."""

from __future__ import annotations

from typing import Any

from ...core.operation import Operation
from ...kernels.scatter import added, gathered, put


class Gather(Operation):
    """out[i, j] = x[index[i, j], j] for dim 0, and so on."""

    @staticmethod
    def forward(ctx: Any, x: Any, index: Any, *, dim: int) -> Any:
        """See kernels.scatter."""
        ctx.save(index)
        ctx.dim, ctx.shape = dim, x.shape
        return gathered(x, index, dim)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Added where they were taken."""
        (index,) = ctx.values
        return ScatterAdd.apply(None, index, g, dim=ctx.dim, shape=ctx.shape), None


class ScatterAdd(Operation):
    """x (without one, zeros) with src[i, j] added at [index[i, j], j] for dim 0, and so on."""

    @staticmethod
    def forward(ctx: Any, x: Any, index: Any, src: Any, *, dim: int, shape: Any = None) -> Any:
        """See kernels.scatter; without x it is zeros of `shape`."""
        ctx.save(index)
        ctx.dim = dim
        return added(x, index, src, dim, shape)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """x gets all of it, src what it gave."""
        (index,) = ctx.values
        return g, None, Gather.apply(g, index, dim=ctx.dim) if ctx.needs(2) else None


class Scatter(Operation):
    """x with src[i, j] put at [index[i, j], j] for dim 0, and so on; src may be a number."""

    @staticmethod
    def forward(ctx: Any, x: Any, index: Any, src: Any, *, dim: int) -> Any:
        """See kernels.scatter."""
        ctx.save(index)
        ctx.dim = dim
        return put(x, index, src, dim)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """x gets all but what was replaced."""
        (index,) = ctx.values
        gx = Scatter.apply(g, index, 0, dim=ctx.dim) if ctx.needs(0) else None
        return gx, None, Gather.apply(g, index, dim=ctx.dim) if ctx.needs(2) else None


__all__: list[str] = []
