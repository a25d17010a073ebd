"""Basic indexing as operations: Slice (integers, slices, None, ...) and Select (one slice of a dimension). Both are views.

narrow(), tensor_split(), crop() and x[...] without index arrays are all a Slice."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...base.types import Array
from ...core.batching import Level, along
from ...core.operation import Operation
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels.memory_format import zeros_like_order

COLON = slice(None)


def before(dim: int) -> tuple[Any, ...]:
    """The colons that come before dimension `dim` in an index."""
    return (COLON,) * dim


def _rest(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """The rule for batches: the index is of the other dimensions."""
    given = {"shape": (level.size, *settings["shape"])} if "shape" in settings else {}
    return call(level.raw(args[0]), index=(COLON, *settings["index"]), **given)


class Slice(Operation):
    """x[index] with integers, slices, None and ... only: a view."""

    batched = _rest

    view = True

    @staticmethod
    def forward(ctx: Context, x: Array, *, index: tuple[Any, ...]) -> Array:
        """NumPy's indexing; index has an Ellipsis, or single elements would be copies."""
        ctx.index, ctx.shape = index, x.shape
        return x[index]

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """Zeros with g written to the slice; g itself where the slice is all of x (x[None], x[:, 0] of one column)."""
        if type(g) is np.ndarray and g.size == prod(ctx.shape) and g.flags.c_contiguous:
            return g.reshape(ctx.shape)
        return SliceBackward.apply(g, index=ctx.index, shape=ctx.shape)


class SliceBackward(Operation):
    """Zeros of `shape` with g at `index`, the adjoint of Slice."""

    batched = _rest

    @staticmethod
    def forward(ctx: Context, g: Array, *, index: tuple[Any, ...], shape: tuple[int, ...]) -> Array:
        """Assignment into zeros with the memory order of g."""
        ctx.index = index
        out = zeros_like_order(shape, g)
        out[index] = g
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        return Slice.apply(g, index=ctx.index)


class Select(Operation):
    """One slice of a dimension, a view without that dimension."""

    batched = along("dim")

    view = True

    @staticmethod
    def forward(ctx: Context, x: Array, *, dim: int, index: int) -> Array:
        """x[:, index] with as many colons as `dim` says."""
        ctx.dim, ctx.index, ctx.shape = dim, index, x.shape
        return x[before(dim) + (index, ...)]

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        return SelectBackward.apply(g, dim=ctx.dim, index=ctx.index, shape=ctx.shape)


class SelectBackward(Operation):
    """Zeros with one slice filled, the adjoint of Select."""

    batched = along("dim", shape="shape")

    @staticmethod
    def forward(ctx: Context, g: Array, *, dim: int, index: int, shape: tuple[int, ...]) -> Array:
        ctx.dim, ctx.index = dim, index
        out = np.zeros(shape, g.dtype)
        out[before(dim) + (index,)] = g
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        return Select.apply(g, dim=ctx.dim, index=ctx.index)


__all__: list[str] = []
