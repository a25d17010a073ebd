"""Memory: a block of bytes of a file, and the arrays in it. Several may share one, as they did when they were saved."""

from __future__ import annotations

import math
import sys
import warnings
import zlib
from typing import Any

import numpy as np

from ..base import dtypes
from ..core.graph import shared_counter
from ..core.tensor import Tensor, restore
from .safetensors import MANY
from .source import Array, Source

NO_BFLOAT16 = "holds bfloat16 numbers; they are loaded as float32, because the package ml_dtypes is not installed"


class Memory:
    """`count` bytes of a file from `start` on, read when they are first needed; crc32: what their checksum must be."""

    def __init__(self, source: Source, start: int, count: int, order: str = "little", crc32: int | None = None) -> None:
        source.check(start, count)
        self.source: Source = source
        self.start: int = start
        self.count: int = count
        self.order: str = order
        self.crc32: int | None = crc32
        self.data: Array | None = None               # the bytes, once read, in this machine's order
        self.converted: dict[Any, Array] = {}             # converted stretches of it
        self.first: Tensor | None = None             # the first tensor created in it

    def array(self, shape: tuple[int, ...], kind: str, offset: int = 0, strides: tuple[int, ...] | None = None, *,
              conj: bool = False, neg: bool = False) -> Array:
        """The array of `shape` whose first element is `offset` bytes into the block; `strides` in bytes, None: dense.

        One that is the whole block owns its memory, so that an optimizer can move it. What has to be converted (bits of
        bfloat16 without the package ml_dtypes, numbers that lie askew, conj and neg) is converted once for all arrays of the
        same stretch, and before the shape is laid in it: a shape with strides of 0 may be larger than any memory."""
        dtype = np.dtype("uint16") if kind == "bfloat16" else np.dtype(kind)
        size = math.prod(shape)
        if size == 0:
            empty = np.empty(shape, dtype)
            return _numbers(empty, self.source) if kind == "bfloat16" else empty
        if conj or neg or kind == "bfloat16":
            return self._converted(shape, kind, offset, strides, conj, neg)
        entire = offset == 0 and size * dtype.itemsize == self.count and _dense(shape, strides, dtype.itemsize)
        if self.data is None and entire and not self.source.mapped:
            array = np.empty(shape, dtype)
            self._read(array.reshape(-1).view(np.uint8), kind)
            return array
        if self.data is None:
            self._read(None, kind)
        buffer: Any = self.data
        array = np.ndarray(shape, dtype, buffer, offset, strides)          # ValueError if it would exceed the block
        return array if array.flags.aligned else self._converted(shape, kind, offset, strides, False, False)

    def _converted(self, shape: tuple[int, ...], kind: str, offset: int, strides: tuple[int, ...] | None, conj: bool,
                   neg: bool) -> Array:
        """array() of numbers that must be converted: a view of a converted copy of the bytes that it spans."""
        dtype = np.dtype("uint16") if kind == "bfloat16" else np.dtype(kind)
        unit = dtype.itemsize
        if strides is None:
            strides = tuple([unit * math.prod(shape[i + 1:]) for i in range(len(shape))])
        if any(s % unit or s < 0 for s in strides):
            raise ValueError(f"strides of {strides} bytes for numbers of {unit}")
        if self.data is None:
            self._read(None, kind)
        length = 1 + sum((n - 1) * (s // unit) for n, s in zip(shape, strides, strict=True))
        key = kind, offset, length, conj, neg
        if key not in self.converted:
            buffer: Any = self.data
            vector = np.ndarray((length,), dtype, buffer, offset)          # ValueError if it would exceed the block
            if kind == "bfloat16":
                vector = _numbers(vector if vector.flags.aligned else vector.copy(), self.source)
            else:
                vector = vector if vector.flags.aligned else vector.copy()
            vector = np.conj(vector) if conj and vector.dtype.kind == "c" else vector
            if neg and vector.dtype.kind not in "iufcV":
                raise ValueError(f"negated numbers of {vector.dtype}")
            vector = np.negative(vector) if neg else vector
            if not np.may_share_memory(vector, buffer):
                self.source.spend(vector.nbytes)
            self.converted[key] = vector
        vector = self.converted[key]
        steps = tuple([s // unit * vector.itemsize for s in strides])
        if shape == vector.shape and steps == vector.strides:
            return vector
        return np.lib.stride_tricks.as_strided(vector, shape, steps)       # inside: the last element is vector's last

    def _read(self, target: Array | None, kind: str) -> None:
        """Read the bytes, into `target` if given; `kind` gives the size of a number, for the byte order."""
        if target is None:
            target = self.source.vector(self.start, self.count)
            if self.source.mapped and self.start % np.dtype("u2" if kind == "bfloat16" else kind).itemsize:
                target = target.copy()               # its numbers are unaligned in the file, which NumPy is slow at
        else:
            self.source.fill(target, self.start)
        if not self.source.mapped:
            self._check(target)
        unit = 2 if kind == "bfloat16" else np.dtype(kind).itemsize // (2 if kind.startswith("complex") else 1)
        if self.order != sys.byteorder and unit > 1:
            target.view(f"u{unit}").byteswap(inplace=True)
        self.data = target

    def _check(self, data: Any) -> None:
        if len(data) >= MANY and self.order == sys.byteorder and self.source.checkers is not None:
            self.source.checks.append(self.source.checkers.submit(self._compare, data))
        else:
            self._compare(data)

    def _compare(self, data: Any) -> None:
        if self.crc32 is not None and zlib.crc32(memoryview(data)) != self.crc32:
            raise ValueError(f"the {self.count} bytes at {self.start} do not match their checksum: the file is damaged")

    def content(self) -> bytes:
        """The bytes as they are in the file."""
        data = self.source.read(self.start, self.count)
        self._check(data)
        return data

    def tensor(self, array: Array, cls: type[Tensor] = Tensor) -> Tensor:
        """A Tensor around an array of this block; writes to one of several are counted for all."""
        tensor = restore(cls, array, False)
        if self.first is None:
            self.first = tensor
        else:
            tensor.counter = shared_counter(self.first)
        return tensor


def require_grad(tensor: Tensor, flag: bool) -> None:
    """Set requires_grad, if the dtype allows gradients."""
    tensor.requires_grad = bool(flag) and tensor.array.dtype.kind in "fcV"


def _dense(shape: tuple[int, ...], strides: tuple[int, ...] | None, step: int) -> bool:
    """Whether `strides` are those of a C-contiguous array."""
    for size, stride in zip(reversed(shape), reversed(strides), strict=True) if strides is not None else ():
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def _numbers(array: Array, source: Source) -> Array:
    """Bits of bfloat16 as numbers: in the dtype of the package ml_dtypes, else as float32, with a warning."""
    try:
        return array.view(dtypes.bfloat16())
    except ModuleNotFoundError:
        if not source.warned:
            source.warned = True
            warnings.warn(f"{source.name} {NO_BFLOAT16}", UserWarning, stacklevel=2)
        return (np.asarray(array, np.uint32) << np.uint32(16)).view(np.float32)
