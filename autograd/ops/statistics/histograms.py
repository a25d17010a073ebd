"""Counting into bins, and finding the bin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...base.dtypes import float32, float64, int32, int64
from ...base.types import Array
from ...core.out import detached, into, takes_out
from ...core.primitive import data_dependent, primitive
from ...core.tensor import Tensor, result
from ...core.types import TensorOrNumber
from .._kinds import demand_real
from ..creation.arguments import integer
from ..no_derivative import underived

# --- places in a sorted sequence ---------------------------------------------------------------------------------------


def _places(edges: Array, values: Array, right: bool, out_int32: bool) -> Tensor:
    """Binary search in each row of edges for the values of the same row."""
    demand_real("searchsorted", edges, values)
    if edges.dtype.kind == "b":
        raise NotImplementedError("\"searchsorted_out_cpu\" not implemented for 'Bool'; convert with .int()")
    side: Any = "right" if right else "left"
    if edges.ndim == 1:
        out = np.searchsorted(edges, values, side)
    else:
        out = np.empty(values.shape, int64)
        for row in np.ndindex(edges.shape[:-1]):
            out[row] = np.searchsorted(edges[row], values[row], side)
    return result(np.asarray(out, int32 if out_int32 else int64))


def _value(value: TensorOrNumber, dtype: np.dtype[Any]) -> Array:
    """The values to search for, as an array that can be compared with the edges."""
    if isinstance(value, Tensor):
        return value.array
    return np.asarray(value, float32 if isinstance(value, float) and dtype.kind not in "fV" else dtype)


@primitive
@takes_out
def searchsorted(sorted_sequence: Tensor, input: Tensor, *, out_int32: bool = False, right: bool = False,
                 side: str | None = None, sorter: Tensor | None = None) -> Tensor:
    """Where in each row of sorted_sequence the elements of input belong: before equal ones, or behind them (right)."""
    edges = sorted_sequence.array
    values = _value(input, edges.dtype)
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(f"torch.searchsorted(): side and right can't be set to opposites, got side of {side} while "
                           f"right was {right}")
    if values.ndim == 0 and edges.ndim != 1:
        raise RuntimeError("torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is "
                           f"1, but we got boundaries tensor dim({edges.ndim})")
    if edges.ndim == 0 or (edges.ndim != 1 and edges.shape[:-1] != values.shape[:-1]):
        raise RuntimeError("torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
                           "boundaries tensor and input value tensor must match, but we got boundaries tensor "
                           f"{list(edges.shape)} and input value tensor {list(values.shape)}")
    if sorter is not None:
        edges = _sorted_by(edges, sorter)
    return _places(edges, values, right or side == "right", out_int32)


def _sorted_by(edges: Array, sorter: Tensor) -> Array:
    if sorter.shape != edges.shape:
        raise RuntimeError("torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
                           f"{list(edges.shape)} and got sorter tensor {list(sorter.shape)}")
    if sorter.dtype != int64:
        raise RuntimeError(f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {sorter.dtype}")
    if sorter.array.size and (sorter.array.min() < 0 or sorter.array.max() >= edges.shape[-1]):
        raise RuntimeError("torch.searchsorted(): sorter index out of range")
    return np.take_along_axis(edges, sorter.array, -1)


@primitive
@takes_out
def bucketize(input: Tensor, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """The number of the bin between sorted `boundaries` that each element falls in; right: bins own their left edge."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"bucketize(): boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return _places(boundaries.array, _value(input, boundaries.dtype), right, out_int32)


# --- counting --------------------------------------------------------------------------------------------------------

def _missing(name: str) -> RuntimeError:
    return RuntimeError(f"derivative for aten::{name} is not implemented")


@data_dependent
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often 0, 1, 2, ... occur in a vector, or the sums of their weights; at least `minlength` of them."""
    a = input.array
    if a.dtype.kind not in "iu":
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{a.dtype}'; it counts integers")
    if minlength < 0:
        raise RuntimeError(f"minlength should be >= 0, got {minlength}")
    if a.ndim != 1 or (a.size and a.min() < 0):
        raise RuntimeError(f"bincount only supports 1-d non-negative integral inputs, got shape {list(a.shape)}")
    if weights is None:
        return result(np.bincount(a, minlength=minlength).astype(int64))
    if weights.shape != input.shape:
        raise RuntimeError(f"weights should be 1-d and have the same length as input, got {list(weights.shape)} and "
                           f"{list(input.shape)}")
    if a.size == 0:
        return result(np.zeros(minlength, int64))
    dtype = float32 if weights.dtype == float32 else float64
    return underived(weights, np.bincount(a, weights.array, minlength).astype(dtype), _missing("bincount"))


@data_dependent
@takes_out
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements fall in each of `bins` equal bins from min to max, by default those of the elements."""
    a = input.array
    if a.dtype.kind not in "fV":
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{a.dtype}'; convert with .float()")
    bins = integer("histc", "bins", bins)
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    low, high = float(min), float(max)
    if low == high and a.size:
        low, high = float(a.min()), float(a.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError(f"torch.histc: max must be larger than min, got {low} and {high}")
    if low == high:
        low, high = low - 1, high + 1
    start, end = np.array(low, a.dtype), np.array(high, a.dtype)
    inside = a[(a >= start) & (a <= end)]
    place = ((inside - start) * np.array(bins, a.dtype) / (end - start)).astype(int64)      # rounded as the elements are
    return result(np.bincount(np.minimum(place, bins - 1), minlength=bins).astype(a.dtype))


class Histogram(NamedTuple):
    """What histogram() returns."""

    hist: Tensor
    bin_edges: Tensor


class HistogramDD(NamedTuple):
    """What histogramdd() returns."""

    hist: Tensor
    bin_edges: tuple[Any, ...]


def _edges(a: Array, bins: Any, limits: Any, dim: int) -> Array:
    """The edges of the bins of one coordinate."""
    if isinstance(bins, Tensor):
        if bins.ndim != 1 or bins.dtype != a.dtype:
            raise RuntimeError("torch.histogramdd: bins tensor should have one dimension and the same dtype as the input, "
                               f"got {bins.ndim} dimensions and {bins.dtype} for {a.dtype}")
        return bins.array
    if bins <= 0:
        raise RuntimeError(f"torch.histogramdd: bins must be > 0, but got {bins} for dimension {dim}")
    low, high = limits if limits is not None else (a.min(), a.max()) if a.size else (0.0, 1.0)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histogramdd: dimension {dim}'s range [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError(f"torch.histogramdd: min should not exceed max, but got min {low} max {high} for dimension {dim}")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1).astype(a.dtype)


def _binned(points: Array, bins: Sequence[Any], limits: Any, weight: Any, density: bool) -> tuple[Any, list[Any]]:
    """The histogram of points (n, d), and the edges of each coordinate; the last bin owns its right edge."""
    if points.dtype.kind not in "fV" or points.dtype.itemsize < 4:
        raise NotImplementedError(f"\"histogramdd\" not implemented for '{points.dtype}'; convert with .float()")
    if limits is not None and len(limits) != 2 * len(bins):
        raise RuntimeError(f"torch.histogramdd: for a {len(bins)}-dimensional histogram range should have "
                           f"{2 * len(bins)} elements, but got {len(limits)}")
    edges = [_edges(points[:, i], b, None if limits is None else limits[2 * i:2 * i + 2], i) for i, b in enumerate(bins)]
    shape = tuple([max(len(e) - 1, 0) for e in edges])
    inside, place = np.ones(len(points), bool), np.zeros(len(points), np.int64)
    for column, e, n in zip(points.T, edges, shape, strict=True):
        k = np.searchsorted(e, column, "right") - 1
        k[column == e[-1]] = n - 1
        inside &= (column >= e[0]) & (column <= e[-1])
        place = place * n + np.clip(k, 0, max(n - 1, 0))
    share = None if weight is None else weight.reshape(-1)[inside]
    total = int(np.prod(shape, dtype=int))
    hist = np.bincount(place[inside], share, total).reshape(shape).astype(points.dtype)
    if density:
        hist = hist / hist.sum()
        for i, e in enumerate(edges):
            hist = hist / np.diff(e).reshape((-1,) + (1,) * (len(edges) - 1 - i))
    return hist.astype(points.dtype), edges


def _weight(weight: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    if weight is None:
        return None
    if weight.shape != shape:
        raise RuntimeError("torch.histogramdd: if weight tensor is provided it should have the same shape as the input "
                           f"tensor excluding its innermost dimension, but got {list(weight.shape)} for {list(shape)}")
    if weight.dtype != dtype:
        raise RuntimeError("torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have "
                           f"the same dtype, but got input({dtype}), and weight({weight.dtype})")
    return weight.array


@data_dependent
def histogram(input: Tensor, bins: TensorOrNumber = 100, *, range: Any = None, weight: Any = None, density: bool = False,
              out: Tensor | None = None) -> Histogram:
    """(hist, bin_edges): the elements counted into `bins` equal bins over `range`, or between the edges `bins`."""
    if isinstance(bins, Tensor) and range is not None:
        raise TypeError("histogram() takes range only with a number of bins")
    if out is not None:
        made = histogram(detached(input), detached(bins), range=range, weight=detached(weight), density=density)
        return Histogram(*[into(o, v, input) for o, v in zip(out, made, strict=True)])
    points = input.array.reshape(-1, 1)
    hist, edges = _binned(points, [bins], range, _weight(weight, input.shape, input.dtype), density)
    return Histogram(*underived(input, (hist, edges[0]), _missing("histogram")))


@data_dependent
def histogramdd(input: Tensor, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> HistogramDD:
    """(hist, bin_edges) of points (..., d) in d dimensions; bins: one number, or a number or a vector of edges for each."""
    if input.ndim < 2:
        raise RuntimeError(f"torch.histogramdd: input tensor should have at least 2 dimensions, but got {input.ndim}")
    d = input.shape[-1]
    each = list(bins) if isinstance(bins, (tuple, list)) else [bins] * d
    if len(each) != d:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input: "
                           f"{len(each)} and {d}")
    hist, edges = _binned(input.array.reshape(-1, d), each, range, _weight(weight, input.shape[:-1], input.dtype), density)
    hist, *edges = underived(input, (hist, *edges), _missing("histogramdd"))
    return HistogramDD(hist, tuple(edges))


__all__ = ["bincount", "bucketize", "histc", "histogram", "histogramdd", "searchsorted"]
METHODS = ["bincount", "histc", "histogram"]
