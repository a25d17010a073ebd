"""What the core asks of arrays at every call: in a compiled core a comparison or two in C, see arrays.pxd."""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from .placeholder_array import AbsentArray


def alike(a: Any, b: Any) -> bool:
    """Whether two arrays have one dtype and one shape."""
    return a.dtype is b.dtype and a.shape == b.shape


def is_bfloat16(a: Any) -> bool:
    """Whether a is an array of bfloat16, the only dtype here that NumPy does not number itself; or an AbsentArray of it."""
    return isinstance(a, (ndarray, AbsentArray)) and a.dtype.num > 255


def is_complex(a: Any) -> bool:
    """Whether a is an array of complex numbers."""
    return isinstance(a, ndarray) and 13 < a.dtype.num < 17


def is_float16(a: Any) -> bool:
    """Whether a is an array of float16."""
    return isinstance(a, ndarray) and a.dtype.num == 23


def is_half(a: Any) -> bool:
    """Whether a is an array of float16 or bfloat16."""
    return isinstance(a, (ndarray, AbsentArray)) and a.dtype.num > 22
