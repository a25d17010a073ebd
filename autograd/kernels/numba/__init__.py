"""Loops compiled by numba, for what NumPy can't do in one pass; kernels_for() is asked wherever there is one.

They take float32 arrays (some float64, too: see signatures.py) in C order; NumPy does everything else.
"""

from __future__ import annotations

import platform
import sys
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from ..accelerators import Accelerator, Missing, versions

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
# Elements. A call takes 0.5 us, and wins from some ten elements on; this keeps toys, and scripts that train nothing, from
# compiling. It depends on sizes alone: what ranks have seen before must not make their rounding differ.
WORTH = 1024


def load() -> Any:
    """The kernels by name. What loading them takes, 20 ms of imports, waits until they are wanted."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise OSError("compiled kernels are made for Linux on x86-64")
    return import_module(f"{__name__}.loading").load()


def find() -> str:
    """The version of numba. Missing if it is not installed."""
    found = versions("numba")
    if not found:
        raise Missing("the package numba is not installed")
    return f"numba {found[0][1]}"


numba: Accelerator = Accelerator("numba", load, find, "`pip install numba` brings it",
                       "NumPy does the work of the compiled kernels, more slowly")


def kernels_for(*arrays: Any, of: int = 0, dtype: Any = FLOAT32) -> Any:
    """The compiled kernels, if they can take these arrays and the first one, or the whole of so many elements that it is a
    part of, is large enough; else None."""
    if arrays[0].size < WORTH and of < WORTH:
        return None
    for array in arrays:
        if array is not None and (array.dtype is not dtype or type(array) is not np.ndarray or not array.flags.carray):
            return None
    return numba.library()


def blocked(shape: tuple[int, ...], first: int, last: int) -> tuple[int, int, int]:
    """An array's sizes as kernels have them that work along dims first to last: blocks, what these dims have, what lies
    behind."""
    return prod(shape[:first]), prod(shape[first:last + 1]), prod(shape[last + 1:])


__all__ = ["FLOAT32", "FLOAT64", "WORTH", "blocked", "kernels_for", "numba"]
