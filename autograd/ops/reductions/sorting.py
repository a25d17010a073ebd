"""Sorting: sort, argsort, topk, kthvalue, msort."""

from __future__ import annotations

import numpy as np

from ...base.dtypes import int64
from ...core.batching import maps, placed
from ...core.out import takes_out
from ...core.primitive import primitive
from ...core.tensor import Tensor, result
from ...kernels.sorting import leading, nth, order, ordered
from .._kinds import demand_real
from .._names import also
from .dims import one_dim, reduction
from .take_along import Picked, ValuesIndices, picked


class Sort(Picked):
    """Node of sort() along a dimension."""

    choose = staticmethod(ordered)


class Topk(Picked):
    """Node of topk() along a dimension."""

    choose = staticmethod(leading)


class Kthvalue(Picked):
    """Node of kthvalue() along a dimension."""

    choose = staticmethod(nth)


_order = primitive(maps(placed(1))(order))


@also(axis="dim")
@takes_out
def sort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = False) -> ValuesIndices:
    """The elements along `dim` in order and where they were; always stable, nan the largest."""
    return picked(Sort, input, one_dim(dim, input.array.ndim), descending)


@also(axis="dim")
@takes_out
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
    array = input.array
    ndim, kind = array.ndim, array.dtype.kind
    dim = one_dim(dim, ndim)
    if not 0 <= k <= (array.shape[dim] if ndim else 1):
        raise RuntimeError(f"selected index k out of range: k = {k} along dimension {dim} of shape {list(input.shape)}")
    if kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU; convert with .int()")
    if ndim == 0 and k == 0:
        return ValuesIndices(input.new_empty(0), result(np.zeros(0, int64)))
    return picked(Topk, input, dim, k, largest)


@reduction
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> ValuesIndices:
    """The k-th smallest along `dim`, counted from 1, and where it is."""
    array = input.array
    dim = one_dim(dim, array.ndim)
    size = array.shape[dim] if array.ndim else 1
    if size == 0:
        raise IndexError(f"kthvalue(): Expected reduction dim {dim} to have non-zero size.")
    if not 1 <= k <= size:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}: k = {k}, size {size}")
    if array.dtype.kind == "b":
        raise NotImplementedError("\"kthvalue_cpu\" not implemented for 'Bool'; convert with .int()")
    return picked(Kthvalue, input, dim, k - 1, keepdim=keepdim)


__all__ = ["argsort", "kthvalue", "msort", "sort", "topk"]
METHODS = ["sort", "argsort", "msort", "topk", "kthvalue"]
