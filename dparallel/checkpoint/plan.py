"""Which rank writes what: arrays equal on all ranks are divided; each rank writes its slices and different arrays."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .encoding import Array, Held
from .errors import Ranks


class Plan(NamedTuple):
    """The names of the arrays that this rank writes (`mine`), and its entries in the list."""

    rank: int
    mine: list[str]
    own: set[str]                                    # of these, each rank's own
    held: Mapping[str, Held]
    checksums: Mapping[str, int]
    trees: dict[str, Any]                            # of parts equal on all ranks; empty except on rank 0
    own_trees: dict[str, Any]
    total_bytes: int                                 # written by all ranks

    def listed(self) -> dict[str, Any]:
        """The list of this rank."""
        tensors: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for name in self.mine:
            held, crc = self.held[name], self.checksums[name]
            about: dict[str, Any] = {"dtype": held.array.dtype.name, "shape": list(held.shape)}
            if name in self.own:
                own[name] = {**about, "pieces": [{"shard": self.rank, "start": 0, "stop": held.stop, "crc32": crc}]}
            else:
                tensors[name] = {**about, "sliced": held.sliced, "start": held.start, "stop": held.stop, "crc32": crc}
        return {"tensors": tensors, "own": own, "trees": self.trees, "own_trees": self.own_trees}


def share_out(ranks: Ranks, held: Mapping[str, Held], checksums: Mapping[str, int], trees: dict[str, Any],
              own_trees: dict[str, Any], own_names: set[str]) -> Plan:
    """The plan, after a comparison over ranks. Collective: one small message a rank, two where something differs."""
    slices = [name for name in held if held[name].sliced and name not in own_names]
    compared = {name: (checksums[name], held[name].array.dtype.name, held[name].shape) for name in held
                if name not in own_names and not held[name].sliced}
    texts = {name: json.dumps(tree, separators=(",", ":")) for name, tree in trees.items()}
    digest = hashlib.blake2b(repr((sorted(compared.items()), sorted(texts.items()))).encode(), digest_size=16).digest()
    mine = [*slices, *own_names]
    bytes_here = sum(held[name].array.nbytes for name in mine)
    everyone = ranks.gather((digest, bytes_here))
    differing: set[str] = set()
    if any(theirs != digest for theirs, _ in everyone):
        tables = ranks.gather((compared, {name: hashlib.blake2b(text.encode()).digest() for name, text in texts.items()}))
        differing = {name for name in compared if any(table.get(name) != compared[name] for table, _ in tables)}
        apart = {name for name in texts if any(table[name] != tables[0][1][name] for _, table in tables)}
        own_trees = {**own_trees, **{name: trees[name] for name in apart}}
        trees = {name: tree for name, tree in trees.items() if name not in apart}
    loads = [size for _, size in everyone]           # bytes; those of different arrays are about equal on all ranks
    shared = [name for name in compared if name not in differing]
    for name in sorted(shared, key=lambda name: (-held[name].array.nbytes, name)):
        owner = int(np.argmin(loads))
        loads[owner] += held[name].array.nbytes
        if owner == ranks.rank:
            mine.append(name)
    own = own_names | differing
    return Plan(ranks.rank, [*mine, *differing], own, held, checksums, trees if ranks.rank == 0 else {}, own_trees,
                sum(loads) + ranks.size * sum(held[name].array.nbytes for name in differing))


class Staging:
    """Memory for the copies of a state, kept from one save to the next: fresh memory would be filled page by page."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}

    def copies(self, arrays: Mapping[str, Array]) -> dict[str, Array]:
        """Copies of the arrays, row by row. They overwrite those of the last call."""
        made = {}
        for name, array in arrays.items():
            before = self.arrays.get(name)
            if before is None or before.shape != array.shape or before.dtype != array.dtype:
                before = np.empty_like(array, order="C")
            np.copyto(before, array)
            made[name] = before
        self.arrays = made
        return made
