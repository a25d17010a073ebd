"""What a manifest or a rank's list may contain: every field is checked when it is read, before any of it is used.

A checksum finds damage, not forgery. A field of another type, out of range, missing or unknown is a CheckpointError that
names file and field. No field can make restore() read a file elsewhere, allocate more than the files hold, or run code.
"""

from __future__ import annotations

import json
import math
from collections import ChainMap
from collections.abc import Callable, Collection, Mapping
from typing import Any, NoReturn

from autograd.serialization.kinds import BACK, CONTAINERS, KIND, MAPPINGS, SEQUENCES, named_dtype

from .errors import CheckpointError

FORMAT, VERSION = "dparallel.checkpoint", 1
LIMIT = 2**63
HEAD = ("format", "version", "library", "number", "step", "ranks", "metric")
PIECE = ("start", "stop", "crc32")
LEAVES = ("tensor", "Parameter", "ndarray")
HASHABLE = ("tuple", "frozenset", "Size", *LEAVES, *BACK)


def shard_name(rank: int) -> str:
    """The file of a rank's arrays."""
    return f"rank-{rank:05d}.safetensors"


def parsed(path: str, text: bytes) -> dict[str, Any]:
    """The JSON object of a file of this format. CheckpointError if it is not one, or has another version."""
    try:
        content = json.loads(text.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is not JSON written by this library: {type(error).__name__}: {error}") from error
    if not isinstance(content, dict) or (content.get("format"), content.get("version")) != (FORMAT, VERSION) or (
            type(content["version"]) is not int):
        about = content if isinstance(content, dict) else {}
        raise CheckpointError(f"{path}: format and version are {_shown(about.get('format'))} and "
                              f"{_shown(about.get('version'))}, and this program reads {FORMAT!r} and {VERSION}")
    return content


def checked_manifest(path: str, content: dict[str, Any]) -> dict[str, Any]:
    """A manifest, checked. CheckpointError that names the file and the field."""
    return _Checker(path).run(_Checker.manifest, content)


def checked_list(path: str, content: dict[str, Any]) -> dict[str, Any]:
    """The list of one rank, checked. CheckpointError that names the file and the field."""
    return _Checker(path).run(_Checker.part_list, content)


class _Checker:
    """Checks the fields of one file. where: the path to a field, for errors."""

    def __init__(self, path: str) -> None:
        self.path = path

    def run(self, check: Callable[[_Checker, dict[str, Any]], None], content: dict[str, Any]) -> dict[str, Any]:
        """The content, after the check."""
        try:
            check(self, content)
        except RecursionError:
            raise CheckpointError(f"{self.path}: a field is nested too deeply") from None
        return content

    # --- the two kinds of file ------------------------------------------------------------------------------------------

    def manifest(self, content: dict[str, Any]) -> None:
        """The fields that files.merged() writes."""
        self.fields(content, "", (*HEAD, "shards", "tensors", "trees", "own"))
        ranks = self.head(content, "")
        shards = content["shards"]
        if not isinstance(shards, list):
            self.fault("shards", shards, "a list")
        if len(shards) != ranks:
            self.wrong("ranks", f"is {ranks}, and shards has {len(shards)}")
        for rank, shard in enumerate(shards):
            self.shard(shard, f"shards[{rank}]", rank)
        sizes = [shard["bytes"] for shard in shards]
        tensors = self.mapping(content["tensors"], "tensors")
        for name, entry in tensors.items():
            where = f"tensors[{name!r:.100}]"
            self.fields(entry, where, ("dtype", "shape", "sliced", "pieces"))
            self.truth(entry["sliced"], f"{where}.sliced")
            self.pieces(entry, where, sizes)
        trees = self.mapping(content["trees"], "trees")
        shared: set[str] | None = None               # arrays of which each rank has its own
        for rank, own in enumerate(self.several(content["own"], "own", ranks)):
            where = f"own[{rank}]"
            self.fields(own, where, ("tensors", "trees"))
            mine = self.mapping(own["tensors"], f"{where}.tensors")
            for name, entry in mine.items():
                self.own_entry(entry, f"{where}.tensors[{name!r:.100}]", sizes)
            shared = set(mine) if shared is None else shared & mine.keys()
            for part, tree in self.mapping(own["trees"], f"{where}.trees").items():
                self.tree(tree, f"{where}.trees[{part!r:.100}]", ChainMap(mine, tensors))
                if part in trees or part not in content["own"][0]["trees"]:
                    self.wrong(f"{where}.trees", f"has {part!r:.100}, which is in trees too, or not in own[0].trees")
            if len(own["trees"]) != len(content["own"][0]["trees"]):
                self.fault(f"{where}.trees", own["trees"], "of the parts that own[0] has")
        for part, tree in trees.items():             # arrays of all ranks, equal or one per rank
            self.tree(tree, f"trees[{part!r:.100}]", tensors.keys() | (shared or set()))

    def part_list(self, content: dict[str, Any]) -> None:
        """The fields that writing.write_part() writes."""
        self.fields(content, "", (*HEAD, "head", "rank", "shard", "tensors", "own", "trees", "own_trees"))
        ranks = self.head(content, "")
        self.fields(content["head"], "head", HEAD)
        self.head(content["head"], "head.")
        if any(content["head"][name] != content[name] for name in HEAD):
            self.wrong("head", "differs from the fields of the list itself")
        rank = self.number(content["rank"], "rank", 0, ranks - 1)
        self.shard(content["shard"], "shard", rank)
        sizes = {rank: content["shard"]["bytes"]}
        for name, entry in self.mapping(content["tensors"], "tensors").items():
            where = f"tensors[{name!r:.100}]"
            self.fields(entry, where, ("dtype", "shape", "sliced", *PIECE))
            self.truth(entry["sliced"], f"{where}.sliced")
            size, itemsize = self.array(entry, where)
            self.piece(entry, where, size, itemsize, sizes[rank])
        for name, entry in self.mapping(content["own"], "own").items():
            self.own_entry(entry, f"own[{name!r:.100}]", sizes)
        for kind in ("trees", "own_trees"):
            for part, tree in self.mapping(content[kind], kind).items():
                self.tree(tree, f"{kind}[{part!r:.100}]", None)

    # --- their parts ----------------------------------------------------------------------------------------------------

    def head(self, content: Mapping[str, Any], where: str) -> int:
        """format, version, library, number, step, ranks, metric; the number of ranks."""
        for name, value in (("format", FORMAT), ("version", VERSION)):
            if type(content[name]) is not type(value) or content[name] != value:
                self.fault(where + name, content[name], repr(value))
        if not isinstance(content["library"], str):
            self.fault(f"{where}library", content["library"], "a version's text")
        self.number(content["number"], f"{where}number")
        self.number(content["step"], f"{where}step")
        metric = content["metric"]
        if metric is not None and (type(metric) not in (int, float) or not _finite(metric)):
            self.fault(f"{where}metric", metric, "a finite number or null")
        return self.number(content["ranks"], f"{where}ranks", 1)

    def shard(self, shard: Any, where: str, rank: int) -> None:
        """A rank's file. It has the name that write_part() gives it, so it is in the checkpoint's folder."""
        self.fields(shard, where, ("file", "bytes", "header_crc32"))
        if shard["file"] != shard_name(rank):
            self.fault(f"{where}.file", shard["file"], f"{shard_name(rank)!r}, a file in the checkpoint's folder")
        self.number(shard["bytes"], f"{where}.bytes")
        self.number(shard["header_crc32"], f"{where}.header_crc32", 0, 2**32 - 1)

    def array(self, entry: Mapping[str, Any], where: str) -> tuple[int, int]:
        """dtype and shape of an array; returns its number of elements and the bytes of one."""
        try:
            itemsize = named_dtype(entry["dtype"]).itemsize
        except Exception as error:                   # not the name of a dtype; a dtype whose package is not installed
            raise CheckpointError(f"{self.path}: {where}.dtype is {_shown(entry['dtype'])}: {error}") from error
        if not isinstance(entry["shape"], list) or len(entry["shape"]) > 64:
            self.fault(f"{where}.shape", entry["shape"], "a list of at most 64 numbers")
        for axis, length in enumerate(entry["shape"]):
            self.number(length, f"{where}.shape[{axis}]")
        size = math.prod(entry["shape"])
        if size * itemsize >= LIMIT:
            self.fault(f"{where}.shape", entry["shape"], "the shape of an array that has room in a memory")
        return size, itemsize

    def own_entry(self, entry: Any, where: str, sizes: Any) -> None:
        """An array of one rank."""
        self.fields(entry, where, ("dtype", "shape", "pieces"))
        self.pieces(entry, where, sizes)

    def pieces(self, entry: Mapping[str, Any], where: str, sizes: Any) -> None:
        """The pieces of an array: together all its elements, each once. sizes: of the shards, by rank."""
        size, itemsize = self.array(entry, where)
        if not isinstance(entry["pieces"], list) or not entry["pieces"]:
            self.fault(f"{where}.pieces", entry["pieces"], "a list of at least one piece")
        for number, piece in enumerate(entry["pieces"]):
            name = f"{where}.pieces[{number}]"
            self.fields(piece, name, ("shard", *PIECE))
            known = range(len(sizes)) if isinstance(sizes, list) else sizes
            if type(piece["shard"]) is not int or piece["shard"] not in known:
                self.fault(f"{name}.shard", piece["shard"], f"one of {len(known)} shards")
            self.piece(piece, name, size, itemsize, sizes[piece["shard"]])
        end = 0
        for start, stop in sorted((piece["start"], piece["stop"]) for piece in entry["pieces"]):
            if start != end:
                self.wrong(f"{where}.pieces", f"has a piece from {start} on after one to {end}, of {size} elements")
            end = stop
        if end != size:
            self.wrong(f"{where}.pieces", f"ends at element {end} of {size}")

    def piece(self, piece: Mapping[str, Any], where: str, size: int, itemsize: int, room: int) -> None:
        """Where a piece begins and ends. room: the bytes of its shard."""
        start = self.number(piece["start"], f"{where}.start", 0, size)
        stop = self.number(piece["stop"], f"{where}.stop", start, size)
        if (stop - start) * itemsize > room:
            self.fault(f"{where}.stop", stop, f"the end of a piece in a shard of {room} bytes")
        self.number(piece["crc32"], f"{where}.crc32", 0, 2**32 - 1)

    def tree(self, tree: Any, where: str, names: Collection[str] | None) -> None:
        """A nested state without its arrays, as serialization/decode.py reads it. names: of the arrays; None: not known."""
        if tree is None or type(tree) in (bool, str):
            return
        if type(tree) in (int, float):
            if not _finite(tree) or not -LIMIT <= tree < 2 * LIMIT:
                self.fault(where, tree, "a finite number of at most 64 bits")
        elif isinstance(tree, list):
            for number, item in enumerate(tree):
                self.tree(item, f"{where}[{number}]", names)
        elif KIND not in tree:
            for key, item in tree.items():
                self.tree(item, f"{where}.{key:.100}", names)
        elif tree[KIND] in LEAVES:
            self.leaf(tree, where, names)
        elif isinstance(tree[KIND], str) and tree[KIND] in BACK:
            self.fields(tree, where, (KIND, "value"))
            try:
                BACK[tree[KIND]](tree["value"])
            except Exception as error:               # of the conversion, for any value
                raise CheckpointError(f"{self.path}: {where}.value is {_shown(tree['value'])}, which is no {tree[KIND]}: "
                                      f"{type(error).__name__}: {error}") from error
        elif isinstance(tree[KIND], str) and tree[KIND] in CONTAINERS:
            self.container(tree, where, names)
        else:
            self.fault(f"{where}.{KIND}", tree[KIND], "a kind of value that this version knows")

    def leaf(self, tree: Mapping[str, Any], where: str, names: Collection[str] | None) -> None:
        """The location of an array."""
        self.fields(tree, where, (KIND, "name"), ("requires_grad",))
        if not isinstance(tree["name"], str) or (names is not None and tree["name"] not in names):
            self.fault(f"{where}.name", tree["name"], "the name of an array that is listed")
        self.truth(tree.get("requires_grad", False), f"{where}.requires_grad")

    def container(self, tree: Mapping[str, Any], where: str, names: Collection[str] | None) -> None:
        """A tuple, set, dict of other keys than strings, ..."""
        kind = tree[KIND]
        inner = "pairs" if "pairs" in tree else "items"
        mapping = kind in MAPPINGS.values()
        self.fields(tree, where, (KIND, inner), ("metadata",) if mapping else ())
        items = tree[inner]
        if inner == "pairs":
            if not mapping or kind == "Namespace" or not isinstance(items, list):
                self.fault(f"{where}.pairs", items, "the list of keys and values of a dict")
            for number, pair in enumerate(items):
                self.several(pair, f"{where}.pairs[{number}]", 2)
                self.hashable(pair[0], f"{where}.pairs[{number}][0]")
                self.tree(pair, f"{where}.pairs[{number}]", names)
        else:
            if type(items) is not (dict if mapping else list):
                self.fault(f"{where}.items", items, f"the contents of a {kind}")
            for key, item in items.items() if isinstance(items, dict) else enumerate(items):
                self.tree(item, f"{where}.items[{key!r:.100}]", names)
                if kind in (SEQUENCES[set], SEQUENCES[frozenset]):
                    self.hashable(item, f"{where}.items[{key!r}]")
                if kind == "Size":
                    self.number(item, f"{where}.items[{key!r}]")
        if "metadata" in tree:
            self.tree(tree["metadata"], f"{where}.metadata", names)

    def hashable(self, tree: Any, where: str) -> None:
        """A key of a dict, or an element of a set."""
        kind = tree.get(KIND) if isinstance(tree, dict) else None
        if isinstance(tree, list) or (isinstance(tree, dict) and (not isinstance(kind, str) or kind not in HASHABLE)):
            self.fault(where, tree, "a value that can be a key")
        items = tree.get("items") if isinstance(tree, dict) else None
        for number, item in enumerate(items if isinstance(items, list) else ()):
            self.hashable(item, f"{where}.items[{number}]")

    # --- values ---------------------------------------------------------------------------------------------------------

    def fault(self, where: str, value: Any, wanted: str) -> NoReturn:
        """Raise the error about a field."""
        self.wrong(where, f"is {_shown(value)}, and not {wanted}")

    def wrong(self, where: str, what: str) -> NoReturn:
        """Raise the error about a field, in words."""
        raise CheckpointError(f"{self.path}: {where.lstrip('.')} {what}")

    def fields(self, value: Any, where: str, names: Collection[str], optional: Collection[str] = ()) -> None:
        """An object of these fields, and no other."""
        if not isinstance(value, dict):
            self.fault(where or "the file", value, "an object")
        for name in names:
            if name not in value:
                self.wrong(f"{where}.{name}", "is missing")
        for name in value:
            if name not in names and name not in optional:
                self.wrong(f"{where}.{name:.100}", f"is unknown: the fields are {', '.join([*names, *optional])}")

    def mapping(self, value: Any, where: str) -> dict[str, Any]:
        """An object of any fields."""
        if not isinstance(value, dict):
            self.fault(where, value, "an object")
        return value

    def several(self, value: Any, where: str, count: int) -> list[Any]:
        """A list of this many values."""
        if not isinstance(value, list) or len(value) != count:
            self.fault(where, value, f"a list of {count}")
        return value

    def number(self, value: Any, where: str, least: int = 0, most: int = LIMIT - 1) -> int:
        """An integer that is not a bool."""
        if type(value) is not int or not least <= value <= most:
            self.fault(where, value, f"an integer of {least} or more" + f" and {most} at most" * (most < LIMIT - 1))
        return value

    def truth(self, value: Any, where: str) -> None:
        """A bool."""
        if not isinstance(value, bool):
            self.fault(where, value, "true or false")


def _shown(value: Any) -> str:
    """A value in an error text, shortened."""
    if isinstance(value, (list, dict)):
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    if type(value) is int and value.bit_length() > 300:
        return f"an integer of {value.bit_length()} bits"
    return f"{value!r:.100}"


def _finite(value: float) -> bool:
    """Whether a number is finite; an integer always is."""
    return isinstance(value, int) or math.isfinite(value)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object without duplicate names."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"of the names {[name for name, _ in pairs]!r:.200} one is there twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"it holds {name}, which is not JSON")
