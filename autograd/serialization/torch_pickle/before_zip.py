"""PyTorch's files from before 1.6 (2020): pickles one after the other, and then the storages' bytes."""

from __future__ import annotations

import io
from pickle import UnpicklingError
from typing import Any

import numpy as np

from ...core.tensor import Tensor, restore
from ..blocks import Memory
from ..source import Array, Source
from .names import Storage, StorageType, unpickle
from .unpickle import short_repr

FIRST_PICKLE = 15                    # bytes: a number that identifies the file, see files.TORCH_READERS
PROTOCOL = 1001


class Blank:
    """Represents a storage's memory in the first reading, when its position in the file is unknown."""

    def array(self, shape: tuple[int, ...], kind: str, *view: Any, **marks: bool) -> Array:
        """An empty array of the right dtype, whatever the shape."""
        return np.empty(0, np.float32 if kind == "bfloat16" else kind)

    def tensor(self, array: Array) -> Tensor:
        """An empty tensor."""
        return restore(Tensor, array, False)


class Storages:
    """The storages that the pickle names. The pickle is read twice: for their sizes, and with their known positions."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.sizes: dict[str, int] = {}              # bytes of one number, and their count
        self.counts: dict[str, int] = {}
        self.memories: dict[str, Memory] = {}

    def __call__(self, identity: Any) -> Storage:
        """The storage that a persistent id names."""
        if type(identity) is tuple and identity[:1] == ("module",):
            raise UnpicklingError("it holds a whole module. In PyTorch, load it and save its state_dict()")
        if type(identity) is not tuple or len(identity) != 6 or identity[0] != "storage":
            raise UnpicklingError(f"it refers to {short_repr(identity)}, which is not a storage")
        _, kind, key, _, count, view = identity
        if not isinstance(kind, StorageType) or not isinstance(key, str) or type(count) is not int:
            raise ValueError(f"it refers to the storage {short_repr(identity)}")
        if view is not None:
            raise UnpicklingError("it has views of storages, as PyTorch wrote before 0.4: load it there and save it again")
        self.sizes[key], self.counts[key] = kind.size, count
        memory: Any = self.memories.get(key, Blank())
        return Storage(memory, kind.kind)

    def locate(self, keys: Any, start: int) -> None:
        """Locate the storages after the pickles: each is preceded by its number of elements."""
        if (type(keys) is not list or any(type(key) is not str for key in keys) or len(set(keys)) < len(keys)
                or not set(keys) >= self.sizes.keys()):
            raise ValueError(f"its list of storages does not fit: {short_repr(keys)}")
        for key in keys:
            count = int.from_bytes(self.source.read(start, 8), "little")
            if count != self.counts.get(key):
                raise ValueError(f"the storage {key!r} should have {self.counts.get(key)} elements, but has {count}")
            self.memories[key] = Memory(self.source, start + 8, count * self.sizes[key])
            start += 8 + count * self.sizes[key]
        if start != self.source.size:
            raise ValueError(f"its storages end at {start}, but the file ends at {self.source.size}")


def load(source: Source) -> Any:
    """The object that torch.save(_use_new_zipfile_serialization=False) wrote."""
    storages = Storages(source)
    stream = source.stream(FIRST_PICKLE)
    protocol, _system = unpickle(stream, storages), unpickle(stream, storages)
    if protocol != PROTOCOL:
        raise ValueError(f"its protocol is {short_repr(protocol)}, not {PROTOCOL}")
    start = stream.tell()
    unpickle(stream, storages)
    keys = unpickle(stream, storages)
    end = stream.tell()
    storages.locate(keys, end)
    return unpickle(io.BytesIO(source.read(start, end - start)), storages)
