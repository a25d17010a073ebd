"""Sorting: sort, argsort, topk, kthvalue, msort."""

from __future__ import annotations

import numpy as np

from ...base.dtypes import int64
from ...core.batching import maps, placed
from ...core.out import takes_out
from ...core.primitive import primitive
from ...core.tensor import Tensor, result
from ...kernels.sorting import leading, nth, order
from .._kinds import demand_real
from .._names import also
from .dims import one_dim, reduction
from .take_along import TakeAlong, ValuesIndices, selected, values_and_indices


class Sort(TakeAlong):
    """Node of sort() along a dimension."""


class Topk(TakeAlong):
    """Node of topk() along a dimension."""


class Kthvalue(TakeAlong):
    """Node of kthvalue() along a dimension."""

_order, _leading, _nth = [primitive(maps(placed(1))(function)) for function in (order, leading, nth)]


@also(axis="dim")
@takes_out
def sort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = False) -> ValuesIndices:
    """The elements along `dim` in order and where they were; always stable, nan the largest."""
    demand_real("sort", input)
    dim = one_dim(dim, input.ndim)
    if input.ndim == 0:
        return selected(Sort, input, np.zeros((), int64), 0, True)
    indices = _order(input.array, dim, descending)
    return values_and_indices(Sort, input, indices, dim, distinct=True)


@takes_out
@also(axis="dim")
def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
    """Where the elements along `dim` are found in order; always stable."""
    demand_real("argsort", input)
    dim = one_dim(dim, input.ndim)
    return result(_order(input.array, dim, descending) if input.ndim else np.zeros((), int64))


@takes_out
def msort(input: Tensor) -> Tensor:
    """The elements in order along the first dimension."""
    return sort(input, 0)[0]


@also(axis="dim")
@takes_out
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> ValuesIndices:
    """The k largest (or smallest) along `dim`, the first of them first, and where they were."""
    demand_real("topk", input)
    dim = one_dim(dim, input.ndim)
    if not 0 <= k <= (input.shape[dim] if input.ndim else 1):
        raise RuntimeError(f"selected index k out of range: k = {k} along dimension {dim} of shape {list(input.shape)}")
    if input.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU; convert with .int()")
    if input.ndim == 0:
        if k == 0:
            return ValuesIndices(input.new_empty(0), result(np.zeros(0, int64)))
        return selected(Topk, input, np.zeros((), int64), 0, True)
    indices = _leading(input.array, dim, k, largest)
    return values_and_indices(Topk, input, indices, dim, distinct=True)


@reduction
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> ValuesIndices:
    """The k-th smallest along `dim`, counted from 1, and where it is."""
    demand_real("kthvalue", input)
    dim = one_dim(dim, input.ndim)
    size = input.shape[dim] if input.ndim else 1
    if size == 0:
        raise IndexError(f"kthvalue(): Expected reduction dim {dim} to have non-zero size.")
    if not 1 <= k <= size:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}: k = {k}, size {size}")
    if input.dtype.kind == "b":
        raise NotImplementedError("\"kthvalue_cpu\" not implemented for 'Bool'; convert with .int()")
    if input.ndim == 0:
        return selected(Kthvalue, input, np.zeros((), int64), 0, keepdim)
    return selected(Kthvalue, input, _nth(input.array, dim, k - 1), dim, keepdim)


__all__ = ["argsort", "kthvalue", "msort", "sort", "topk"]
METHODS = ["sort", "argsort", "msort", "topk", "kthvalue"]
