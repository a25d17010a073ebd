"""A rank's state split into JSON trees and named arrays, and reassembled.

Trees hold what autograd.save() can. In addition an array may be this rank's slice of a larger one, and complex128, which
safetensors lacks, is stored as pairs of float64.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autograd.core.tensor import Parameter, result
from autograd.serialization.decode import Decoder
from autograd.serialization.encode import Encoder
from autograd.serialization.kinds import KIND
from autograd.serialization.refusal import refuse
from autograd.serialization.safetensors import CODES

from ..autograd import Tensor

Array = np.ndarray[Any, Any]
Path = tuple[Any, ...]


class Slice(NamedTuple):
    """Elements `start` to `stop` of an array of shape `shape`, read row by row."""

    array: Array
    shape: tuple[int, ...]
    start: int
    stop: int


class Held(NamedTuple):
    """An array of this rank's state: all of an array of that shape, or, if `sliced`, its elements start to stop."""

    array: Array
    shape: tuple[int, ...]
    start: int
    stop: int
    sliced: bool


class Taken(Encoder):
    """The trees and arrays of a state. No array is copied."""

    def __init__(self) -> None:
        super().__init__(None)
        self.held: dict[str, Held] = {}
        self.alive: list[Any] = []                   # whose id() shows that a tensor occurs twice

    def part(self, name: str, state: Any) -> Any:
        """The tree of one part of the state, whose arrays get names that begin with `name`."""
        self.alive.append(state)
        return self.value(state, (name,))

    def value(self, value: Any, path: Path) -> Any:
        """The JSON of one value."""
        if isinstance(value, Slice):
            name = self.name(path)
            self._hold(path, Held(value.array, tuple(value.shape), value.start, value.stop, True), name)
            return {KIND: "tensor", "name": name}
        return super().value(value, path)

    def tensor(self, value: Any, path: Path) -> Any:
        """A tensor or NumPy array, under its existing name if it occurs a second time."""
        name = self.names.get(id(value))
        if name is None:
            name = self.names[id(value)] = self.name(path)
            array = value.array if isinstance(value, Tensor) else value
            self._hold(path, Held(array, array.shape, 0, array.size, False), name)
        kind = "Parameter" if isinstance(value, Parameter) else "tensor" if isinstance(value, Tensor) else "ndarray"
        flag = {"requires_grad": True} if isinstance(value, Tensor) and value.requires_grad else {}
        return {KIND: kind, "name": name, **flag}

    def _hold(self, path: Path, held: Held, name: str) -> None:
        if held.array.dtype.name not in CODES and held.array.dtype.name != "complex128":
            refuse(held.array, path, f"its elements are {held.array.dtype}")
        self.arrays[name] = held.array               # names in use
        self.held[name] = held


def stored(array: Array) -> Array:
    """The array as stored in a file: row by row, little-endian, complex128 as pairs of float64. A view where possible."""
    if not array.flags.c_contiguous:
        array = np.asarray(array, order="C")
    if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and sys.byteorder == "big"):
        array = array.astype(array.dtype.newbyteorder("<"))
    return array.reshape(*array.shape, 1).view(np.float64) if array.dtype.char == "D" else array


class Rebuilt(Decoder):
    """Builds the value that a tree represents. find(name) returns the entry of an array; `leaf` makes a value of it."""

    def __init__(self, find: Callable[[str], Any]) -> None:
        self.find = find

    def tensor(self, tree: dict[str, Any]) -> Any:
        """A leaf that has not been read yet."""
        return Leaf(self.find(tree["name"]), tree[KIND], bool(tree.get("requires_grad")))


class Leaf(NamedTuple):
    """A tensor of a saved state, which is read on first use."""

    source: Any                                      # a StoredArray, see reading.py
    kind: str
    requires_grad: bool

    def read(self) -> Any:
        """The whole value, as the original Tensor, Parameter or ndarray."""
        array = self.source.read()
        if self.kind == "ndarray":
            return array
        tensor = Parameter(array, self.requires_grad) if self.kind == "Parameter" else result(array)
        if self.kind != "Parameter" and self.requires_grad:
            tensor.requires_grad_()
        return tensor


def read_leaves(value: Any) -> Any:
    """A nested state with tensors for its leaves."""
    if isinstance(value, Leaf):
        return value.read()
    if isinstance(value, dict):
        read = value.copy()                          # of its class, with its attributes
        read.clear()
        read.update({read_leaves(key): read_leaves(item) for key, item in value.items()})
        if hasattr(value, "_metadata"):
            read._metadata = value._metadata         # type: ignore[attr-defined]
        return read
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value)(read_leaves(item) for item in value)
    return value
