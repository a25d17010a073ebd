"""The memory that a tensor is a view of, by the names of PyTorch's storages."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base.devices import CPU, device
from ..core.tensor import Tensor


def root_of(array: Any) -> Any:
    """The array that owns the memory, or has it from outside NumPy."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


class UntypedStorage:
    """The bytes of a tensor's memory, shared with it; `x.untyped_storage()` makes one."""

    def __init__(self, array: Any, keep: Any = None) -> None:
        self._keep = (array, keep)                   # the memory is there as long as this object is
        low, high = np.lib.array_utils.byte_bounds(array) if array.size else (0, 0)
        self._start, self._count = low, high - low

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The bytes of a file, read when they are used."""
        mode: Any = "r+" if shared else "c"          # c: pages that are written to are this process's own
        return cls(np.memmap(filename, np.uint8, mode, shape=(nbytes,)) if nbytes else np.empty(0, np.uint8))

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Where the bytes are, for NumPy and asarray()."""
        return {"shape": (self._count,), "typestr": "|u1", "data": (self._start, False), "version": 3}

    @property
    def _bytes(self) -> Any:
        """All bytes, as an array that is valid as long as this object."""
        memory: Any = (ctypes.c_ubyte * self._count).from_address(self._start)
        return np.frombuffer(memory, np.uint8)

    def elements_as(self, dtype: Any) -> Any:
        """An array on these bytes, read as `dtype`; bytes that are no whole element are left out."""
        wanted = np.dtype(np.int64 if dtype is None else dtype)
        return np.asarray(self)[:self._count // wanted.itemsize * wanted.itemsize].view(wanted)      # it keeps this object

    @property
    def device(self) -> device:
        """The device, which is the CPU."""
        return CPU

    def data_ptr(self) -> int:
        """The address of the first byte; 0 without elements."""
        return int(self._start)

    def nbytes(self) -> int:
        """The number of bytes."""
        return int(self._count)

    size = __len__ = nbytes

    def untyped(self) -> UntypedStorage:
        """The storage itself."""
        return self

    _untyped = untyped

    def element_size(self) -> int:
        """1: the elements are bytes."""
        return 1

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        found = self._bytes[index]
        return UntypedStorage(found, self) if isinstance(index, slice) else int(found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and (self._start, self._count) == (other._start, other._count)

    def __hash__(self) -> int:
        return hash((self._start, self._count))

    def tolist(self) -> list[int]:
        """The bytes, as integers."""
        found: list[int] = self._bytes.tolist()
        return found

    def resize_(self, size: int) -> UntypedStorage:
        """Nothing where `size` is the number of bytes; the memory of an array cannot grow or be given up."""
        if size != self._count:
            raise NotImplementedError(f"resize_({size}): the memory of a tensor is a NumPy array of {self._count} bytes")
        return self

    def __repr__(self) -> str:
        return f"UntypedStorage({self._count} bytes, device=cpu)"


class TypedStorage:
    """The elements of a tensor's memory, shared with it; `x.storage()` makes one."""

    def __init__(self, array: Any) -> None:
        self._untyped, self.dtype = UntypedStorage(array), array.dtype

    @property
    def _elements(self) -> Any:
        return self._untyped._bytes.view(self.dtype)

    def elements_as(self, dtype: Any) -> Any:
        """An array on the elements."""
        if dtype is not None and dtype != self.dtype:
            raise RuntimeError(f"expected a storage of dtype {dtype} or an UntypedStorage, but got {self.dtype}; read the "
                               "bytes by x.view(dtype), or convert the elements by x.to(dtype)")
        return self._untyped.elements_as(self.dtype)

    @property
    def device(self) -> device:
        """The device, which is the CPU."""
        return CPU

    def untyped(self) -> UntypedStorage:
        """The bytes of the same memory."""
        return self._untyped

    def data_ptr(self) -> int:
        """The address of the first element; 0 without elements."""
        return self._untyped.data_ptr()

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._untyped.nbytes()

    def size(self) -> int:
        """The number of elements."""
        return self.nbytes() // self.element_size()

    __len__ = size

    def element_size(self) -> int:
        """The bytes of one element."""
        return int(self.dtype.itemsize)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: int) -> Any:
        return self._elements[index].item()

    def __setitem__(self, index: int | slice, value: Any) -> None:
        self._elements[index] = value

    def tolist(self) -> list[Any]:
        """The elements, as Python's numbers."""
        found: list[Any] = self._elements.tolist()
        return found

    def __repr__(self) -> str:
        return f"TypedStorage({self.size()} elements, dtype={self.dtype}, device=cpu)"


def viewed(self: Tensor) -> Any:
    """The array of the tensor that this one is a view of. Optimizers and buckets lay parameters into one memory, of which
    each remains a tensor with memory of its own: packages that save models drop parameters with the same storage."""
    while self._base is not None:
        self = self._base
    return self.array


def untyped_storage(self: Tensor) -> UntypedStorage:
    """The bytes of the memory that this tensor is a view of."""
    return UntypedStorage(viewed(self))


def storage(self: Tensor) -> TypedStorage:
    """The elements of the memory that this tensor is a view of."""
    return TypedStorage(viewed(self))


METHODS = {"untyped_storage": untyped_storage, "storage": storage, "_typed_storage": storage}
