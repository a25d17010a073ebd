"""The names of types that annotations share: arrays, numbers, and PyTorch's forms of common arguments. For checkers only.

Those with Tensor in them are in core/types.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

import numpy as np

from .devices import device, layout, memory_format
from .dtypes import TensorDType

Array = np.ndarray[Any, Any]                                    # also for NumPy's scalars, which 0-d results may be
Number = Union[int, float, complex]                             # noqa: UP007 (a bool is an int)
SizeLike = Union[int, Sequence[int]]                               # noqa: UP007 (one number for all dimensions, or one for each)
Dims = Union[int, Sequence[int], None]                          # noqa: UP007 (None: all dimensions)
DeviceLike = Union[device, str, int, None]                      # noqa: UP007 (None: the CPU)
Layout = layout                                                 # under a name that no argument has
MemoryFormat = memory_format
DTypeLike = Union[TensorDType, np.dtype[Any], type, str, None]  # noqa: UP007 (None: the default dtype)

__all__ = ["Array", "DTypeLike", "DeviceLike", "Dims", "Layout", "MemoryFormat", "Number", "SizeLike"]
