"""encode(): a nested state as a tree for JSON and a flat dict of arrays.

What JSON has (None, bool, int, float, str, list, dict with string keys) stands for itself in the tree; the rest is an object
{"$": kind, ...}. Objects of any other class are refused: a file of weights can hold no code."""

from __future__ import annotations

import math
from argparse import Namespace
from typing import Any

import numpy as np

from ..core.tensor import Parameter, Tensor
from .kinds import KIND, MAPPINGS, SEQUENCES, atom_of
from .refusal import refuse
from .safetensors import CODES, METADATA, checksums
from .sharing import shared_views
from .source import Array
from .whole import HoldsObject

Path = tuple[Any, ...]


class Encoder:
    """`tree` is the state without its numbers, `arrays` the tensors' arrays by name."""

    def __init__(self, state: Any) -> None:
        self.arrays: dict[str, Array] = {}
        self.names: dict[int, str] = {}              # of tensors by id: one that occurs twice is one object again
        self.open: set[int] = set()                  # the enclosing containers
        self.tree: Any = self.value(state, ())

    def value(self, value: Any, path: Path) -> Any:
        """The JSON of one value; path: the keys that lead to it."""
        kind = type(value)
        if value is None or kind in (bool, str) or (kind is int and -2 ** 63 <= value < 2 ** 64) or (
                kind is float and math.isfinite(value)):
            return value
        if (atom := atom_of(value)) is not None:
            return {KIND: atom.kind, "value": atom.out(value)}
        if isinstance(value, Tensor) or kind is np.ndarray:
            return self.tensor(value, path)
        if kind is not list and kind not in SEQUENCES and kind not in MAPPINGS:
            return self.foreign(value, path)
        if id(value) in self.open:
            refuse(value, path, "it holds itself")
        self.open.add(id(value))
        tree = self.mapping(value, path) if kind in MAPPINGS else self.sequence(value, path)
        self.open.discard(id(value))
        return tree

    def foreign(self, value: Any, path: Path) -> Any:
        """An object of another class: TypeError."""
        refuse(value, path)

    def sequence(self, value: Any, path: Path) -> Any:
        """A list, tuple or set, item by item."""
        items = [self.value(item, (*path, number)) for number, item in enumerate(value)]
        return items if type(value) is list else {KIND: SEQUENCES[type(value)], "items": items}

    def mapping(self, value: Any, path: Path) -> Any:
        """A dict or Namespace: an object if its keys are strings, else pairs; with the versions in a module's state."""
        kind = type(value)
        versions = {"metadata": self.value(value._metadata, path)} if hasattr(value, "_metadata") else {}
        value = vars(value) if kind is Namespace else value
        if all(type(key) is str for key in value):
            items: Any = {key: self.value(item, (*path, key)) for key, item in value.items()}
            if kind is dict and KIND not in items:
                return items
            return {KIND: MAPPINGS[kind], "items": items, **versions}
        pairs = [[self.value(key, (*path, key)), self.value(item, (*path, key))] for key, item in value.items()]
        return {KIND: MAPPINGS[kind], "pairs": pairs, **versions}

    def tensor(self, value: Tensor, path: Path) -> Any:
        """A tensor or NumPy array: its name, under which `arrays` has it."""
        array: Array = value.array if isinstance(value, Tensor) else value
        if array.dtype.name not in CODES:
            refuse(value, path, f"its elements are {array.dtype}")
        name = self.name(path)
        self.arrays[name] = array
        kind = "Parameter" if isinstance(value, Parameter) else "tensor" if isinstance(value, Tensor) else "ndarray"
        tree: dict[str, Any] = {KIND: kind, "name": name}
        if isinstance(value, Tensor) and value.requires_grad:
            tree["requires_grad"] = True
        if (first := self.names.setdefault(id(value), name)) != name:
            tree["same"] = first
        return tree

    def name(self, path: Path) -> str:
        """The keys joined by dots: in a dict of tensors the key itself."""
        parts = [str(key) if isinstance(key, (str, int)) else type(key).__name__ for key in path]
        name = stem = ".".join(parts or ["tensor"]).encode("utf-8", "backslashreplace").decode()
        number = 1
        while name in self.arrays or name == METADATA:
            number += 1
            name = f"{stem}_{number}"
        return name


class DataOnly(Encoder):
    """HoldsObject where the state holds a module, or another object that is not data."""

    def foreign(self, value: Any, path: Path) -> Any:
        """An object of another class: save() writes a pickle."""
        raise HoldsObject(value, path)


def encode(state: Any) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays of a state, and its structure: the tree, and for each array dtype, shape, checksum and view.

    An array in the memory of another one is kept all the same, so that other readers find every name; "view" says where it
    was, and decode() puts it there again."""
    encoder = DataOnly(state)
    found, blocks = shared_views(encoder.arrays)
    arrays = encoder.arrays | blocks
    table: dict[str, Any] = {}
    for (name, array), crc32 in zip(arrays.items(), checksums(arrays.values()), strict=True):
        table[name] = {"dtype": CODES[array.dtype.name], "shape": list(array.shape), "crc32": crc32}
        if name in found:
            table[name]["view"] = found[name]._asdict()
    return arrays, {"version": 1, "state": encoder.tree, "tensors": table}
