"""Where an array's numbers lie, for kernels that are called through ctypes."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.types import Array

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = 2                            # of Python's head of an object; NumPy's address of the numbers follows
_at = ctypes.c_size_t.from_address


def in_third_word() -> bool:
    """Whether this interpreter lays arrays out like that: not with free threads, say."""
    probe = np.zeros(1)
    return object.__basicsize__ == WORDS * ctypes.sizeof(ctypes.c_void_p) and (
        _at(id(probe) + object.__basicsize__).value == probe.ctypes.data)


def _fast(array: Array) -> int:
    return _at(id(array) + 16).value


def _sure(array: Any) -> int:
    address: int = array.ctypes.data
    return address


# 0.2 against 1.8 us
address: Callable[[Any], int] = _fast if ctypes.sizeof(ctypes.c_void_p) == 8 and in_third_word() else _sure
