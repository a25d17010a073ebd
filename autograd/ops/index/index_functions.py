"""Reading and writing of slices along one dimension, by a vector of their numbers: index_select, index_add and their
variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.types import Array
from ...core.batching import Level
from ...core.casting import casting, widest
from ...core.operation import Operation
from ...core.out import takes_out, takes_out_apart
from ...core.primitive import primitive, value_read
from ...core.tensor import Tensor, result
from ...core.types import Context, Gradients, TensorOrArray, TensorOrNumber
from ...kernels.scatter import add_along
from ...kernels.take_along import INT64, in_range, limits
from .._kinds import demand_real
from ..creation.arguments import storable
from ..shape import broadcast_to, expand, flatten, reshape, unsqueeze, wrap_dim
from .assignment import IndexPut
from .gather_scatter import scatter_reduce
from .indexing import Index

COLON = slice(None)


def _added(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """IndexAdd's rule for batches: of one index for all samples."""
    x, index, source = args
    if level.has(index):
        return NotImplemented
    return call(level.front(x), index, level.front(source), dim=settings["dim"] + 1, alpha=settings["alpha"])


class IndexAdd(Operation):
    """x with alpha * source added to its slices `index` along dim."""

    batched = _added

    @staticmethod
    def forward(ctx: Context, x: Array, index: Array, source: Array, *, dim: int, alpha: Any) -> Array:
        """kernels.scatter adds the rows, in the order of the index."""
        ctx.save(index)
        ctx.dim, ctx.alpha = dim, alpha
        out = np.array(x, order="C")
        add_along(out, dim, index, source if alpha == 1 else source * np.asarray(alpha).astype(x.dtype))
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The gradient of x is g; that of source is g's slices at the index."""
        (index,) = ctx.values
        if not ctx.needs(2):
            return g, None, None
        gs = Index.apply(g, index, dims=(ctx.dim,))
        return g, None, gs if ctx.alpha == 1 else gs * ctx.alpha


def vector(name: str, index: TensorOrArray, error: type[Exception] = IndexError) -> Any:
    """An index as a vector of integers."""
    if not isinstance(index, (Tensor, np.ndarray)):
        raise TypeError(f"{name}(): argument 'index' must be Tensor, not {type(index).__name__}")
    array = index.array if isinstance(index, Tensor) else index
    if array.ndim == 1 and array.dtype is INT64:
        return index
    if index.ndim > 1:
        raise error(f"{name}(): Index is supposed to be a vector, not of shape {list(index.shape)}")
    if index.dtype.kind != "i" or index.dtype.itemsize < 4:
        raise RuntimeError(f"{name}(): Expected dtype int32 or int64 for index, not {index.dtype}")
    return index if index.ndim else reshape(index, 1)


def check_range(index: Tensor, size: int, error: type[Exception], negative: bool = False) -> None:
    """Raise `error` for an index that is out of bounds."""
    array = index.array if isinstance(index, Tensor) else index
    if array.size:
        _in_bounds(array, size, error, negative)


@primitive
def _in_bounds(array: Array, size: int, error: type[Exception], negative: bool) -> None:
    """check_range() of an array, which compiled steps call again."""
    if in_range(array, size):
        return
    low, high = limits(array)
    if low < (-size if negative else 0) or high >= size:
        bad = low if low < (-size if negative else 0) else high
        raise error(f"index out of range in self: {bad} is out of bounds for a dimension of size {size}")


@takes_out_apart
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of input along `dim` that the vector `index` names, in its order."""
    shape = input.array.shape
    dim = wrap_dim(dim, len(shape))
    rows = vector("index_select", index)
    if not shape:
        if rows.shape[0] != 1:
            raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {rows.shape[0]} value(s)")
        check_range(rows, 1, IndexError)
        return reshape(Index.apply(reshape(input, 1), rows, dims=(0,)), ())
    check_range(rows, shape[dim], IndexError)
    return Index.apply(input, rows, dims=(dim,))


def _sources(name: str, x: Tensor, dim: int, index: Tensor, source: Tensor,
             error: type[Exception]) -> tuple[Any, Any, Any, int]:
    """x, index and source with one dimension at least, and dim, after checks."""
    dim, rows = wrap_dim(dim, x.ndim), vector(name, index)
    if source.dtype != x.dtype:
        raise RuntimeError(f"{name}(): self and source expected to have the same dtype, but got (self) {x.dtype} and "
                           f"(source) {source.dtype}")
    full, given = (x if x.ndim else reshape(x, 1)), (source if source.ndim else reshape(source, 1))
    if full.ndim != given.ndim:
        raise error(f"{name}(): When source and destination are not scalars, their dimensionality must match. Source "
                    f"dimensionality ({source.ndim}), destination dimensionality ({x.ndim})")
    if given.shape[dim] != rows.shape[0]:
        raise error(f"{name}(): Number of indices ({rows.shape[0]}) should be equal to source.size(dim): "
                    f"({given.shape[dim]}), for dim: {dim}")
    if given.shape[:dim] != full.shape[:dim] or given.shape[dim + 1:] != full.shape[dim + 1:]:
        raise error(f"{name}(): Source/destination tensor must have same slice shapes. Destination slice shape: "
                    f"{list(full.shape)} at dimension {dim} and source slice shape: {list(given.shape)}.")
    check_range(rows, full.shape[dim], error)
    return full, rows, given, dim


@takes_out
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """input with alpha * source[i] added to its slice index[i] along `dim`."""
    full, rows, given, dim = _sources("index_add", input, dim, index, source, RuntimeError)
    return reshape(IndexAdd.apply(full, rows, given, dim=dim, alpha=alpha), input.shape)


@takes_out
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """input with its slice index[i] along `dim` replaced by source[i]."""
    if casting.used:
        input, source = widest((input, source))
    full, rows, given, dim = _sources("index_copy", input, dim, index, source, IndexError)
    return reshape(IndexPut.apply(full, given, index=(*[COLON] * dim, rows)), input.shape)


@takes_out
def index_fill(input: Any, dim: int, index: Tensor, value: Any) -> Tensor:
    """input with its slices `index` along `dim` filled with one number."""
    dim, rows = wrap_dim(dim, input.ndim), vector("index_fill", index, RuntimeError)
    if rows.dtype != np.int64:
        raise IndexError(f"index_fill(): Expected dtype int64 for index, not {rows.dtype}.")
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(f"index_fill only supports a 0-dimensional value tensor, but got tensor with {value.ndim} "
                           "dimension(s).")
    if input.dtype.kind != "c" and (value.__class__ is complex or (isinstance(value, Tensor) and value.dtype.kind == "c")):
        raise RuntimeError(f"index_fill_(): Converting complex Scalar to non-complex type is not supported: {value}")
    full = input if input.ndim else reshape(input, 1)
    check_range(rows, full.shape[dim], IndexError, negative=True)
    value = value if isinstance(value, Tensor) else np.asarray(storable(value, input.dtype)).astype(input.dtype)
    return reshape(IndexPut.apply(full, value, index=(*[COLON] * dim, rows)), input.shape)


@takes_out
def index_reduce(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *,
                 include_self: bool = True) -> Tensor:
    """input with its slice index[i] along `dim` reduced ("prod", "mean", "amax", "amin") with source[i]."""
    demand_real("index_reduce", input)
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    full, rows, given, dim = _sources("index_reduce", input, dim, index, source, RuntimeError)
    places = expand(reshape(rows, (*[1] * dim, -1, *[1] * (full.ndim - dim - 1))), given.shape)
    out = scatter_reduce(full, dim, places, given, reduce, include_self=include_self)
    return reshape(out, input.shape)


def repeat_interleave(input: Tensor, repeats: TensorOrNumber | None = None, dim: int | None = None, *,
                      output_size: int | None = None) -> Tensor:
    """Each slice of input along `dim` (each element without it) repeated: a number of times for all, or one for each.

    With repeats alone: the number i repeats[i] times, for each i."""
    if repeats is None:
        return _numbers(input, output_size)
    if not isinstance(repeats, (Tensor, int, np.integer)):
        raise TypeError(f"repeat_interleave(): argument 'repeats' must be Tensor or int, not {type(repeats).__name__}")
    x = reshape(input, -1) if dim is None else input if input.ndim else reshape(input, 1)
    dim = wrap_dim(0 if dim is None else dim, x.ndim)
    size = x.shape[dim]
    if not isinstance(repeats, Tensor):
        return _equal_copies(x, int(repeats), dim, output_size)
    if repeats.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats.ndim == 0 or (repeats.shape[0] == 1 and size != 1):
        repeats = broadcast_to(repeats, (size,))
    if repeats.shape[0] != size:
        raise RuntimeError(f"repeats must have the same size as input along dim, but got repeats.size(0) = "
                           f"{repeats.shape[0]} and input.size({dim}) = {size}")
    return Index.apply(x, _numbers(repeats, output_size).array, dims=(dim,))


def _equal_copies(x: Tensor, times: int, dim: int, output_size: int | None) -> Tensor:
    if times < 0:
        raise RuntimeError(f"repeats can not be negative, not {times}")
    if output_size is not None and output_size != x.shape[dim] * times:
        raise RuntimeError(f"output_size={output_size}: the result has {x.shape[dim] * times} along dimension {dim}")
    wide = (*x.shape[:dim + 1], times, *x.shape[dim + 1:])
    return flatten(expand(unsqueeze(x, dim + 1), wide), dim, dim + 1)


def _numbers(repeats: Tensor, output_size: int | None) -> Tensor:
    if repeats.ndim != 1:
        raise RuntimeError(f"repeat_interleave only accept 1D vector as repeat, not of shape {list(repeats.shape)}")
    if repeats.dtype not in (np.int64, np.int32):
        raise RuntimeError(f"repeats has to be Long or Int tensor, not {repeats.dtype}")
    array = repeats.array
    value_read("repeat_interleave() by a tensor")
    if array.size and array.min() < 0:
        raise RuntimeError(f"repeats can not be negative, not {array.min()}")
    if output_size is not None and output_size != array.sum():
        raise RuntimeError(f"allocated size does not match required size: output_size={output_size}, sum {array.sum()}")
    return result(np.repeat(np.arange(array.size), array).astype(array.dtype))


__all__ = ["index_add", "index_copy", "index_fill", "index_reduce", "index_select", "repeat_interleave"]
METHODS = __all__
IN_PLACE = ["index_add", "index_copy", "index_fill", "index_reduce"]
