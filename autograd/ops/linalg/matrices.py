"""What a function of matrices demands of its arguments, and its error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.types import Array
from ...core.tensor import Tensor
from ...kernels.lu import lu_factor


class LinAlgError(RuntimeError):
    """A matrix without the required property: it is singular or not positive definite, or an algorithm failed.

    Example:
        >>> issubclass(ag.linalg.LinAlgError, RuntimeError)
        True
    """


def array_of(x: Any) -> Any:
    """The array of a Tensor; an array as it is."""
    return x.array if isinstance(x, Tensor) else x


def demand_matrices(name: str, x: Tensor, argument: str = "A") -> None:
    """RuntimeError unless x holds matrices of single or double precision."""
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions, its shape is "
                           f"{list(x.shape)}.")
    demand_precision(name, x)


def demand_precision(name: str, x: Tensor) -> None:
    """RuntimeError unless x has single or double precision."""
    if x.dtype.kind not in "fcV":
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {x.dtype}")
    if x.dtype == np.float16:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {x.dtype}; convert to float32 first")


def demand_square(name: str, x: Tensor, argument: str = "A") -> None:
    """RuntimeError unless x holds square matrices of single or double precision."""
    demand_matrices(name, x, argument)
    if x.shape[-1] != x.shape[-2]:
        raise RuntimeError(f"{name}: {argument} must be batches of square matrices, but they are {x.shape[-2]} by "
                           f"{x.shape[-1]} matrices")


def demand_same_dtype(name: str, x: Tensor, y: Tensor) -> None:
    """RuntimeError unless both have the same dtype."""
    if x.dtype != y.dtype:
        raise RuntimeError(f"{name}: Expected A and B to have the same dtype, but found A of type {x.dtype} and B of type "
                           f"{y.dtype} instead")


def demand_broadcast(name: str, x: Tensor, y: Tensor) -> None:
    """RuntimeError unless the batch dimensions of two stacks of matrices broadcast."""
    try:
        np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        raise RuntimeError(f"{name}: The batch dimensions of the shapes {list(x.shape)} and {list(y.shape)} do not "
                           "broadcast") from None


def attempt(name: str, function: Callable[..., Any], x: Array, *args: Any, **settings: Any) -> Any:
    """function(x, ...) of NumPy, with LinAlgError where it fails."""
    try:
        return function(x, *args, **settings)
    except np.linalg.LinAlgError as error:
        raise LinAlgError(f"{name}: {error}; the input has shape {list(x.shape)}"
                          + ("" if np.isfinite(x).all() else " and non-finite values")) from None


def zero_pivots(x: Array) -> Array:
    """For each matrix the number (from 1) of the first zero on the diagonal of U in LU, or 0: which are singular."""
    return lu_factor(x)[2]


def first_bad(info: Array) -> tuple[str, int]:
    """Words that say which matrix of a stack is the first with info > 0, and its info."""
    if info.ndim == 0:
        return "", int(info)
    place = int(np.flatnonzero(info.reshape(-1))[0])
    return f"(Batch element {place}): ", int(info.reshape(-1)[place])


def no_info(x: Tensor) -> Array:
    """Zeros for each matrix of x."""
    return np.zeros(x.shape[:-2], np.int32)
