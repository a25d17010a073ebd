"""Rows of a table by number, one by one (embedding) or reduced in bags (embedding_bag)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...base.types import Array
from ...core.batching import Level, maps, whole
from ...core.graph import shared_counter
from ...core.operation import Operation
from ...core.primitive import primitive, value_read
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels.segments import add_rows, first_largest
from ...kernels.take_along import in_range
from ..index.indexing import getitem
from ..pointwise.where import passing
from ..shape import reshape


def _rows_of_each(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """Embedding's rule for batches."""
    weight, index, shares = args
    if not level.has(weight):
        return call(weight, level.raw(index), level.raw(shares))
    return EmbeddingEach.apply(level.raw(weight), level.front(index), level.front(shares))


def _added_to_each(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """EmbeddingDenseBackward's rule for batches: the tables one below the other."""
    g, index, shares = [level.front(x) for x in args]
    rows = settings["rows"]
    return call(g, below(index, rows), shares, rows=level.size * rows).reshape((level.size, rows, g.shape[-1]))


def below(index: Any, rows: int) -> Any:
    """Numbers (b, ...) of rows in b tables, as numbers in all tables, one below the other."""
    return index + (rows * np.arange(len(index))).reshape(-1, *[1] * (index.ndim - 1))


def _bags_of_each(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """EmbeddingBag's rule for batches: of the same bags for all samples."""
    rows, groups = args
    if level.has(groups):
        return NotImplemented
    wide = level.raw(rows).movedim(0, 1)
    out = call(wide.reshape((wide.shape[0], -1)), groups, n=settings["n"])
    return out.reshape((out.shape[0], *wide.shape[1:])).movedim(1, 0)


class Embedding(Operation):
    """weight[index]: rows of a table."""

    batched = _rows_of_each

    @staticmethod
    def forward(ctx: Context, weight: Array, index: Array, shares: Array | None) -> Array:
        ctx.save(index, shares)
        ctx.rows = weight.shape[0]
        return np.take(weight, index, axis=0)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """Add up the gradients of all uses of each row."""
        index, shares = ctx.values
        return EmbeddingDenseBackward.apply(g, index, shares, rows=ctx.rows), None, None


class EmbeddingEach(Operation, name="Embedding"):
    """Rows of a table for each sample: weight (b, rows, d), which may be one that is repeated (stride 0), index (b, ...)."""

    @staticmethod
    def forward(ctx: Context, weight: Array, index: Array, shares: Array | None) -> Array:
        """np.take of one table, NumPy's indexing of several."""
        ctx.save(index, shares)
        ctx.shape = weight.shape
        if weight.strides[0] == 0 and len(weight):
            return np.take(weight[0], index, axis=0)
        return weight[np.arange(len(index)).reshape(-1, *[1] * (index.ndim - 1)), index]

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """Add up the gradients of all uses of each row of each table."""
        index, shares = ctx.values
        b, rows, _ = ctx.shape
        out = EmbeddingDenseBackward.apply(g, below(index, rows), shares, rows=b * rows)
        return reshape(out, ctx.shape), None, None


class EmbeddingDenseBackward(Operation):
    """Zeros with g added at the rows of index, divided by shares (0: left out), the adjoint of Embedding."""

    batched = _added_to_each

    @staticmethod
    def forward(ctx: Context, g: Array, index: Array, shares: Array | None, *, rows: int) -> Array:
        """kernels.segments.add_rows() sums by sorted index."""
        ctx.save(index, shares)
        if shares is not None:
            g = divided(g, shares)
        return add_rows(g.reshape(index.size, g.shape[-1]), index.reshape(-1), rows)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The rows of the second gradient at the same numbers."""
        index, shares = ctx.values
        out = Embedding.apply(g, index, None)
        return out if shares is None else divided(out, shares), None, None


def divided(g: Array, shares: Array) -> Array:
    """g / shares along the last dimension, 0 where a share is 0."""
    factor = np.where(shares == 0, 0, 1 / np.maximum(shares, 1)).astype(g.dtype)
    return passing(g * factor[..., None], (shares != 0)[..., None])


@primitive
@maps(lambda level, call, args, settings: NotImplemented if args[3] else whole(level, call, args, settings))
def _shares(index: Array, rows: int, padding_idx: int | None, by_frequency: bool) -> Array | None:
    """What to divide the gradient of each use by; 0 where it does not count. None: by nothing."""
    if padding_idx is None and not by_frequency:
        return None
    counts = np.bincount(index.reshape(-1), minlength=rows)[index] if by_frequency else np.ones(index.shape, np.int64)
    return counts if padding_idx is None else np.where(index == padding_idx, 0, counts)


def _table(weight: Tensor) -> None:
    """RuntimeError unless weight is a matrix."""
    if weight.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D, got {list(weight.shape)}")


def _checked(index: Tensor, weight: Tensor, name: str) -> Array:
    """The array of indices, in range."""
    if not isinstance(index, Tensor) or index.array.dtype.kind not in "iu":
        got = index.dtype if isinstance(index, Tensor) else type(index).__name__
        raise RuntimeError(f"{name}: expected indices of dtype int64 or int32; but got {got} instead")
    _in_range(index.array, weight.array.shape[0], name)
    return index.array


@primitive
@maps(whole)
def _in_range(a: Array, rows: int, name: str) -> None:
    """An error unless all indices name rows: IndexError from embedding, RuntimeError from embedding_bag."""
    if a.size and not in_range(a, rows):
        if name == "embedding":
            raise IndexError(f"index out of range in self: indices from {a.min()} to {a.max()}, {rows} rows")
        outside = a.reshape(-1)[((a < 0) | (a >= rows)).reshape(-1)][0]
        raise RuntimeError(f"{name}: Expected idx >= 0 && idx < num_embeddings ({rows}) but found idx to be {outside}")


def checked_padding_idx(padding_idx: int | None, rows: int, name: str) -> int | None:
    """padding_idx counted from the front. Outside: AssertionError from embedding, RuntimeError from embedding_bag."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        if name == "embedding":
            raise AssertionError(f"Padding_idx must be within num_embeddings: {padding_idx} with {rows} rows")
        raise RuntimeError(f"{name}: padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but "
                           f"got {padding_idx}")
    return padding_idx % rows


def renorm_rows(weight: Tensor, index: Array, max_norm: float, norm_type: float) -> None:
    """Scale the rows used down to norm max_norm, in place, where theirs is larger."""
    value_read("max_norm of an embedding")
    used = np.unique(index)
    rows = weight.array[used]
    norms = np.linalg.norm(rows, norm_type, axis=1)
    factors = np.where(norms > max_norm, max_norm / (norms + 1e-7), 1)
    weight.array[used] = rows * factors[:, None].astype(rows.dtype)
    shared_counter(weight).value += 1


def warn_dense(sparse: bool) -> None:
    """Warn where sparse=True asks for sparse gradients; from one line of code, so that Python shows it once."""
    if sparse:
        warnings.warn("sparse=True: the gradient of an embedding is a dense tensor here; optimizers take it as it is",
                      UserWarning, stacklevel=1)


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
              norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """The rows of weight (rows, d) that input (any shape, integers) names: shape (*input.shape, d)."""
    warn_dense(sparse)
    _table(weight)
    rows = weight.array.shape[0]
    padding_idx = checked_padding_idx(padding_idx, rows, "embedding")
    index = _checked(input, weight, "embedding")
    if max_norm is not None:
        renorm_rows(weight, index, max_norm, norm_type)
    counted = padding_idx is not None or scale_grad_by_freq
    return Embedding.apply(weight, input, _shares(index, rows, padding_idx, scale_grad_by_freq) if counted else None)


# --- bags --------------------------------------------------------------------------------------------------------------

class EmbeddingBag(Operation):
    """Rows (m, d) added up by their group numbers (m,): (n, d)."""

    batched = _bags_of_each

    @staticmethod
    def forward(ctx: Context, rows: Array, groups: Array, *, n: int) -> Array:
        """kernels.segments.add_rows() sums by sorted group."""
        ctx.save(groups)
        return add_rows(rows, groups, n)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The gradient of its bag for each row."""
        (groups,) = ctx.values
        return Embedding.apply(g, groups, None), None


def embedding_bag(input: Any, weight: Tensor, offsets: Any = None, max_norm: float | None = None, norm_type: float = 2,
                  scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
                  per_sample_weights: Tensor | None = None, include_last_offset: bool = False,
                  padding_idx: int | None = None) -> Tensor:
    """The sum, mean or maximum of rows of weight, bag by bag: (bags, d)."""
    warn_dense(sparse)
    if weight.dtype.kind in "iu" and input.dtype.kind in "fV":
        warnings.warn("Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` "
                      "is deprecated, and should now be `embedding_bag(input, weight, ...)`.", UserWarning, stacklevel=2)
        input, weight = weight, input
    _check_bag_arguments(input, per_sample_weights, mode, scale_grad_by_freq)
    if input.ndim != 2 or padding_idx is not None or max_norm is not None or mode == "max":
        value_read("embedding_bag()")
    lengths = _lengths(input, offsets, include_last_offset)
    if not len(lengths):                             # no bag has any of the indices
        input, per_sample_weights = input[:0], None if per_sample_weights is None else per_sample_weights[:0]
    _table(weight)
    if per_sample_weights is not None and per_sample_weights.dtype != weight.dtype:
        raise RuntimeError(f"embedding_bag: expected per_sample_weights to have the same type as weight, but got "
                           f"{per_sample_weights.dtype} and {weight.dtype}")
    used: Any = reshape(input, (_checked(input, weight, "embedding_bag").size,))   # a Tensor: writes to it are noticed
    index = used.array
    padding_idx = checked_padding_idx(padding_idx, weight.shape[0], "embedding_bag")
    if max_norm is not None:
        renorm_rows(weight, index, max_norm, norm_type)
    groups = np.repeat(np.arange(len(lengths)), lengths)
    weights = None if per_sample_weights is None else reshape(per_sample_weights, (index.size,))
    if padding_idx is not None:
        keep = np.flatnonzero(index != padding_idx)
        index, groups = index[keep], groups[keep]
        weights = None if weights is None else getitem(weights, keep)
    shares = _shares(index, weight.shape[0], None, True) if scale_grad_by_freq else None
    rows = Embedding.apply(weight, used if padding_idx is None else index, shares)
    if weights is not None:
        rows = rows * reshape(weights, (index.size, 1))
    if mode == "max":
        return _largest(rows, groups, len(lengths))
    out = EmbeddingBag.apply(rows, groups, n=len(lengths))
    if mode == "sum":
        return out
    counts: Any = np.maximum(np.bincount(groups, minlength=len(lengths)), 1).astype(weight.dtype)
    return out / counts[:, None]


def _largest(rows: Tensor, groups: Array, n: int) -> Tensor:
    """The largest of each group and column."""
    present, numbers = first_largest(rows.array, groups)
    picked = getitem(rows, (numbers, np.arange(rows.shape[1])))
    return EmbeddingBag.apply(picked, present, n=n)


def _check_bag_arguments(input: Tensor, per_sample_weights: Tensor | None, mode: str, scale_grad_by_freq: bool) -> None:
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"mode has to be one of sum, mean or max, not {mode!r}")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if per_sample_weights is None:
        return
    if mode != "sum":
        raise NotImplementedError("embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "
                                  f"mode='sum' (got mode='{mode}').")
    if per_sample_weights.shape != input.shape:
        raise ValueError(f"embedding_bag: If per_sample_weights ({list(per_sample_weights.shape)}) is not None, then it "
                         f"must have the same shape as the input ({list(input.shape)})")


def _lengths(input: Tensor, offsets: Tensor | None, include_last_offset: bool) -> Array:
    """How many indices each bag has."""
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "
                             f"length sequences. However, found offsets of type {type(offsets).__name__}")
        return np.full(input.shape[0], input.shape[1])
    if input.ndim != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.ndim != 1:
        raise ValueError(f"offsets has to be a 1D Tensor, but got {list(offsets.shape)}")
    starts = offsets.array
    if include_last_offset and not len(starts):
        raise RuntimeError("include_last_offset: number of offsets should be at least 1")
    if len(starts) and starts[0] != 0:
        raise RuntimeError("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position "
                           f"0. However, got {starts[0]}")
    if len(starts) and starts[-1] > input.shape[0]:
        raise RuntimeError(f"offsets[-1] can not be greater than input's length({input.shape[0]}) but got offsets[-1] of "
                           f"{starts[-1]}")
    if include_last_offset and starts[-1] != input.shape[0]:
        raise RuntimeError(f"include_last_offset: offsets[-1] must be the length of input, {input.shape[0]}, "
                           f"not {starts[-1]}")
    lengths = np.diff(starts) if include_last_offset else np.diff(np.append(starts, input.shape[0]))
    if (lengths < 0).any():
        raise RuntimeError(f"embedding_bag: offsets must not decrease, got {starts.tolist()}")
    return lengths


__all__: list[str] = []
METHODS: list[str] = []
