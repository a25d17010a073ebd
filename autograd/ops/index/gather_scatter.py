"""Reading and writing along one dimension, by an index of as many dimensions: gather, scatter and their variants.

The operations take tensors of one dimension or more and an index as large as src; the functions check and prepare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.types import Array, Number
from ...core.batching import along, maps, whole
from ...core.operation import Operation
from ...core.out import check_apart, into, takes_out
from ...core.primitive import shortcut
from ...core.tensor import Tensor, result
from ...core.types import Context, Gradients, TensorOrArray, TensorOrNumber
from ...kernels.scatter import added, reduce_at, scatter_copy
from ...kernels.take_along import INT64, flat_places, gather_along, in_range
from .._kinds import demand_real
from ..pointwise.arithmetic import conjugates
from ..pointwise.cast import cast
from ..pointwise.where import where
from ..reductions.products import divisible
from ..shape import broadcast_shapes, cat, clone, expand, flip, narrow, reshape, wrap_dim
from .indexing import getitem


class Gather(Operation):
    """out[i, j] = x[index[i, j], j] for dim 0, and so on."""

    batched = along("dim")

    @staticmethod
    def forward(ctx: Context, x: Array, index: Array, *, dim: int) -> Array:
        """The kernel kernels.scatter.gathered()."""
        ctx.save(index)
        ctx.given = dim, x.shape
        return gather_along(x, index, dim)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        (index,) = ctx.values
        dim, shape = ctx.given
        return ScatterAdd.apply(None, index, g, dim=dim, shape=shape), None


class ScatterAdd(Operation):
    """x (without one, zeros) with src[i, j] added at [index[i, j], j] for dim 0, and so on."""

    batched = along("dim", shape="shape")

    @staticmethod
    def forward(ctx: Context, x: Array | None, index: Array, src: Array, *, dim: int,
                shape: Sequence[int] | None = None) -> Array:
        """See kernels.scatter; without x it is zeros of `shape`."""
        ctx.save(index)
        ctx.dim = dim
        return added(x, index, src, dim, shape)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The gradient of x is g; that of src is g gathered at the index."""
        (index,) = ctx.values
        return g, None, Gather.apply(g, index, dim=ctx.dim) if ctx.needs(2) else None


class Scatter(Operation):
    """x with src[i, j] written to [index[i, j], j] for dim 0, and so on; src may be a number."""

    batched = along("dim")

    @staticmethod
    def forward(ctx: Context, x: Array, index: Array, src: Array | Number, *, dim: int) -> Array:
        """kernels.scatter.put() writes src into a copy of x."""
        ctx.save(index)
        ctx.dim = dim
        return scatter_copy(x, index, src, dim)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The gradient of x is g with zeros at the index; that of src is g gathered there."""
        (index,) = ctx.values
        gx = Scatter.apply(g, index, 0, dim=ctx.dim) if ctx.needs(0) else None
        return gx, None, Gather.apply(g, index, dim=ctx.dim) if ctx.needs(2) else None


class ScatterReduce(Operation):
    """x with each element reduced with those of src that index sends to it."""

    batched = along("dim")

    @staticmethod
    def forward(ctx: Context, x: Array, index: Array, src: Array, *, dim: int, reduce: str, include_self: bool) -> Array:
        """kernels.scatter.reduce_at() combines src with x."""
        out = reduce_at(x, dim, index, src, reduce, include_self)
        ctx.save(*(index,) if reduce in ("sum", "mean") else (index, x, src, out))
        ctx.dim, ctx.reduce, ctx.include, ctx.shape = dim, reduce, include_self, x.shape
        if reduce == "prod":
            ctx.joins = ((0, 2), (), (0, 2))
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The rule of each reduction; with include_self=False overwritten elements of x have gradient 0."""
        index, *rest = ctx.values
        gx, gs = RULES[ctx.reduce](ctx, g, index, *rest)
        if not ctx.include and ctx.needs(0):
            gx = Scatter.apply(gx, index, 0, dim=ctx.dim)
        return gx, None, gs


def _sum(ctx: Context, g: Tensor, index: Tensor) -> tuple[Any, Any]:
    return g, Gather.apply(g, index, dim=ctx.dim)


def _mean(ctx: Context, g: TensorOrArray, index: TensorOrArray) -> tuple[Any, Any]:
    share = g / np.maximum(coming(index, ctx.dim, ctx.shape) + ctx.include, 1).astype(g.dtype)
    return share, Gather.apply(share, index, dim=ctx.dim)


def _prod(ctx: Context, g: TensorOrArray, index: TensorOrArray, x: TensorOrArray, src: TensorOrArray,
          z: TensorOrArray) -> tuple[Any, Any]:
    """For x the product of the values scattered to it; for src that of all others at its place: the product over itself,
    unless that may lose digits, or is recorded."""
    dim, plain = ctx.dim, {"dim": ctx.dim, "reduce": "prod"}
    if g.dtype.kind == "c":
        x, src, z = conjugates(x, src, z)
    gx = gs = None
    if ctx.needs(0):
        gx = g * ScatterReduce.apply(np.ones(x.shape, x.dtype), index, src, include_self=True, **plain)
    if ctx.needs(2):
        if isinstance(src, Tensor) or not divisible(src, z):
            gs = Gather.apply(g, index, dim=dim) * _others(index, x if ctx.include else None, src, dim, x.shape)
        else:
            gs = Gather.apply(g * z, index, dim=dim) / src
    return gx, gs


def _others(index: TensorOrArray, x: TensorOrArray | None, src: TensorOrArray, dim: int,
            shape: tuple[int, ...]) -> Any:
    """For each element of src the product of all others that go to the same place, x's own too if given. Nothing is divided
    by, so that zeros and tiny elements have right derivatives of every order."""
    at, values = flat_places(array_of(index), dim, shape), reshape(src, -1)
    if x is not None:
        at, values = np.concatenate([at, np.arange(array_of(x).size)]), cat([values, reshape(x, -1)])
    order = np.argsort(at, kind="stable")
    first = np.flatnonzero(np.diff(at[order], prepend=-1))
    sizes = np.diff(first, append=at.size)
    rank = np.arange(at.size) - np.repeat(first, sizes)                        # among those of the same place
    rank_back = (np.repeat(sizes, sizes) - 1 - rank)[::-1]
    values = getitem(values, order)
    others = _earlier(values, rank) * flip(_earlier(flip(values, 0), rank_back), 0)
    return reshape(getitem(others, np.argsort(order)[:array_of(src).size]), src.shape)


def _earlier(x: Any, rank: Array) -> Any:
    """For each element of a vector in segments the product of those before it in its segment, in which it is number `rank`:
    a scan in steps of 1, 2, 4, ..."""

    def shifted(v: Any, step: int) -> Any:
        return where(rank >= step, cat([np.ones(step, v.dtype), narrow(v, 0, 0, len(rank) - step)]), 1.0)

    out, step = shifted(x, 1), 1
    while step < rank.max():
        out, step = out * shifted(out, step), 2 * step
    return out


def _extreme(ctx: Context, g: TensorOrArray, index: TensorOrArray, x: TensorOrArray, src: TensorOrArray,
             z: TensorOrArray) -> tuple[Any, Any]:
    """Equal shares for all that are equal to the result. x's own element counts where it was reduced too."""
    dim, dtype = ctx.dim, g.dtype
    own = array_of(x) == array_of(z)
    if not ctx.include:
        own &= coming(index, dim, ctx.shape) == 0
    own = cast(own, dtype)
    coming_ones = cast(array_of(src) == Gather.apply(array_of(z), array_of(index), dim=dim), dtype)
    share = g / ScatterAdd.apply(own, array_of(index), coming_ones, dim=dim)
    return share * own, Gather.apply(share, index, dim=dim) * coming_ones


RULES: dict[str, Any] = {"sum": _sum, "mean": _mean, "prod": _prod, "amax": _extreme, "amin": _extreme}


def array_of(x: Any) -> Array:
    """The array of a Tensor, or the array itself."""
    return x.array if isinstance(x, Tensor) else x


def coming(index: TensorOrArray, dim: int, shape: tuple[int, ...], mask: Array | None = None) -> Array:
    """How many elements of index (of those in the mask) name each element of `shape`."""
    at = flat_places(array_of(index), dim, shape)
    return np.bincount(at if mask is None else at[mask.reshape(-1)], minlength=int(np.prod(shape))).reshape(shape)


def usual(x: Any, dim: int, index: Any, src: Any = None) -> bool:
    """Whether an index of int64, and src, have x's shape, and dim is one of x: 0.3 us, what follows takes 0.9."""
    if not isinstance(index, Tensor) or not isinstance(x, Tensor) or dim.__class__ is not int:
        return False
    a, places = x.array, index.array
    shape, given = a.shape, a if src is None else src.array
    return (places.dtype is INT64 and places.shape == shape and places.size > 0 and -len(shape) <= dim < len(shape)
            and (given is a or (given.shape == shape and given.dtype is a.dtype)))


def checked(name: str, x: Any, dim: int, index: Any, src: Any = None) -> Any:
    """dim, counted from the front, the index and its shape. RuntimeError for what does not fit."""
    if not isinstance(index, (Tensor, np.ndarray)):
        raise TypeError(f"{name}(): argument 'index' must be Tensor, not {type(index).__name__}")
    dim, shape = wrap_dim(dim, x.ndim), index.shape
    given = isinstance(src, (Tensor, np.ndarray))
    if given and src.dtype != x.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype, not {x.dtype} and {src.dtype}")
    if 0 in shape:
        return dim, result(np.zeros(shape, np.int64)), shape
    if index.dtype.kind != "i" or index.dtype.itemsize < 4:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index, not {index.dtype}")
    if max(index.ndim, 1) != max(x.ndim, 1):
        raise RuntimeError(f"{name}(): Index tensor must have the same number of dimensions as self tensor, not "
                           f"{index.ndim} and {x.ndim}")
    if given and max(src.ndim, 1) != max(index.ndim, 1):
        raise RuntimeError(f"{name}(): Index tensor must have the same number of dimensions as src tensor, not "
                           f"{index.ndim} and {src.ndim}")
    if given or shape != x.shape:
        check_sizes(name, x, dim, index, src)
    return dim, index, shape


def check_sizes(name: str, x: Tensor, dim: int, index: Any, src: TensorOrArray | Number | None) -> None:
    """RuntimeError unless the index fits into x, and src covers the index."""
    sizes = x.shape
    for d, (n, m) in enumerate(zip(index.shape, sizes, strict=False)):
        if n > m and d != dim:
            raise RuntimeError(f"{name}(): Size does not match at dimension {d}: expected index {list(index.shape)} to be "
                               f"no larger than self {list(x.shape)} apart from dimension {dim}")
    if isinstance(src, (Tensor, np.ndarray)) and any(n > m for n, m in zip(index.shape, src.shape, strict=False)):
        raise RuntimeError(f"{name}(): Expected index {list(index.shape)} to be no larger than self {list(x.shape)} apart "
                           f"from dimension {dim} and to be no larger size than src {list(src.shape)}")


def row(x: TensorOrArray | Number) -> Any:
    """x with one dimension at least."""
    return x if not isinstance(x, (Tensor, np.ndarray)) or x.ndim else reshape(x, 1)


def gather(input: Tensor, dim: int, index: Any, *, sparse_grad: bool = False, out: Tensor | None = None) -> Tensor:
    """out[i, j] = input[index[i, j], j] for dim 0, and so on; index has the shape of the result."""
    if out is None and not sparse_grad and usual(input, dim, index):
        return Gather.apply(input, index, dim=dim % input.array.ndim)
    if sparse_grad:
        raise NotImplementedError("gather(sparse_grad=True): gradients are dense here; leave it out")
    if out is not None:
        if out.dtype != input.dtype:
            raise RuntimeError(f"Expected out tensor to have dtype {input.dtype}, but got {out.dtype} instead")
        check_apart(out, input, index)
        return into(out, gather(input.detach(), dim, index), input)
    dim, index, shape = checked("gather", input, dim, index)
    if 0 in shape:
        return reshape(input, -1)[:0].reshape(shape)
    if shape and input.ndim:
        return Gather.apply(input, index, dim=dim)
    return reshape(Gather.apply(row(input), row(index), dim=0), shape)


def _scatter_into(name: str, operation: Any, x: Any, dim: int, index: Any, src: Any, settings: Any = None) -> Tensor:
    dim, index, shape = checked(name, x, dim, index, src)
    settings = settings or {}
    ndim = src.ndim if isinstance(src, (Tensor, np.ndarray)) else 0
    if 0 in shape:
        return clone(x)
    if ndim and src.shape != shape and x.ndim:
        src = getitem(src, tuple([slice(n) for n in shape]))
    if ndim and x.ndim and shape:
        return operation.apply(x, index, src, dim=dim, **settings)
    return reshape(operation.apply(row(x), row(index), row(src), dim=dim, **settings), x.shape)


@takes_out
def scatter(input: Tensor, dim: int, index: Tensor, src: TensorOrNumber | None = None, *, value: Any = None,
            reduce: str | None = None) -> Tensor:
    """input with src[i, j] (or one number) written to [index[i, j], j] for dim 0, and so on."""
    if reduce is None and src.__class__ is Tensor and usual(input, dim, index, src):
        return Scatter.apply(input, index, src, dim=dim % input.array.ndim)
    src = value if src is None else src
    if src is None:
        raise TypeError("scatter() needs src, a Tensor, or value, a number")
    if reduce is None:
        return _scatter_into("scatter", Scatter, input, dim, index, src)
    if reduce not in ("add", "multiply"):
        raise RuntimeError(f"reduce argument must be either add or multiply, not {reduce!r}.")
    if not isinstance(src, Tensor):
        src = expand(result(np.asarray(src, input.dtype)), index.shape)
    return scatter_reduce(input, dim, index, src, "sum" if reduce == "add" else "prod")


@takes_out
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """input with src[i, j] added at [index[i, j], j] for dim 0, and so on."""
    if src.__class__ is Tensor and usual(input, dim, index, src):
        return ScatterAdd.apply(input, index, src, dim=dim % input.array.ndim)
    return _scatter_into("scatter_add", ScatterAdd, input, dim, index, src)


@takes_out
def scatter_reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    """Each element of input reduced ("sum", "prod", "mean", "amax", "amin") with those of src that index sends to it.

    Without include_self, input's own elements count only where nothing comes."""
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if reduce in ("amax", "amin"):
        demand_real("scatter_reduce", input)
    if reduce == "sum" and include_self:
        if src.__class__ is Tensor and usual(input, dim, index, src):
            return ScatterAdd.apply(input, index, src, dim=dim % input.array.ndim)
        return _scatter_into("scatter_reduce", ScatterAdd, input, dim, index, src)
    return _scatter_into("scatter_reduce", ScatterReduce, input, dim, index, src,
                         {"reduce": reduce, "include_self": include_self})


@shortcut
@maps(whole)
def _inside(index: Array, size: int) -> bool:
    """Whether no number of an index counts from the end, or is out of range."""
    return bool(index.size) and in_range(index, size)


@takes_out
def take_along_dim(input: Tensor, indices: TensorOrArray, dim: int | None = None) -> Tensor:
    """gather() whose index broadcasts against input; without dim on all elements as one row. Indices may be negative."""
    if not isinstance(indices, (Tensor, np.ndarray)) or indices.dtype != np.int64:
        raise RuntimeError("torch.take_along_dim(): dtype of indices should be Long but got "
                           f"{getattr(indices, 'dtype', indices)}")
    if dim is None:
        return reshape(getitem(reshape(input, -1), reshape(indices, -1)), -1)
    if input.ndim != indices.ndim:
        raise RuntimeError(f"torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
                           f"{input.ndim} dimensions for input, and {indices.ndim} dimensions for indices")
    dim = wrap_dim(dim, input.ndim)
    if not input.ndim or (indices.__class__ is Tensor and indices.shape == input.shape
                          and _inside(indices.array, input.shape[dim])):
        return gather(input, dim, indices)
    others = broadcast_shapes(*[(*x.shape[:dim], 1, *x.shape[dim + 1:]) for x in (input, indices)])
    array = indices.array if isinstance(indices, Tensor) else indices
    size = input.shape[dim]
    full = np.broadcast_to(array % size if size else array, (*others[:dim], array.shape[dim], *others[dim + 1:]))
    return gather(expand(input, (*others[:dim], size, *others[dim + 1:])), dim, result(np.array(full)))

__all__ = ["gather", "scatter", "scatter_add", "scatter_reduce", "take_along_dim"]
METHODS = __all__
IN_PLACE = ["scatter", "scatter_add", "scatter_reduce"]
