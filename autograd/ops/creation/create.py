"""Tensors from data: numbers, lists, arrays, buffers, other libraries' tensors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.devices import check
from ...base.dlpack import imported
from ...base.types import Array, DeviceLike, DTypeLike, Layout, Number
from ...core.operation import Cast
from ...core.tensor import Tensor, result
from ...kernels.halves import converted
from .arguments import fitting, kind, new_leaf, number

MSG_COPY = ("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than tensor(sourceTensor).")
MSG_READ_ONLY = ("The given {what} is not writable: writing to this tensor would fail. Copy it first "
                 "(tensor(array)) if the tensor shall be written to.")


# one of these has another library's array, or is a storage, whose bytes elements_as() reads as a dtype
FOREIGN = ("__dlpack__", "__array__", "__array_interface__", "elements_as")


def tensor(data: Any, *, dtype: DTypeLike = None, device: DeviceLike = None, requires_grad: bool = False,
           pin_memory: bool = False) -> Tensor:
    """A new leaf with a copy of `data` (numbers, nested lists, arrays, also other libraries': as_tensor() and from_dlpack()
    share their memory). Python floats get the default dtype."""
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    if device is not None or pin_memory:
        check(device, None, pin_memory)
    if isinstance(data, Tensor):
        warnings.warn(MSG_COPY, UserWarning, stacklevel=2)
    return new_leaf(copied(data, dtype), requires_grad)


def copied(data: Any, dtype: np.dtype[Any] | None) -> Array:
    """A new array with the values of data."""
    if isinstance(data, Tensor):
        data = data.array
    if isinstance(data, (np.ndarray, np.generic)):
        array = numeric(np.asarray(data))
        return np.array(array) if dtype is None or array.dtype == dtype else converted(array, dtype)
    if not isinstance(data, (list, tuple, int, float)) and is_foreign(data):
        return np.array(numeric(shared(data, dtype)), dtype)
    array = arranged(data)
    if array.dtype.kind not in "biufc":
        _refuse(data, array)
    if array.dtype.kind in "fcV" or array.size == 0:
        dtype = dtype or _inferred(data, array.dtype)
    if dtype is None:
        dtype = _inferred(data, array.dtype)
        if array.dtype == np.uint64 and dtype is not array.dtype:
            raise ValueError(f"Overflow when unpacking long long: {array.max()} is beyond int64")
    elif dtype.kind in "iu" and array.size and array.dtype != dtype and array.dtype.kind in "iuf":
        for extreme in (array.min().item(), array.max().item()):
            fitting(extreme, dtype)
    if array.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError(f"must be real number, not complex: cannot make a {dtype} tensor of complex numbers")
    return array if array.dtype == dtype else converted(array, dtype)


def is_foreign(data: object) -> bool:
    """Whether data is another library's array: a PyTorch tensor, a DataFrame, an image."""
    return not isinstance(data, type) and any(hasattr(data, name) for name in FOREIGN)


def shared(data: Any, dtype: np.dtype[Any] | None = None) -> Array:
    """The array of another library's array, on its memory if that can be; the elements of a storage as this dtype."""
    if hasattr(data, "elements_as"):
        return data.elements_as(dtype)               # type: ignore[no-any-return]
    return imported(data) if hasattr(data, "__dlpack__") else np.asarray(data)


def arranged(data: Any) -> Array:
    """NumPy's array of nested lists. ValueError if they are not of equal lengths."""
    first = data
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    try:
        if not (isinstance(first, Tensor) and first.ndim):         # one number, which NumPy takes for a sequence
            return np.array(data)
    except (RuntimeError, TypeError, ValueError, OverflowError):
        pass
    try:                                             # there may be Tensors among the numbers
        plain = unwrapped(data)
    except ValueError as error:
        raise ValueError(f"{error}; use stack() or cat() for Tensors of more") from None
    try:
        return np.array(plain)
    except ValueError:
        raise ValueError(f"cannot make a tensor of a {type(data).__name__} whose sequences have unequal lengths") from None


def numeric(array: Array) -> Array:
    """An array that a tensor can hold. TypeError for one of other things than numbers."""
    if array.dtype.kind not in "biufc" and array.dtype.name != "bfloat16":
        raise TypeError(f"can't convert np.ndarray of type numpy.{array.dtype.type.__name__}. The only supported types are "
                        "floating, complex, integer and bool.")
    return dtypes.common(array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("=")))


def _refuse(data: Any, array: Array) -> None:
    if isinstance(data, (list, tuple)):
        if array.dtype.kind == "O" and any(isinstance(v, int) for v in array.ravel()):
            raise ValueError("Overflow when unpacking long long: integers beyond int64")
        raise ValueError(f"cannot make a tensor of {array.dtype} elements from {type(data).__name__}: pass numbers")
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(data, int):
        raise ValueError(f"Overflow when unpacking long long: {data} is beyond int64")
    dense = "; use its toarray()" if hasattr(data, "toarray") else ""                 # SciPy's sparse matrices
    raise RuntimeError(f"Could not infer dtype of {type(data).__name__}{dense}")


def unwrapped(data: Any) -> Any:
    """Nested lists with numbers where they had Tensors of one element. ValueError for one of more, as PyTorch's."""
    if isinstance(data, Tensor):
        if data.tracked:
            warnings.warn("Converting a tensor with requires_grad=True to a scalar loses its gradient; use stack() to "
                          "keep it.", UserWarning, stacklevel=5)
        if data.array.size != 1:
            raise ValueError(f"only one element tensors can be converted to Python scalars, not one of shape "
                             f"{list(data.shape)}")
        return data.array.item()
    return [unwrapped(v) for v in data] if isinstance(data, (list, tuple)) else data


def _inferred(data: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype for nested lists: Python's numbers count as the default ones, NumPy's and Tensors as what they are."""
    while isinstance(data, (list, tuple)) and data:
        if not isinstance(data[0], (list, tuple)) and any(hasattr(v, "dtype") for v in data):
            found = [_dtype_of(v) if hasattr(v, "dtype") else dtypes.for_number(dtypes.bool_, v) for v in data]
            dtype = found[0]
            for other in found[1:]:
                dtype = dtypes.promote(dtype, other)
            return dtype
        data = data[0]
    if hasattr(data, "dtype"):
        return _dtype_of(data)
    if dtype.kind in "iub" and not (isinstance(data, (list, tuple)) and not data):
        return dtypes.bool_ if dtype.kind == "b" else dtypes.int64
    return dtypes.to_complex(dtypes.default.dtype) if dtype.kind == "c" else dtypes.default.dtype


def _dtype_of(value: Any) -> np.dtype[Any]:
    """The dtype of something that has one, also of another library's."""
    return dtypes.as_dtype(value.dtype) if isinstance(value.dtype, (dtypes.TensorDType, np.dtype)) else shared(value).dtype


def as_tensor(data: Any, dtype: DTypeLike = None, device: DeviceLike = None) -> Tensor:
    """`data` as a Tensor: itself, or on the same memory, where it is one, or an array or another library's tensor
    (PyTorch's, a DataFrame), of the right dtype already."""
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    if device is not None:
        check(device)
    if isinstance(data, Tensor):
        return data if dtype is None or data.dtype == dtype else Cast.apply(data, dtype=dtype)
    if isinstance(data, np.ndarray) or (is_foreign(data) and not isinstance(data, np.generic)):
        data = numeric(data if isinstance(data, np.ndarray) else shared(data, dtype))
        return result(data if dtype is None else converted(data, dtype, copy=False))
    return new_leaf(copied(data, dtype))


def asarray(obj: Any, *, dtype: DTypeLike = None, device: DeviceLike = None, copy: bool | None = None,
            requires_grad: bool = False) -> Tensor:
    """obj (a Tensor, array, buffer, DLPack object, number or nested list) as a Tensor. copy: always (True), never (False:
    ValueError where needed), or where needed."""
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if device is not None:
        check(device)
    aliases = isinstance(obj, (Tensor, np.ndarray, bytes, bytearray, memoryview)) or (
        is_foreign(obj) and not isinstance(obj, np.generic))
    if not aliases:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return new_leaf(copied(obj, wanted), requires_grad)
    if isinstance(obj, (bytes, bytearray, memoryview)):
        obj = np.frombuffer(obj, wanted or dtypes.default.dtype)
    source = as_tensor(obj, wanted) if hasattr(obj, "elements_as") else as_tensor(obj)
    if wanted is not None and wanted != source.dtype:
        if copy is False:
            raise ValueError(f"can't alias tensor with dtype '{source.dtype}' into dtype '{wanted}'.")
        source = Cast.apply(source if requires_grad else source.detach(), dtype=wanted)
    elif copy:
        source = result(np.array(source.array))
    elif source.edge is not None and not requires_grad:
        source = source.detach()
    if requires_grad and not source.tracked:
        source.requires_grad = True
    return source


def from_numpy(array: Array) -> Tensor:
    """A Tensor that shares the array's memory."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    if (array.dtype.kind not in "biufc" or not array.dtype.isnative) and array.dtype.name != "bfloat16":
        _not_shareable(array)
    if not array.flags.writeable:
        warnings.warn(MSG_READ_ONLY.format(what="NumPy array"), UserWarning, stacklevel=2)
    return result(dtypes.common(array))


def _not_shareable(array: Array) -> None:
    numeric(array)
    raise ValueError("given numpy array has byte order different from the native byte order; convert it with "
                     "array.astype(array.dtype.newbyteorder('=')) first")


def frombuffer(buffer: Any, *, dtype: DTypeLike, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A vector on the memory of a bytes-like object: `count` elements (-1: all) from byte `offset` on."""
    dtype = dtypes.as_dtype(dtype)
    view = memoryview(buffer)
    length, size = view.nbytes, dtype.itemsize
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} "
                         "bytes) minus 1")
    if count < 0 and (length - offset) % size:
        raise ValueError(f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of "
                         f"element size ({size})")
    if count > 0 and offset + count * size > length:
        raise ValueError(f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be "
                         f"greater than actual buffer length ({length} bytes)")
    if view.readonly:
        warnings.warn(MSG_READ_ONLY.format(what="buffer"), UserWarning, stacklevel=2)
    return new_leaf(np.frombuffer(buffer, dtype, count, offset), requires_grad)


def from_dlpack(ext_tensor: Any, *, device: DeviceLike = None, copy: bool | None = None) -> Tensor:
    """A Tensor on the memory of another library's tensor, handed over by the DLPack protocol."""
    if device is not None:
        check(device)
    return result(imported(ext_tensor, copy))


def scalar_tensor(s: Number | Tensor, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None,
                  pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """A 0-d tensor of one number, of the default dtype."""
    dtype = kind(dtype, layout, device, pin_memory)
    return new_leaf(np.array(fitting(number("scalar_tensor", "s", s), dtype), dtype), requires_grad)


def new_tensor(self: Tensor, data: Any, *, dtype: DTypeLike = None, device: DeviceLike = None, requires_grad: bool = False,
               layout: Layout | None = None, pin_memory: bool = False) -> Tensor:
    """A new leaf with a copy of data, of this tensor's dtype."""
    check(device, layout, pin_memory)
    if isinstance(data, Tensor):
        warnings.warn(MSG_COPY, UserWarning, stacklevel=2)
        return new_leaf(np.array(data.array, dtypes.as_dtype(data.dtype if dtype is None else dtype)), requires_grad)
    return new_leaf(copied(data, dtypes.as_dtype(self.dtype if dtype is None else dtype)), requires_grad)


__all__ = ["as_tensor", "asarray", "from_dlpack", "from_numpy", "frombuffer", "scalar_tensor", "tensor"]
METHODS = ["new_tensor"]
