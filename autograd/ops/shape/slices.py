"""The operations behind narrow, select, split and unbind, with their adjoints. split and unbind have many outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ...core.graph import join_views
from ...core.operation import Operation
from ...core.tensor import Tensor
from .borders import pad_constant

COLON = slice(None)


def before(dim: int) -> tuple[Any, ...]:
    """The colons that come before dimension `dim` in an index."""
    return (COLON,) * dim


class Narrow(Operation, name="Slice"):
    """A stretch of one dimension, a view."""

    view = True

    @staticmethod
    def forward(ctx: Any, x: Any, *, dim: int, start: int, length: int) -> Any:
        """A slice."""
        ctx.dim, ctx.before, ctx.after = dim, start, x.shape[dim] - start - length
        ctx.ndim = x.ndim
        return x[before(dim) + (slice(start, start + length),)]

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Zeros on both sides."""
        return pad_constant(g, ((0, 0),) * ctx.dim + ((ctx.before, ctx.after),) + ((0, 0),) * (ctx.ndim - ctx.dim - 1))


class Take(Operation, name="Select"):
    """One slice of a dimension, a view without that dimension."""

    view = True

    @staticmethod
    def forward(ctx: Any, x: Any, *, dim: int, index: int) -> Any:
        """x[:, index] with as many colons as `dim` says."""
        ctx.dim, ctx.index, ctx.shape = dim, index, x.shape
        return x[before(dim) + (index, ...)]

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Zeros, but for that slice."""
        return Place.apply(g, dim=ctx.dim, index=ctx.index, shape=ctx.shape)


class Place(Operation, name="SelectBackward"):
    """Zeros with one slice filled, the adjoint of Take."""

    @staticmethod
    def forward(ctx: Any, g: Any, *, dim: int, index: int, shape: tuple[int, ...]) -> Any:
        """Assignment."""
        ctx.dim, ctx.index = dim, index
        out = np.zeros(shape, g.dtype)
        out[before(dim) + (index,)] = g
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """That slice again."""
        return Take.apply(g, dim=ctx.dim, index=ctx.index)


class Split(Operation):
    """Stretches of one dimension, of the lengths given: all of it."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, dim: int, lengths: tuple[int, ...]) -> Any:
        """Slices."""
        ctx.dim, ctx.shape, ctx.lengths = dim, x.shape, lengths
        colons = before(dim)
        return tuple([x[colons + (slice(a, b),)] for a, b in pairwise(accumulate(lengths, initial=0))])

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        """Joined again, zeros where nothing came."""
        left, right = ctx.shape[:ctx.dim], ctx.shape[ctx.dim + 1:]
        full = with_zeros(gs, lambda number: (*left, ctx.lengths[number], *right))
        return Joined.apply(*full, dim=ctx.dim, lengths=ctx.lengths)


class Joined(Operation, name="SplitBackward"):
    """The adjoint of Split."""

    @staticmethod
    def forward(ctx: Any, *gs: Any, dim: int, lengths: tuple[int, ...]) -> Any:
        """NumPy's concatenate."""
        ctx.dim, ctx.lengths = dim, lengths
        return np.concatenate(gs, axis=dim)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Split again."""
        return Split.apply(g, dim=ctx.dim, lengths=ctx.lengths)


class Unbind(Operation):
    """All slices along one dimension."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, dim: int) -> Any:
        """x[i] for each i of that dimension, in views."""
        ctx.dim, ctx.shape = dim, x.shape
        if x.ndim == 1:
            return tuple([x[i, ...] for i in range(len(x))])         # of which x[i] would be no arrays
        return tuple(x if not dim else x.transpose(dim, *range(dim), *range(dim + 1, x.ndim)))

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        """Stacked again, zeros where nothing came."""
        full = with_zeros(gs, lambda number: (*ctx.shape[:ctx.dim], *ctx.shape[ctx.dim + 1:]))
        return Stacked.apply(*full, dim=ctx.dim)


class Stacked(Operation, name="UnbindBackward"):
    """The adjoint of Unbind."""

    @staticmethod
    def forward(ctx: Any, *gs: Any, dim: int) -> Any:
        """Side by side."""
        ctx.dim = dim
        return stacked(gs, dim, gs[0].dtype)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Unbind again."""
        return Unbind.apply(g, dim=ctx.dim)


def stacked(arrays: Any, dim: int, dtype: Any) -> Any:
    """np.stack() of arrays of one shape, at a third of its overhead."""
    place = (*before(dim), None)
    return np.concatenate([x[place] for x in arrays], axis=dim, dtype=dtype)


def with_zeros(gs: tuple[Any, ...], shape_of: Callable[[int], tuple[int, ...]]) -> Sequence[Any]:
    """Gradients of several outputs, with zeros for those that got none; shape_of(its number) is an output's shape."""
    if all(g is not None for g in gs):
        return gs
    dtype = next(g.dtype for g in gs if g is not None)
    return [np.zeros(shape_of(number), dtype) if g is None else g for number, g in enumerate(gs)]


def views_of(x: Any, parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Let the parts know that they share x's memory."""
    if isinstance(x, Tensor):
        for part in parts:
            join_views(part, x)
    return parts


__all__: list[str] = []
