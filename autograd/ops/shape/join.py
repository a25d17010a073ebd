"""Tensors joined: cat, stack and others."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.arrays import is_half
from ...base.dtypes import promote
from ...base.types import Array
from ...core.batching import Level, along
from ...core.casting import casting, widest
from ...core.operation import Cast, Operation
from ...core.out import check_apart, into
from ...core.tensor import Tensor, result
from ...core.types import Context, Declared, Gradients, TensorOrArray
from ...kernels.halves import converted
from ...kernels.memory_format import empty_last, in_rows, is_channels_last
from .constant_pad import pad_constant
from .dims import wrap_dim
from .splitting import Unbind, before, narrow, stacked, unbind
from .views import atleast_1d, atleast_2d, atleast_3d, reshape, unsqueeze


def _cat(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """The rule for batches; legacy empty vectors join in with any number of dimensions."""
    full = [x for x in args if x.shape != (0,)] or args[:1]
    return call(*[level.front(x) for x in full], dim=settings["dim"] + 1)


class Cat(Operation):
    """Tensors joined along a dimension they have."""

    batched = _cat

    mixes = True

    @staticmethod
    def forward(ctx: Context, *xs: Any, dim: int) -> Array:
        shapes = [x.shape for x in xs]
        full = xs if (0,) not in shapes else [x for x in xs if x.shape != (0,)] or xs[:1]
        ndim = full[0].ndim
        ctx.dim, ctx.lengths = dim, [s[dim] if len(s) == ndim else None for s in shapes]
        dtype = common(xs)
        if not all(map(is_channels_last, full)):
            return in_rows(np.concatenate(widened(full, dtype), axis=dim, dtype=dtype))
        shape = [*full[0].shape]
        shape[dim] = sum(x.shape[dim] for x in full)
        return np.concatenate(widened(full, dtype), axis=dim, out=empty_last(tuple(shape), dtype))

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        start = 0
        parts: list[Any] = []
        for number, length in enumerate(ctx.lengths):
            if not ctx.needs(number):
                parts.append(None)
            elif type(g) is np.ndarray and length is not None:
                parts.append(g[before(ctx.dim) + (slice(start, start + length),)])
            else:
                parts.append(narrow(g, ctx.dim, start, length) if length is not None else reshape(narrow(g, 0, 0, 0), 0))
            start += length or 0
        return tuple(parts)


class Stack(Operation):
    """Tensors of one shape side by side along a new dimension."""

    batched = along("dim")

    mixes = True

    @staticmethod
    def forward(ctx: Context, *xs: Any, dim: int) -> Array:
        ctx.dim = dim
        dtype = common(xs)
        return in_rows(stacked(widened(xs, dtype), dim, dtype))

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        return Unbind.apply(g, dim=ctx.dim) if type(g) is np.ndarray else unbind(g, ctx.dim)


def common(xs: Any) -> np.dtype[Any]:
    """The dtype of arrays joined."""
    first = xs[0].dtype
    for x in xs:
        if x.dtype is not first:
            return functools.reduce(promote, [x.dtype for x in xs])
    return first


def widened(xs: Any, dtype: np.dtype[Any]) -> Any:
    """The arrays; halves among wider ones are converted here, which takes NumPy longer."""
    return xs if all(x.dtype is dtype for x in xs) else [converted(x, dtype) if is_half(x) else x for x in xs]


def listed(tensors: Sequence[Any], name: str) -> Any:
    """The tensors as a list. TypeError for what is none."""
    if isinstance(tensors, Tensor):
        raise TypeError(f"{name}(): argument 'tensors' must be tuple of Tensors, not Tensor")
    xs = list(tensors)
    for x in xs:
        if x.__class__ is not Tensor and not isinstance(x, (Tensor, np.ndarray, np.generic)):
            number = next(i for i, other in enumerate(xs) if other is x)
            raise TypeError(f"expected Tensor as element {number} in argument 0, but got {type(x).__name__}")
    return xs


def cat(tensors: Sequence[Any], dim: int = 0, *, axis: int | None = None, out: Tensor | None = None) -> Any:
    """Tensors put end to end along `dim`; their other sizes agree. Legacy empty vectors, shape (0,), are left out."""
    dim = dim if axis is None else axis
    xs = listed(tensors, "cat")
    if not xs:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    shapes = [x.shape for x in xs]
    if () in shapes:
        raise RuntimeError(f"zero-dimensional tensor (at position {shapes.index(())}) cannot be concatenated")
    shape = shapes[0] if shapes[0] != (0,) else next((s for s in shapes if s != (0,)), (0,))
    dim = wrap_dim(dim, len(shape))
    for number, x in enumerate(xs):
        if shapes[number] != shape and shapes[number] != (0,):
            if x.ndim != len(shape):
                raise RuntimeError(f"Tensors must have same number of dimensions: got {len(shape)} and {x.ndim}")
            for i, (a, b) in enumerate(zip(shape, x.shape, strict=True)):
                if a != b and i != dim:
                    raise RuntimeError(f"Sizes of tensors must match except in dimension {dim}. Expected size {a} but got "
                                       f"size {b} for tensor number {number} in the list.")
    if casting.used and out is None:
        xs = widest(xs)
    if out is not None:
        check_apart(out, *xs)
        return into(out, Cat.apply(*[x.detach() for x in xs], dim=dim), *xs)
    return Cat.apply(*xs, dim=dim)


concatenate: Declared
concat = concatenate = cat


def stack(tensors: Sequence[Any], dim: int = 0, *, axis: int | None = None, out: Tensor | None = None) -> Any:
    """Tensors of one shape side by side along a new dimension."""
    dim = dim if axis is None else axis
    xs = listed(tensors, "stack")
    if not xs:
        raise RuntimeError("stack expects a non-empty TensorList")
    shapes = [x.shape for x in xs]
    shape = shapes[0]
    for number, x in enumerate(xs):
        if shapes[number] != shape:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 "
                               f"and {list(x.shape)} at entry {number}")
    dim = wrap_dim(dim, len(shape) + 1)
    if casting.used and out is None:
        xs = widest(xs)
    return Stack.apply(*xs, dim=dim) if out is None else into(out, Stack.apply(*[x.detach() for x in xs], dim=dim), *xs)


def hstack(tensors: Sequence[Any], *, out: Tensor | None = None) -> Tensor:
    """Tensors put side by side: along the second dimension, vectors along their only one."""
    xs = [atleast_1d(x) for x in some(tensors, "hstack")]
    return cat(xs, 0 if xs[0].ndim == 1 else 1, out=out)


def vstack(tensors: Sequence[Any], *, out: Tensor | None = None) -> Tensor:
    """Tensors put on top of each other, vectors as rows."""
    return cat([atleast_2d(x) for x in some(tensors, "vstack")], 0, out=out)


row_stack = vstack


def dstack(tensors: Sequence[Any], *, out: Tensor | None = None) -> Tensor:
    """Tensors put behind each other, along the third dimension."""
    return cat([atleast_3d(x) for x in some(tensors, "dstack")], 2, out=out)


def column_stack(tensors: Sequence[Any], *, out: Tensor | None = None) -> Tensor:
    """Tensors put side by side, vectors as columns."""
    xs = some(tensors, "column_stack")
    return hstack([unsqueeze(atleast_1d(x), 1) if x.ndim <= 1 else x for x in xs], out=out)


def some(tensors: Sequence[Any], name: str) -> list[Any]:
    """The tensors as a list. RuntimeError for none."""
    xs = listed(tensors, name)
    if not xs:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return xs


def block_diag(*tensors: Any) -> Tensor:
    """A matrix with the tensors as blocks along its diagonal, zeros elsewhere; vectors count as rows."""
    blocks = [atleast_2d(x) for x in tensors]
    for number, x in enumerate(blocks):
        if x.ndim > 2:
            raise RuntimeError(f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {number} has "
                               f"{x.ndim} dimensions")
    if not blocks:
        return result(np.zeros((1, 0), np.float32))
    dtype = common(blocks)
    width, left, rows = sum(x.shape[1] for x in blocks), 0, []
    for x in blocks:
        right = width - left - x.shape[1]
        rows.append(pad_constant(x if x.dtype == dtype else Cast.apply(x, dtype=dtype), ((0, 0), (left, right))))
        left += x.shape[1]
    return cat(rows, 0)


__all__ = ["block_diag", "cat", "column_stack", "concat", "concatenate", "dstack", "hstack", "row_stack", "stack", "vstack"]
METHODS: list[str] = []
