"""Element types and how they combine: PyTorch's promotion rules, which are not NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

float16, float32, float64 = np.dtype("float16"), np.dtype("float32"), np.dtype("float64")
int8, int16, int32, int64 = np.dtype("int8"), np.dtype("int16"), np.dtype("int32"), np.dtype("int64")
complex64, complex128 = np.dtype("complex64"), np.dtype("complex128")
uint8, bool_ = np.dtype("uint8"), np.dtype("bool")
default = float32

_CATEGORY = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def category(dtype: np.dtype[Any]) -> int:
    """0 bool, 1 integer, 2 floating, 3 complex."""
    try:
        return _CATEGORY[dtype.kind]
    except KeyError:
        raise TypeError(f"tensors hold bool, integer, floating or complex numbers, not {dtype}") from None


def promote(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a result of two operands of the same rank class: an integer gives way to any float."""
    x, y = category(a), category(b)
    if x == y or x > 2 or y > 2:
        return np.promote_types(a, b)
    return a if x > y else b


def result_type(a: Any, b: Any) -> np.dtype[Any]:
    """The dtype of an operation on arrays a and b; a 0-d array counts only if its category is the higher one."""
    if (a.ndim == 0) == (b.ndim == 0):
        return promote(a.dtype, b.dtype)
    whole, zero = (b, a) if a.ndim == 0 else (a, b)
    return whole.dtype if category(whole.dtype) >= category(zero.dtype) else promote(whole.dtype, zero.dtype)


def for_number(dtype: np.dtype[Any], number: Any) -> np.dtype[Any]:
    """The dtype in which a tensor of `dtype` meets a Python number: the tensor's, unless the number's kind is higher."""
    kind = 0 if isinstance(number, bool) else 1 if isinstance(number, int) else 2 if isinstance(number, float) else 3
    if category(dtype) >= kind:
        return dtype
    if kind == 3:
        return np.dtype("complex128") if dtype == float64 else np.dtype("complex64")
    return int64 if kind == 1 else default
