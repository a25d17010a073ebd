"""Memory handed to other libraries and taken from them by DLPack, where NumPy's own way is not enough.

NumPy's does not know bfloat16: it is handed over as the integers that lie there, and the kind of number is then written into
the capsule (dlpack.h of DLPack 1.0). Nor does it see to negative strides, for which PyTorch's importer ends the process
(2.13)."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

from .dtypes import bfloat16

UINT, BFLOAT = 1, 4                                  # DLDataTypeCode
CPU = (1, 0)                                         # DLDevice
VERSION = (1, 0)


class DataType(ctypes.Structure):
    """The dtype in a DLTensor, DLDataType."""

    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Managed(ctypes.Structure):
    """DLManagedTensor, as far as its dtype: it begins with a DLTensor."""

    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32), ("dtype", DataType)]


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned, as far as its dtype."""

    _fields_ = [("version", ctypes.c_uint32 * 2), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", Managed)]


class Given(NamedTuple):
    """A capsule in the form of an object that NumPy can take."""

    capsule: Any

    def __dlpack__(self, **settings: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU


class Writable(NamedTuple):
    """The memory of an array that NumPy has marked as read-only for want of knowledge."""

    array: np.ndarray[Any, Any]

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {**self.array.__array_interface__, "data": (self.array.ctypes.data, False)}


def named(capsule: Any, name: bytes) -> bool:
    """Whether a capsule has this name."""
    return bool(ctypes.pythonapi.PyCapsule_IsValid(ctypes.py_object(capsule), name))


def _dtype_of(capsule: Any) -> DataType:
    """The dtype in a capsule, in place."""
    api = ctypes.pythonapi
    api.PyCapsule_IsValid.argtypes = api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    if api.PyCapsule_IsValid(capsule, b"dltensor_versioned"):
        return Versioned.from_address(api.PyCapsule_GetPointer(capsule, b"dltensor_versioned")).tensor.dtype
    return Managed.from_address(api.PyCapsule_GetPointer(capsule, b"dltensor")).dtype


def exported(array: np.ndarray[Any, Any], **settings: Any) -> Any:
    """A capsule of an array's memory, of a copy where strides are negative. settings: those of the protocol, None for none.

    BufferError for copy=False where a copy is needed, and for an array that may not be written to where the other side does
    not know of such."""
    given = {name: value for name, value in settings.items() if value is not None}
    if any(stride < 0 for stride in array.strides):
        if given.get("copy") is False:
            raise BufferError(f"strides {array.strides} run backwards, which DLPack's users do not take without a copy")
        array = array.copy()
    if array.dtype.name != "bfloat16":
        return array.__dlpack__(**given)
    capsule = array.view(np.uint16).__dlpack__(**given)
    _dtype_of(capsule).code = BFLOAT
    return capsule


def imported(source: Any, copy: bool | None = None) -> np.ndarray[Any, Any]:
    """An array on the memory of another library's tensor, or in a capsule that it has made."""
    if type(source).__name__ == "PyCapsule":
        array = received(source)
        return array.copy() if copy else array
    settings: dict[str, Any] = {} if copy is None else {"copy": copy}
    is_neg = getattr(source, "is_neg", None)
    if callable(is_neg) and is_neg():                # PyTorch exports these with the wrong sign
        raise BufferError(f"{type(source).__name__} has its negative bit set; use tensor.resolve_neg()")
    if not str(getattr(source, "dtype", "")).endswith("bfloat16"):
        return np.from_dlpack(source, **settings)
    if tuple(source.__dlpack_device__()) != CPU:
        raise BufferError(f"{type(source).__name__} is on DLPack's device {tuple(source.__dlpack_device__())}; tensors live "
                          "in the CPU's memory: copy it there first")
    try:
        capsule = source.__dlpack__(max_version=VERSION, **settings)
    except TypeError:                                # a protocol from before 1.0
        if copy is not None:
            raise
        capsule = source.__dlpack__()
    return received(capsule)


def received(capsule: Any) -> np.ndarray[Any, Any]:
    """An array on a capsule's memory, the CPU's. One of before DLPack 1.0 can't say whether it may be written to: it may."""
    versioned = named(capsule, b"dltensor_versioned")
    if not versioned and not named(capsule, b"dltensor"):
        raise BufferError(f"{capsule!r} is no DLPack capsule, or one that was taken already; each can be taken once")
    dtype = _dtype_of(capsule)
    brain = dtype.code == BFLOAT
    if brain:
        dtype.code = UINT
    array = np.from_dlpack(Given(capsule))
    if not versioned and array.size:
        array = np.asarray(Writable(array))
    return array.view(bfloat16()) if brain else array
