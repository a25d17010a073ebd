"""x with the elements at an index replaced, or added to: index_put, and what item assignment records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.dtypes import category
from ...base.types import Array, Number
from ...core.batching import Level
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray, TensorOrNumber
from ...kernels.halves import converted
from ...kernels.scatter import add_at
from ..creation.arguments import fitting
from ..shape import reshape
from .forms import EVERYTHING, located, part, parts_of, plain, worded
from .indexing import getitem


def _put(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """IndexPut's rule for batches: of one index for all samples, with arrays side by side."""
    x, value = args
    index = settings["index"]
    parts = parts_of(index)
    if any(level.has(p) for p in parts):
        return NotImplemented
    dims = located(index, x.shape)[1]
    if dims != tuple(range(dims[0], dims[-1] + 1) if dims else ()):
        return NotImplemented
    goal = getitem(np.broadcast_to(np.zeros((), bool), x.shape), plain(index)).ndim
    if hasattr(value, "ndim") and value.ndim > goal:
        return NotImplemented
    return call(level.front(x), level.aligned(value, goal), **{**settings, "index": (EVERYTHING, *parts)})


class IndexPut(Operation):
    """x with the elements at `index` replaced by value, or with value added to them."""

    batched = _put

    mixes = True

    @staticmethod
    def forward(ctx: Context, x: Array, value: Array | Number, *, index: Any, accumulate: bool = False) -> Array:
        ctx.index, ctx.accumulate, ctx.value_shape = frozen_index(index), accumulate, np.shape(value)
        out = np.array(x)                            # in x's order of memory, as of clone()
        assign(out, ctx.index, value, accumulate)
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """x gets all but what was replaced, value the rest (fitted to its shape afterwards)."""
        gx = gv = None
        if ctx.needs(0):
            gx = g if ctx.accumulate else IndexPut.apply(g, 0, index=ctx.index)
        if ctx.needs(1):
            gv = getitem(g, ctx.index)
            if not ctx.accumulate:
                gv = of_last_writers(gv, ctx.index, g.shape)
            more = len(ctx.value_shape) - gv.ndim
            gv = reshape(gv, (1,) * more + tuple(gv.shape)) if more > 0 else gv
        return gx, gv


def frozen_index(index: Any) -> Any:
    """The index as a tuple with copies of its arrays, which no later write can change before backward."""
    parts = map(plain, parts_of(index))
    return tuple([i.copy() if isinstance(i, np.ndarray) else i for i in parts])


def of_last_writers(values: TensorOrArray, index: Any, shape: tuple[int, ...]) -> TensorOrArray:
    """`values`, with zeros for elements that a later one overwrites in x[index] = values, where x has this shape.

    PyTorch passes gradients to the overwritten ones too, and calls the result undefined."""
    if not any(isinstance(p, np.ndarray) and p.dtype.kind != "b" and p.size > 1 for p in map(part, index)):
        return values
    numbers = np.arange(math.prod(values.shape)).reshape(values.shape)
    last = np.empty(shape, np.int64)                 # only the pages that the index reaches are touched
    assign(last, index, numbers)
    wins = getitem(last, index) == numbers
    return values if wins.all() else values * wins


def assign(array: Array, index: Any, value: Array | Number, accumulate: bool = False) -> None:
    """array[index] = value, or += with elements indexed twice getting both; index as PyTorch reads it."""
    if type(value) is np.ndarray and value.dtype != array.dtype:
        value = converted(value, array.dtype)
    try:
        basic, dims, places = located(index, array.shape)
        part = array if basic is None and places else array[(basic or ()) + (...,)]
        if not places:
            if accumulate:
                part += value
            else:
                part[...] = value
            return
        full: list[Any] = [EVERYTHING] * (dims[-1] + 1)
        for d, a in zip(dims, places, strict=True):
            full[d] = a.array if isinstance(a, Tensor) else a
        if not accumulate:
            part[tuple(full)] = value
        else:
            given = np.broadcast_to(value, part[tuple(full)].shape)
            part += add_at(part.shape, dims, [full[d] for d in dims], np.asarray(given, array.dtype))
    except IndexError as error:
        raise worded(error) from None
    except ValueError as error:
        if not array.flags.writeable:
            raise RuntimeError("a write into read-only memory; copy it first, as in tensor(array)") from error
        raise RuntimeError(f"shape mismatch: value tensor of shape {list(np.shape(value))} cannot be broadcast to the "
                           f"indexing result: {error}") from None


def demand_one_dtype(x: Array, index: Any, value: Array, accumulate: bool = False) -> None:
    """RuntimeError unless the value has x's dtype, or is one number for a single mask, which masked_fill converts."""
    if value.dtype == x.dtype:
        return
    if value.size == 1 and not accumulate:
        arrays = [p for p in map(part, parts_of(index)) if isinstance(p, (bool, Tensor, np.ndarray))]
        one = arrays[0] if len(arrays) == 1 else None
        if isinstance(one, bool):
            return
        if one is not None and one.dtype.kind == "b":
            if x.dtype.kind != "b" and category(value.dtype) == 3 and category(x.dtype) < 3 and value.imag.any():
                raise RuntimeError(f"value cannot be converted to type {x.dtype} without overflow: {value.item()}")
            fitting(value.real.item(), x.dtype)
            return
    raise RuntimeError(f"Index put requires the source and destination dtypes match, got {x.dtype} for the destination and "
                       f"{value.dtype} for the source. Convert the source, as by value.to(x.dtype).")


@takes_out
def index_put(input: Tensor, indices: Sequence[Tensor], values: TensorOrNumber | None, accumulate: bool = False) -> Tensor:
    """input with input[indices] replaced by values, or with values added there if `accumulate`."""
    if not isinstance(values, Tensor):
        raise TypeError(f"index_put(): argument 'values' (position 3) must be Tensor, not {type(values).__name__}")
    if isinstance(indices, Tensor):
        raise TypeError("index_put(): argument 'indices' (position 2) must be tuple of Tensors, not Tensor")
    if values.dtype != input.dtype:
        demand_one_dtype(input.array, tuple(indices), values.array, accumulate)
    return IndexPut.apply(input, values, index=tuple(indices), accumulate=accumulate)


__all__ = ["index_put"]
METHODS = ["index_put"]
IN_PLACE = ["index_put"]
