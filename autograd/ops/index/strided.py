"""Tensors seen through sizes and strides of their memory: as_strided and what copies or replaces such a view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.types import Array
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...core.types import Context, Gradients
from ..shape import clone, reshape, sizes
from .assignment import IndexPut
from .indexing import Index, IndexBackward


def memory_of(a: Any) -> tuple[Any, int]:
    """The memory of an array as a flat array, and the number of the element at which the array begins."""
    owner = holder = a
    while (holder := getattr(holder, "base", None)) is not None:     # NumPy's as_strided puts an object in between
        if isinstance(holder, np.ndarray):
            if holder.dtype != a.dtype:
                break
            owner = holder
    flat = np.lib.stride_tricks.as_strided(owner, (owner.size,), (a.itemsize,), writeable=a.flags.writeable)
    return flat, (a.__array_interface__["data"][0] - owner.__array_interface__["data"][0]) // a.itemsize


def reach(size: Sequence[int], stride: Sequence[int], offset: int) -> Array:
    """The number in memory of each element of a tensor with this size, stride and offset."""
    out: Any = offset
    for n, step in zip(size, stride, strict=True):
        out = np.asarray(out)[..., None] + np.arange(n) * step
    return np.asarray(out, np.int64)


class AsStrided(Operation):
    """The strided view. Its adjoint adds up elements that the view repeats; those of x outside of the view get 0."""

    view = True

    @staticmethod
    def forward(ctx: Context, x: Array, *, size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Array:
        """NumPy's as_strided() of the memory that x is part of."""
        flat, start = memory_of(x)
        ctx.length, ctx.shape = flat.size, x.shape
        ctx.seen, ctx.own = reach(size, stride, offset), reach(x.shape, [s // x.itemsize for s in x.strides], start)
        return np.lib.stride_tricks.as_strided(flat[offset:], size, [s * x.itemsize for s in stride],
                                               writeable=flat.flags.writeable)

    @staticmethod
    def backward(ctx: Context, g: Tensor) -> Gradients:
        memory = IndexBackward.apply(reshape(g, -1), ctx.seen.reshape(-1), dims=(0,), shape=(ctx.length,))
        gx = Index.apply(memory, ctx.own, dims=(0,))
        shares = np.bincount(ctx.own.reshape(-1), minlength=1)
        return gx / shares[ctx.own].astype(g.dtype) if shares.max() > 1 else gx


def _geometry(x: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None) -> tuple[Any, Any, int]:
    shape, steps = sizes((size,)), sizes((stride,))
    if len(shape) != len(steps):
        raise RuntimeError(f"mismatch in length of strides and shape: {list(steps)} and {list(shape)}")
    if any(s < 0 for s in steps):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(steps)}")
    if any(n < 0 for n in shape):
        raise RuntimeError(f"Trying to create tensor with negative dimension: {list(shape)}")
    flat, start = memory_of(x.array)
    offset = start if storage_offset is None else storage_offset
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    last = offset + 1 + sum((n - 1) * s for n, s in zip(shape, steps, strict=True))
    if 0 not in shape and last > flat.size:
        raise RuntimeError(f"setStorage: sizes {list(shape)}, strides {list(steps)}, storage offset {offset}, and itemsize "
                           f"{x.array.itemsize} requiring a storage size of {last * x.array.itemsize} are out of bounds for "
                           f"storage of size {flat.nbytes}")
    return shape, steps, offset


def as_strided(input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """input's memory seen with this size, stride and offset, all in elements. A view."""
    shape, steps, offset = _geometry(input, size, stride, storage_offset)
    return AsStrided.apply(input, size=shape, stride=steps, offset=offset)


@takes_out
def as_strided_copy(input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """as_strided() as a copy."""
    return clone(as_strided(input, size, stride, storage_offset))


def as_strided_scatter(input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int],
                       storage_offset: int | None = None) -> Tensor:
    """input with what as_strided() shows of it replaced by src."""
    shape, steps, offset = _geometry(input, size, stride, storage_offset)
    if src.shape != shape:
        raise RuntimeError(f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice "
                           f"size = {list(shape)}")
    flat, start = memory_of(input.array)
    own = reach(input.shape, [s // input.array.itemsize for s in input.array.strides], start).reshape(-1)
    number = np.full(flat.size, -1)                  # of each place in memory: which element of input lies there
    number[own] = np.arange(own.size)
    targets = number[reach(shape, steps, offset).reshape(-1)]
    in_range = np.flatnonzero(targets >= 0)
    given = Index.apply(reshape(src, -1), in_range, dims=(0,))
    return reshape(IndexPut.apply(reshape(input, -1), given, index=targets[in_range]), input.shape)


__all__ = ["as_strided", "as_strided_copy", "as_strided_scatter"]
METHODS = ["as_strided", "as_strided_scatter"]
