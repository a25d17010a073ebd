"""The `dim` argument of reductions: which dimensions go, which shape stays, and NumPy's names for it."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ...base.types import Dims
from ...core.out import takes_out
from ...core.tensor import Tensor
from ..shape import wrap_dim

F = TypeVar("F", bound=Callable[..., Any])


def dims_of(dim: Dims, ndim: int) -> tuple[int, ...]:
    """The dimensions to reduce, from the front; None and () stand for all."""
    if dim is None:
        return tuple(range(ndim))
    if dim.__class__ is int and -ndim <= dim < ndim:  # type: ignore[operator]
        return (dim % ndim,)  # type: ignore[operator]
    if not isinstance(dim, (tuple, list)):
        wrapped = wrap_dim(operator.index(dim), ndim)  # type: ignore[arg-type]
        return (wrapped,) if ndim else ()
    if not dim:
        return tuple(range(ndim))
    dims = tuple([wrap_dim(operator.index(d), ndim) for d in dim])
    if len(set(dims)) != len(dims):
        repeated = next(d for d in dims if dims.count(d) > 1)
        raise RuntimeError(f"dim {repeated} appears multiple times in the list of dims")
    return dims if ndim else ()


def one_dim(dim: int, ndim: int) -> int:
    """A single dimension, from the front. TypeError for anything but an integer."""
    if dim.__class__ is int and -ndim <= dim < ndim:
        return dim % ndim
    try:
        return wrap_dim(operator.index(dim), ndim)
    except TypeError:
        raise TypeError(f"dim must be int, not {type(dim).__name__}") from None


@functools.lru_cache(maxsize=512)
def keepdim_shape(shape: tuple[int, ...], dims: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` with the reduced dimensions at size 1."""
    return tuple([1 if i in dims else n for i, n in enumerate(shape)])


def count(shape: tuple[int, ...], dims: tuple[int, ...]) -> int:
    """The number of elements that each result of a reduction combines."""
    n = 1
    for d in dims:
        n *= shape[d]
    return n


def nonempty(shape: tuple[int, ...], dims: tuple[int, ...], name: str) -> None:
    """IndexError if a dimension to be reduced has no elements, for reductions without an identity."""
    for d in dims:
        if shape[d] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size, got shape {list(shape)}.")


def check_no_overlap(out: Any, inputs: tuple[Any, ...]) -> None:
    """RuntimeError if `out`, a Tensor or several, shares memory with an input."""
    for o in out if isinstance(out, (tuple, list)) else (out,):
        for x in inputs:
            if isinstance(x, Tensor) and isinstance(o, Tensor) and np.may_share_memory(o.array, x.array):
                raise RuntimeError("unsupported operation: some elements of the input tensor and the written-to tensor "
                                   "refer to a single memory location. Please clone() the tensor before performing the "
                                   f"operation. The shapes are {list(x.shape)} and {list(o.shape)}")


def reduction(function: F) -> F:
    """Let a reduction take `out=`, and NumPy's names `axis` and `keepdims`."""
    writing = takes_out(function)

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            if "axis" in kwargs:
                kwargs["dim"] = kwargs.pop("axis")
            if "keepdims" in kwargs:
                kwargs["keepdim"] = kwargs.pop("keepdims")
            out = kwargs.pop("out", None)
            if out is not None:
                check_no_overlap(out, args)
                return writing(*args, out=out, **kwargs)
        return function(*args, **kwargs)

    return wrapped  # type: ignore[return-value]
