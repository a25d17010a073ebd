"""x[index] and its adjoint."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.hidden import Hidden
from ...base.types import Array
from ...core.batching import Level
from ...core.operation import Operation
from ...core.primitive import value_read
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, Operand, TensorOrArray
from ...kernels.onednn.reorder import like_order
from ...kernels.scatter import add_at
from ...kernels.take_along import INT64
from ..shape.slicing import Slice
from .forms import EVERYTHING, located, mismatch, worded

ndarray = np.ndarray
SIMPLE = (int, type(None), type(Ellipsis))


def _samples(level: Level, arrays: Any, dims: tuple[int, ...]) -> tuple[Any, Any, int, int]:
    """For indices that differ by sample: they with the samples' own before them, the dimensions, where in a result for one
    sample the indexed dimensions stand, and how many they are."""
    ndim = max([a.ndim for a in arrays])
    shape = np.broadcast_shapes(*[a.shape for a in arrays])
    rows = np.broadcast_to(np.arange(level.size).reshape(-1, *[1] * ndim), (level.size, *shape))
    goal = (level.size, *shape)
    full = [level.aligned(a, ndim) for a in arrays]
    full = [a.expand(goal) if isinstance(a, Tensor) else np.broadcast_to(a, goal) for a in full]
    together = dims == tuple(range(dims[0], dims[-1] + 1))
    return (rows, *full), (0, *[d + 1 for d in dims]), dims[0] if together else 0, ndim


def _moved(x: Any, ndim: int, source: int, target: int) -> Any:
    """x with `ndim` dimensions moved from `source` on to `target` on."""
    return x if source == target or not ndim else x.movedim(tuple(range(source, source + ndim)),
                                                            tuple(range(target, target + ndim)))


def _indexed(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """Index's rule for batches."""
    x, *arrays = args
    dims = settings["dims"]
    indices, inner, place, ndim = _samples(level, arrays, dims)
    if any(level.has(a) for a in arrays):
        return _moved(call(level.front(x), *indices, dims=inner), ndim, 1, place + 1)
    out = call(level.raw(x), *arrays, dims=inner[1:])
    apart = dims != tuple(range(dims[0], dims[-1] + 1))
    return out.movedim(ndim, 0) if apart else out


def _indexed_backward(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """IndexBackward's rule for batches."""
    g, *arrays = args
    dims, shape = settings["dims"], (level.size, *settings["shape"])
    indices, inner, place, ndim = _samples(level, arrays, dims)
    if any(level.has(a) for a in arrays):
        return call(_moved(level.front(g), ndim, place + 1, 1), *indices, dims=inner, shape=shape)
    apart = dims != tuple(range(dims[0], dims[-1] + 1))
    return call(level.raw(g).movedim(0, ndim) if apart else level.raw(g), *arrays, dims=inner[1:], shape=shape)


class Index(Operation):
    """x with its dimensions `dims` indexed by as many arrays of integers."""

    batched = _indexed

    @staticmethod
    def forward(ctx: Context, x: Array, *arrays: Any, dims: tuple[int, ...]) -> Array:
        """NumPy's take for one array, its indexing for more."""
        ctx.save(*arrays)
        ctx.dims, ctx.shape = dims, x.shape
        if len(dims) == 1:
            out = x.take(arrays[0], axis=dims[0])
            return out if x.ndim < 4 or dims[0] else like_order(out, x)          # samples of images, as PyTorch
        full: list[Any] = [EVERYTHING] * (dims[-1] + 1)
        for d, a in zip(dims, arrays, strict=True):
            full[d] = a
        return x[tuple(full)]

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """Zeros with g added at the indexed elements."""
        return (IndexBackward.apply(g, *ctx.values, dims=ctx.dims, shape=ctx.shape), *[None] * len(ctx.values))


class IndexBackward(Operation):
    """Zeros of `shape` with g added at the indexed elements, the adjoint of Index; repeated indices add up."""

    batched = _indexed_backward

    @staticmethod
    def forward(ctx: Context, g: Array, *arrays: Any, dims: tuple[int, ...], shape: tuple[int, ...]) -> Array:
        """kernels.scatter.add_at() adds into zeros."""
        ctx.save(*arrays)
        ctx.dims = dims
        return add_at(shape, dims, arrays, g)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        return (Index.apply(g, *ctx.values, dims=ctx.dims), *[None] * len(ctx.values))


class MaskedSelect(Operation):
    """The elements of x where the mask holds, in order."""

    @staticmethod
    def forward(ctx: Context, x: Array, mask: Array) -> Array:
        ctx.save(mask)
        ctx.shape = x.shape
        return x[mask]

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """Write g to the masked elements of zeros."""
        (mask,) = ctx.values
        return MaskedSelectBackward.apply(g, mask, shape=ctx.shape), None


class MaskedSelectBackward(Operation):
    """Zeros, with g in order where the mask holds; the adjoint of MaskedSelect."""

    @staticmethod
    def forward(ctx: Context, g: Array, mask: Array, *, shape: tuple[int, ...]) -> Array:
        ctx.save(mask)
        out = np.zeros(shape, g.dtype)
        out[mask] = g
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        (mask,) = ctx.values
        return MaskedSelect.apply(g, mask), None


def getitem(x: Operand, index: Any) -> Operand:
    """x[index]: integers, slices, None and ... give views; integer and bool Tensors, arrays and lists give copies."""
    kind = index.__class__
    try:
        if kind is int or index is None or (kind is slice and index.step is None):
            return Slice.apply(x, index=(index, ...))
        if kind is tuple:
            for p in index:
                if p.__class__ not in SIMPLE and (p.__class__ is not slice or p.step is not None):
                    break
            else:
                if index.count(Ellipsis) < 2:
                    return Slice.apply(x, index=index if Ellipsis in index else (*index, ...))
            if vectors(index) and len(index) <= x.ndim:
                return Index.apply(x, *index, dims=tuple(range(len(index))))
        elif kind is Tensor and index.ndim:
            dtype = index.array.dtype
            if dtype.kind == "b":
                if index.shape == x.shape[:index.ndim]:
                    value_read("a mask as an index")
                    return MaskedSelect.apply(x, index.array.copy())
                if index.ndim <= x.ndim:
                    raise mismatch(index.shape, x.shape)
            elif dtype.kind == "i" and dtype.itemsize >= 4 and x.ndim:
                return Index.apply(x, index, dims=(0,))
        return _general(x, index)
    except IndexError as error:
        raise worded(error) from None


def vectors(index: tuple[Any, ...]) -> bool:
    """Whether all parts are Tensors of int64 in one shape, not 0-d: most of what takes _general() 4 us to find out."""
    for p in index:
        if p.__class__ is not Tensor or p.array.dtype is not INT64 or p.array.shape != index[0].array.shape:
            return False
    return bool(index and index[0].ndim)


def _general(x: Operand, index: Any) -> Operand:
    for number, p in enumerate(index if index.__class__ is tuple else (index,)):
        if isinstance(p, Tensor) and p.array.__class__ is Hidden and not p.ndim and p.dtype.kind in "iu":
            return _selected(x, index if index.__class__ is tuple else (index,), number)
    basic, dims, arrays = located(index, x.shape)
    if basic is not None or not arrays:
        x = Slice.apply(x, index=(*(basic or ()), ...))
    if not arrays:
        return x
    if len(arrays) > 1 and any(a.shape != arrays[0].shape for a in arrays[1:]):
        try:
            np.broadcast_shapes(*[a.shape for a in arrays])
        except ValueError:
            raise IndexError("shape mismatch: indexing tensors could not be broadcast together with shapes "
                             + ", ".join(str(list(a.shape)) for a in arrays)) from None
    return Index.apply(x, *arrays, dims=dims)


def _selected(x: Operand, parts: tuple[Any, ...], number: int) -> Operand:
    """x[parts], where the part of this number is an integer for each sample, inside vmap(): it goes first, as an int."""
    before = parts[:number]
    if any(p is Ellipsis for p in before):
        dim = x.ndim - sum(map(_dimensions, parts[number:]))
    else:
        dim = sum(map(_dimensions, before))
    if not 0 <= dim < x.ndim:
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}")
    x = Index.apply(x, parts[number], dims=(dim,))
    rest = (*before, *parts[number + 1:])
    return getitem(x, rest) if rest else x


def _dimensions(p: Any) -> int:
    """How many dimensions a part of an index takes."""
    if p is None or p is Ellipsis or p is True or p is False:
        return 0
    return p.ndim if isinstance(p, (Tensor, np.ndarray)) and p.dtype.kind == "b" else 1


__all__: list[str] = []
METHODS: list[str] = []
