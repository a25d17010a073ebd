"""Operands: recorded arrays as Refs to the storages of a program."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.types import Array
from ...core.tensor import Tensor
from ..recording.calls import Constant, Value, root_of
from .ir import Op, Primitive, Ref, Storage
from .python_call import PythonCall

NUMBERS = (bool, int, float, np.generic)


class NoMeaning(Exception):
    """A call is not one of ir.py's operations."""


class Operands:
    """The operations so far (`ops`), and the present Storage of each recorded array."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.first: list[PythonCall] = []            # calls before the native code: checks of arguments, draws
        self._label = ""                             # of the call that is lowered
        self._early: set[Storage] = set()            # storages that are there before the native code
        self._current: dict[int, Storage] = {}       # root array -> its present Storage
        self._roots: list[Array] = []                # these roots: their ids must stay unique
        self._written: set[Storage] = set()          # of those from outside

    def _storage(self, root: Array, storage: Storage) -> Storage:
        self._current[id(root)] = storage
        self._roots.append(root)
        return storage

    def _outside(self, array: Array) -> Storage:
        root = root_of(array)
        found = self._current.get(id(root))
        if found is None:
            memory = flat(root, array.dtype)
            found = self._storage(root, Storage(memory.size, memory.dtype, memory))
            self._early.add(found)
        return found

    def ref(self, x: Any) -> Any:
        """The Ref of a Value or an array, or a number."""
        x = x.value if isinstance(x, Constant) else x
        if isinstance(x, NUMBERS):
            return x.item() if isinstance(x, np.generic) else x
        array = x.array if isinstance(x, (Value, Tensor)) else x
        if not isinstance(array, np.ndarray):
            raise NoMeaning(f"an operand of type {type(array).__name__}")
        if not array.ndim and not isinstance(x, (Value, Tensor)):
            return array.item()                      # a constant of a rule
        root = root_of(array)
        if id(root) not in self._current:
            if not isinstance(x, (Value, Tensor)):
                array = root = np.array(array)       # a constant of a rule
            self._outside(array)
        storage = self._current[id(root)]
        size = array.itemsize
        at = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        if storage.dtype != array.dtype or at % size or any(s % size for s in array.strides):
            raise NoMeaning(f"a view of {storage.dtype} as {array.dtype}")
        return Ref(storage, at // size, array.shape, tuple([s // size for s in array.strides]))

    def storage_of(self, array: Array) -> Storage | None:
        """The present Storage of an argument; None if the step does not use it."""
        return self._current.get(id(root_of(array)))

    def target(self, array: Array) -> Ref:
        """Where to write `array`: a new temporary if it is all of one; else the memory that it is a part of."""
        root = root_of(array)
        old = self._current.get(id(root))
        if old is None or not (old.outside or array.size != root.size):
            if array.nbytes != root.nbytes:
                raise NoMeaning("a part of new memory")
            self._storage(root, Storage(array.size, array.dtype))
        return self.ref(as_value(array))

    def put(self, kind: str, name: str, target: Array | Ref, ins: list[Any]) -> Ref:
        """Add an operation."""
        out = target if isinstance(target, Ref) else self.target(target)
        if out.storage.outside:
            self._written.add(out.storage)
        self.ops.append(Op(kind, name, [out], ins, label=self._label))
        return out

    def primitive(self, calls: list[tuple[Any, ...]], outs: list[Ref], ins: list[Ref], *keep: object) -> None:
        """Add calls of C functions."""
        self.ops.append(Op("primitive", "", outs, ins, function=Primitive(calls, *keep), label=self._label))

    def _home(self, x: Value | Ref) -> Ref:
        """The Ref of an array that Python reads: it must be in memory."""
        ref: Ref = x if isinstance(x, Ref) else self.ref(x)
        ref.storage.keep = True
        return ref

    def temporary(self, shape: tuple[int, ...], dtype: Any, like: Ref | None = None) -> Ref:
        """A Ref to new memory, in C order or in the order that a copy of `like` has."""
        strides = c_strides(shape) if like is None else copied_strides(like)
        return Ref(Storage(math.prod(shape), dtype), 0, shape, strides)


def as_value(array: Array) -> Value:
    """An array as an operand, not a constant."""
    return Value(0, array, None)


def moved(x: Ref, first: int, count: int, to_end: bool = False) -> Ref:
    """x with `count` dimensions from `first` on moved to the front, or to the end."""
    dims = list(range(len(x.shape)))
    some, others = dims[first:first + count], dims[:first] + dims[first + count:]
    order = others + some if to_end else some + others
    return Ref(x.storage, x.offset, tuple([x.shape[d] for d in order]), tuple([x.strides[d] for d in order]))


def copied_strides(r: Ref) -> tuple[int, ...]:
    """The strides of a copy, which keeps the order of dimensions in memory."""
    byte = np.lib.stride_tricks.as_strided(np.empty(1, np.int8), r.shape, r.strides)
    return np.empty_like(byte).strides


def flat(root: Array, dtype: Any) -> Array:
    """The memory of an array as a vector of this dtype, in the order in which it lies."""
    vector = root.ravel("K")
    if root.size and not np.may_share_memory(vector, root):
        raise NoMeaning("memory with gaps")
    if vector.dtype != dtype and vector.nbytes % np.dtype(dtype).itemsize:
        raise NoMeaning(f"a view of {root.dtype} as {dtype}")
    return vector.view(dtype)


def c_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, in elements, of an array in C order."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(strides[::-1])
