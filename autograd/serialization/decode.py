"""decode(): a nested state rebuilt from the tree and the tensors that encode() made."""

from __future__ import annotations

import zlib
from typing import Any

from ..core.tensor import Parameter, Tensor
from .blocks import Memory, require_grad
from .kinds import BACK, CONTAINERS, KIND
from .safetensors import CODES, MANY, Entry, checkers, raw
from .source import Array, Source


class Decoder:
    """Rebuilds the values of a tree. Tensors that shared memory share it again."""

    def __init__(self, source: Source, entries: dict[str, Entry], table: dict[str, Any]) -> None:
        self.source: Source = source
        self.entries: dict[str, Entry] = entries
        self.table: dict[str, Any] = table
        self.memories: dict[str, Memory] = {}
        self.values: dict[str, Any] = {}

    def value(self, tree: Any) -> Any:
        """The value that a JSON tree represents."""
        if isinstance(tree, list):
            return [self.value(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        if KIND not in tree:
            return {key: self.value(item) for key, item in tree.items()}
        kind = tree[KIND]
        if kind in ("tensor", "Parameter", "ndarray"):
            return self.tensor(tree)
        if kind in BACK:
            return BACK[kind](tree["value"])
        if kind in CONTAINERS:
            return self.container(tree)
        raise ValueError(f"its structure has a {kind!r}, which this version does not know")

    def container(self, tree: dict[str, Any]) -> Any:
        """A list of items, an object of them, or a list of pairs, converted to the original class."""
        if "pairs" in tree:
            items: Any = {self.value(key): self.value(item) for key, item in tree["pairs"]}
        elif isinstance(tree["items"], dict):
            items = {key: self.value(item) for key, item in tree["items"].items()}
        else:
            items = [self.value(item) for item in tree["items"]]
        value = CONTAINERS[tree[KIND]](items)
        if "metadata" in tree:
            value._metadata = self.value(tree["metadata"])
        return value

    def tensor(self, tree: dict[str, Any]) -> Tensor | Array:
        """A Tensor, Parameter or NumPy array."""
        name = tree["name"]
        if "same" in tree:
            return self.values[tree["same"]]
        entry, view = self.entries[name], self.table[name].get("view")
        memory = self.memory(view["of"] if view else name)
        if view:
            array = memory.array(entry.shape, entry.kind, view["offset"], tuple(view["strides"]))
            if not self.source.mapped and CODES.get(array.dtype.name) == self.table[name]["dtype"] and (
                    zlib.crc32(raw(array)) != self.table[name]["crc32"]):
                raise ValueError(f"{name!r}, which lies in {view['of']!r}, does not match its checksum")
        else:
            array = memory.array(entry.shape, entry.kind)
        value: Any = array
        if tree[KIND] != "ndarray":
            value = memory.tensor(array, Parameter if tree[KIND] == "Parameter" else Tensor)
            require_grad(value, tree.get("requires_grad", False))
        self.values[name] = value
        return value

    def memory(self, name: str) -> Memory:
        """The bytes of one tensor of the file."""
        if name not in self.memories:
            entry = self.entries[name]
            self.memories[name] = Memory(self.source, entry.start, entry.nbytes, crc32=self.table[name]["crc32"])
        return self.memories[name]


def decode(source: Source, entries: dict[str, Entry], structure: dict[str, Any]) -> Any:
    """The state that encode() flattened. ValueError if the file's tensors are not those of its structure."""
    if structure.get("version") != 1:
        raise ValueError(f"its structure is of version {structure.get('version')!r}; this version reads 1")
    table = structure["tensors"]
    if entries.keys() != table.keys():
        raise ValueError(f"its tensors are not those of its structure: {sorted(entries.keys() ^ table.keys())!r:.200}")
    for name, entry in entries.items():
        if (CODES[entry.kind], list(entry.shape)) != (table[name]["dtype"], table[name]["shape"]):
            raise ValueError(f"{name!r} is {CODES[entry.kind]} of shape {list(entry.shape)}, but was "
                             f"{table[name]['dtype']} of shape {table[name]['shape']} when it was saved")
    if source.mapped or source.size < MANY:
        return Decoder(source, entries, table).value(structure["state"])
    with checkers() as source.checkers:
        state = Decoder(source, entries, table).value(structure["state"])
        for check in source.checks:
            check.result()
    return state
