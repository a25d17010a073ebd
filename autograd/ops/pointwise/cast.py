"""Conversion to another dtype, as operations use it on their inputs."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from ...base.dtypes import category, for_number, promote, to_complex
from ...base.types import Array, DTypeLike
from ...core.operation import Cast
from ...core.tensor import Tensor
from ...core.types import Operand


def cast(x: Operand, dtype: DTypeLike) -> Operand:
    """x in another dtype: itself if it has it already."""
    dtype = np.dtype(dtype)
    if x.dtype == dtype:
        return x
    return Cast.apply(x, dtype=dtype)


def tensor_of(number: float) -> Array:
    """A Python number as the 0-d array that tensor(number) holds."""
    return np.array(number, for_number(np.dtype(bool), number))


def is_number(value: Any) -> bool:
    """Whether value is one of Python's numbers (NumPy's float64 is a float too, but counts as an array)."""
    return value.__class__ in (bool, int, float, complex)


def common_dtype(*values: Any) -> np.dtype[Any]:
    """The dtype in which several operands meet: Tensors, arrays and Python numbers, by PyTorch's three ranks.

    Tensors with dimensions decide; a 0-d tensor, and then a number, counts only if its kind is a higher one."""
    arrays = [v.array if isinstance(v, Tensor) else np.asarray(v) for v in values if not is_number(v)]
    numbers = [v for v in values if is_number(v)]
    if not arrays:
        arrays, numbers = [tensor_of(v) for v in numbers], []
    full = [a.dtype for a in arrays if a.ndim]
    zero_dim = [a.dtype for a in arrays if not a.ndim]
    dtype = reduce(promote, full or zero_dim)
    if full and zero_dim:
        higher = reduce(promote, zero_dim)
        if category(higher) > category(dtype):
            dtype = to_complex(dtype) if category(dtype) == 2 else promote(dtype, higher)
    for number in numbers:
        dtype = for_number(dtype, number)
    return dtype


def promoted(*values: Any) -> tuple[Any, ...]:
    """Operands brought to their common dtype; Python numbers become 0-d arrays, None stays None."""
    first = getattr(values[0], "dtype", None)
    if first is not None and all(v is None or getattr(v, "dtype", None) is first for v in values[1:]):
        return values
    dtype = common_dtype(*(v for v in values if v is not None))
    return tuple(v if v is None else cast(v if hasattr(v, "dtype") else np.array(v), dtype) for v in values)
