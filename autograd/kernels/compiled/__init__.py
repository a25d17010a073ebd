"""Loops compiled by numba, for what NumPy can't do in one pass; kernels_for() is asked wherever there is one.

They take float32 arrays in C order; NumPy does everything else.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ..accelerators import Accelerator

FLOAT32 = np.dtype(np.float32)
# Elements. A call takes 0.5 us, and wins from some ten elements on; this keeps toys, and scripts that train nothing, from
# compiling. It depends on sizes alone: what ranks have seen before must not make their rounding differ.
WORTH = 1024


def load() -> Any:
    """The kernels by name. What loading them takes, 20 ms of imports, waits until they are wanted."""
    return import_module(f"{__name__}.loading").load()


compiled = Accelerator("numba", load, "NumPy is used instead. Faster: pip install 'dparallel[fast]'")


def kernels_for(*arrays: Any, of: int = 0) -> Any:
    """The compiled kernels, if they can take these arrays and the first one, or the whole of so many elements that it is a
    part of, is large enough; else None."""
    if arrays[0].size < WORTH and of < WORTH:
        return None
    for array in arrays:
        if array is not None and (array.dtype is not FLOAT32 or not array.flags.carray):
            return None
    return compiled.library()


__all__ = ["FLOAT32", "WORTH", "compiled", "kernels_for"]
