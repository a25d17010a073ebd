"""Values without repetition, and membership."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.types import Array
from ...core.out import takes_out
from ...core.primitive import data_dependent, primitive, spanned
from ...core.tensor import Tensor, result
from ...core.types import TensorOrNumber
from ...kernels.sorting import order
from .._kinds import demand_real
from ..no_derivative import underived
from ..reductions.dims import one_dim


def _rows(a: Array, dim: int | None, name: str) -> Array:
    """The items to compare: the elements, or the slices along dim as rows of a matrix."""
    if dim is None:
        return a.reshape(-1)
    if a.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if a.size == 0 and a.shape[dim] != 0:
        raise RuntimeError(f"There are 0 sized dimensions, and they aren't selected, so {name} cannot be applied; the "
                           f"shape is {list(a.shape)}")
    rows = np.moveaxis(a, dim, 0)
    return rows.reshape(len(rows), -1) if a.size else np.zeros((len(rows), 1), a.dtype)


def _starts(rows: Array) -> Array:
    """Where an element or row differs from the one before it; nan differs from itself."""
    new = np.ones(len(rows), bool)
    new[1:] = rows[1:] != rows[:-1] if rows.ndim == 1 else (rows[1:] != rows[:-1]).any(axis=1)
    return new


def _answer(input: Tensor, dim: int | None, rows: Array, found: Array, new: Array, name: str,
            wants: tuple[bool, bool]) -> Any:
    """The first of each run among the rows as `found`; for each row the number of its run; how long the runs are."""
    a = input.array
    first = found[new]
    values = rows[first] if dim is None else np.take(a, first, axis=dim)
    out = underived(input, values, NotImplementedError(f"the derivative for '{name}' is not implemented."))
    parts = []
    if wants[0]:
        inverse = np.empty(len(rows), np.int64)
        inverse[found] = np.cumsum(new) - 1
        parts.append(result(inverse.reshape(a.shape) if dim is None else inverse))
    if wants[1]:
        parts.append(result(np.diff(np.append(np.flatnonzero(new), len(rows))).astype(np.int64)))
    return (out, *parts) if parts else out


@data_dependent
@spanned
def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
           dim: int | None = None) -> Tensor | tuple[Tensor, ...]:
    """The distinct elements, or slices along `dim`, in order; with where each element went and how often each came."""
    demand_real("unique", input)
    dim = None if dim is None else one_dim(dim, input.ndim)
    rows = _rows(input.array, dim, "unique")
    found = order(rows, 0) if dim is None else np.lexsort(rows.T[::-1])
    return _answer(input, dim, rows, found, _starts(rows[found]), "_unique2" if dim is None else "unique_dim",
                   (return_inverse, return_counts))


@data_dependent
@spanned
def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False,
                       dim: int | None = None) -> Tensor | tuple[Tensor, ...]:
    """The first of each run of equal elements, or slices along `dim`; with the run of each and the lengths of the runs."""
    demand_real("unique_consecutive", input)
    dim = None if dim is None else one_dim(dim, input.ndim)
    rows = _rows(input.array, dim, "unique_consecutive")
    return _answer(input, dim, rows, np.arange(len(rows)), _starts(rows), "unique_consecutive",
                   (return_inverse, return_counts))


@takes_out
@primitive
def isin(elements: TensorOrNumber, test_elements: TensorOrNumber, *, assume_unique: bool = False,
         invert: bool = False) -> Tensor:
    """Whether each of `elements` is among `test_elements`; one of them may be a number. assume_unique is a hint only."""
    if not isinstance(elements, Tensor) and not isinstance(test_elements, Tensor):
        raise TypeError(f"isin() needs at least one Tensor, got {type(elements).__name__} and "
                        f"{type(test_elements).__name__}")
    a, b = (x.array if isinstance(x, Tensor) else np.asarray(x) for x in (elements, test_elements))
    demand_real("isin", a, b)
    if a.dtype.kind == "b" or b.dtype.kind == "b":
        raise RuntimeError("Unsupported input type encountered for isin(): bool; convert with .int()")
    return result(np.isin(a, b, invert=invert))


__all__ = ["isin", "unique", "unique_consecutive"]
METHODS = ["unique", "unique_consecutive"]
