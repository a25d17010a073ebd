"""What all functions that make tensors share: their common arguments checked, their result wrapped."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.devices import check
from ...base.types import Array, DeviceLike, DTypeLike, Layout, Number
from ...core.out import into
from ...core.tensor import Tensor, result
from ...core.types import TensorOrArray


def kind(dtype: DTypeLike, layout: Layout | None = None, device: DeviceLike = None, pin_memory: bool = False,
         out: Tensor | None = None) -> np.dtype[Any]:
    """The dtype of a new tensor: the argument, else that of `out`, else the default. Checks the other arguments too."""
    if layout is not None or device is not None or pin_memory:
        check(device, layout, pin_memory)
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
        if out is not None and out.dtype != dtype:
            raise RuntimeError(f"dtype {dtype} does not match dtype of out parameter ({out.dtype})")
        return dtype
    return dtypes.default.dtype if out is None else out.dtype


def floating(name: str, dtype: Any) -> Any:
    """dtype, if it is a floating one."""
    if dtypes.category(dtype) < 2:
        raise NotImplementedError(f"{name}() makes floating point numbers, not {dtype}")
    return dtype


def new_leaf(array: Array, requires_grad: bool = False, out: Tensor | None = None) -> Tensor:
    """A leaf around `array`, or its values in `out`."""
    tensor = result(array) if out is None else into(out, result(array))
    if requires_grad:
        tensor.requires_grad = True
    return tensor


def extent(name: str, sizes: tuple[Any, ...], size: Any = None) -> tuple[int, ...]:
    """A shape from f(2, 3), f((2, 3)) or f(size=(2, 3))."""
    if size is not None:
        sizes = (size,)
    elif not sizes:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
    return shape_of(name, sizes)


def shape_of(name: str, size: Sequence[int]) -> tuple[int, ...]:
    """A sequence of sizes, checked: TypeError unless integers, RuntimeError if negative."""
    try:
        shape = tuple([operator.index(n) for n in size])
    except TypeError:
        raise TypeError(f"{name}(): argument 'size' must be tuple of ints, not {size!r}") from None
    if shape and min(shape) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    return shape


def integer(name: str, argument: str, value: Any) -> int:
    """An argument that must be an integer."""
    if isinstance(value, bool):
        raise TypeError(f"{name}(): argument '{argument}' must be int, not bool")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}(): argument '{argument}' must be int, not {type(value).__name__}") from None


def number(name: str, argument: str, value: TensorOrArray | Number) -> Any:
    """A Python number from one, NumPy's, or a 0-d Tensor."""
    if isinstance(value, (bool, int, float, complex)):
        return value
    if isinstance(value, (Tensor, np.generic, np.ndarray)) and value.ndim == 0:
        return value.item()
    raise TypeError(f"{name}(): argument '{argument}' must be Number, not {type(value).__name__}")


@functools.cache
def limit(dtype: np.dtype[Any]) -> float:
    """The largest number of a floating or complex dtype."""
    return 3.3895313892515355e38 if dtype.kind == "V" else float(np.finfo(dtype).max)          # NumPy does not know bfloat16


def fitting(value: Number, dtype: np.dtype[Any]) -> Any:
    """A number converted to dtype; RuntimeError if it is finite and beyond the range of dtype."""
    if dtype.kind in "iu" and not isinstance(value, complex):
        limits = np.iinfo(dtype)
        low = -limits.max if dtype.kind == "u" else limits.min         # -1 is the largest, as in C
        if value != value or abs(value) == math.inf or not low <= int(value) <= limits.max:
            raise RuntimeError(f"value cannot be converted to type {dtype} without overflow: {value}")
        return int(value) % (limits.max + 1) if dtype.kind == "u" else int(value)
    if dtype.kind in "fcV" and value.__class__ is float and limit(dtype) < abs(value) < math.inf:
        raise RuntimeError(f"value cannot be converted to type {dtype} without overflow: {value}")
    if isinstance(value, complex) and dtype.kind not in "c":
        raise TypeError(f"must be real number, not complex: {value} as {dtype}")
    return value


def storable(value: Any, dtype: np.dtype[Any]) -> Any:
    """What is no Tensor, to be written into a tensor of dtype. RuntimeError for a number beyond dtype, and where an array's
    or list's fractions or imaginary parts would be dropped; PyTorch takes numbers alone, and drops a number's fraction."""
    if value.__class__ in (bool, int, float):
        return fitting(value, dtype)
    array = np.asarray(value)
    if array.dtype.kind not in "biufcV":
        raise TypeError(f"can't assign a {type(value).__name__} to a tensor of {dtype}")
    if array.ndim == 0 and dtype.kind == "b":
        return bool(array)
    if array.ndim == 0 and array.dtype.kind == "c" and dtype.kind != "c":
        if array.imag != 0:
            raise RuntimeError(f"value cannot be converted to type {dtype} without overflow: {value}")
        return storable(array.real.item(), dtype)
    if array.ndim and dtypes.category(array.dtype) > dtypes.category(dtype):
        raise RuntimeError(f"value cannot be converted to type {dtype} without overflow: it is {array.dtype}; convert it "
                           "first, as by tensor(value).to(x.dtype)")
    return value
