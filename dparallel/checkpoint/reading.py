"""A saved state: its manifest, its shards, and their values, each compared with its checksum when it is read."""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd.serialization.kinds import named_dtype
from autograd.serialization.safetensors import read_header
from autograd.serialization.source import Source

from .encoding import Array, Rebuilt
from .errors import CheckpointError

if TYPE_CHECKING:
    from autograd.serialization.safetensors import Entry
    from launch.private import regular
else:                                                # dprun.py: ROS 2 has a package launch too
    from dprun.private import regular


class Shard:
    """One rank's file of arrays. place: its path, or its bytes from another host; private: reject another user's file."""

    entries: dict[str, Entry]

    def __init__(self, name: str, place: str | Array, about: Mapping[str, Any], private: bool) -> None:
        self.name: str = name
        self.place: str | Array = place
        self.private: bool = private
        try:
            with self._source() as source:
                size = int.from_bytes(source.read(0, 8), "little") if source.size >= 8 else 0
                if source.size != about["bytes"]:
                    raise ValueError(f"it has {source.size} bytes, and {about['bytes']} were written")
                if zlib.crc32(source.read(0, min(8 + size, source.size))) != about["header_crc32"]:
                    raise ValueError("its header does not match its checksum")
                self.entries, _ = read_header(source)
        except (OSError, ValueError) as error:
            raise CheckpointError(f"{self.name} is damaged: {error}") from error

    def _source(self) -> Source:
        if not isinstance(self.place, str):
            return Source(io.BytesIO(memoryview(self.place)))            # type: ignore[arg-type]
        return Source(self.place, opener=lambda path, flags: regular(path, flags, private=self.private))

    def read(self, name: str, nbytes: int, crc32: int) -> Array:
        """The bytes of one array. CheckpointError if they differ from those written."""
        entry = self.entries.get(name)
        if entry is None or entry.nbytes != nbytes:
            size = "" if entry is None else f" of {nbytes} bytes"
            raise CheckpointError(f"{self.name} does not hold {name!r}{size}, which its manifest lists")
        if isinstance(self.place, str):
            with self._source() as source:
                found: Array = source.vector(entry.start, entry.nbytes)
        else:
            found = self.place[entry.start:entry.start + entry.nbytes].copy()
        if zlib.crc32(found) != crc32:               # type: ignore[arg-type]
            raise CheckpointError(f"{self.name} is damaged: {name!r} does not match its checksum")
        return found


class StoredArray:
    """An array of a saved state, in one or several pieces. own: the ranks that saved different ones under this name."""

    def __init__(self, name: str, entry: Mapping[str, Any], shards: Callable[[int], Shard], own: bool) -> None:
        self.name: str = name
        self.own: bool = own
        self.sliced: bool = bool(entry.get("sliced"))
        self.shape: tuple[int, ...] = tuple(entry["shape"])
        self.dtype: np.dtype[Any] = named_dtype(entry["dtype"])
        self.size: int = int(np.prod(self.shape, dtype=int))
        self._pieces = sorted((p["start"], p["stop"], p["shard"], p["crc32"]) for p in entry["pieces"])
        self._shards = shards

    def elements(self, start: int, stop: int) -> Array:
        """Elements start to stop, as a vector."""
        out = np.empty(stop - start, self.dtype)
        position = start
        for first, last, shard, crc32 in self._pieces:
            low, high = max(first, start), min(last, stop)
            if low < high:
                if low != position:
                    break
                values = self._shards(shard).read(self.name, (last - first) * self.dtype.itemsize, crc32).view(self.dtype)
                out[low - start:high - start] = values[low - first:high - first]
                position = high
        if position != stop and stop > start:
            raise CheckpointError(f"the manifest lists no element {position} of {self.name!r}, which has {self.size}")
        return out

    def read(self) -> Array:
        """The whole array."""
        return self.elements(0, self.size).reshape(self.shape)

    def check(self, shard: int) -> None:
        """Compare the pieces in a shard with their checksums."""
        for first, last, where, crc32 in self._pieces:
            if where == shard:
                self._shards(where).read(self.name, (last - first) * self.dtype.itemsize, crc32)


class Saved:
    """A complete checkpoint. title: for errors; place_of(file): a shard's path or bytes; private: read only this user's
    files."""

    def __init__(self, title: str, manifest: Mapping[str, Any], place_of: Callable[[str], str | Array], *,
                 private: bool = False) -> None:
        self.title: str = title
        self.private: bool = private
        self.manifest: Mapping[str, Any] = manifest
        self._place_of = place_of
        self.ranks: int = manifest["ranks"]
        self.step: int = manifest["step"]
        self._open: dict[int, Shard] = {}
        self._common = {name: StoredArray(name, entry, self._shard, False) for name, entry in manifest["tensors"].items()}
        self._own = [{name: StoredArray(name, entry, self._shard, True) for name, entry in own["tensors"].items()}
                     for own in manifest["own"]]

    def _shard(self, number: int) -> Shard:
        if number not in self._open:
            about = self.manifest["shards"][number]
            place = self._place_of(about["file"])
            name = place if isinstance(place, str) else os.path.join(self.title, about["file"])
            self._open[number] = Shard(name, place, about, self.private)
        return self._open[number]

    def parts(self) -> list[str]:
        """The names of the saved parts: "model", "optimizer", ..."""
        return [*self.manifest["trees"], *(part for part in self.manifest["own"][0]["trees"])]

    def common(self, part: str) -> bool:
        """Whether all ranks saved the same tree of a part; values of arrays may differ."""
        return part in self.manifest["trees"]

    def part(self, part: str, rank: int) -> Any:
        """The part saved by a rank, as a nested state whose arrays are Leafs. KeyError if it saved none."""
        own = self.manifest["own"][rank]["trees"]
        tree = own[part] if part in own else self.manifest["trees"][part]

        def find(name: str) -> StoredArray:
            return self._own[rank].get(name) or self._common[name]

        return Rebuilt(find).value(tree)

    def check(self, numbers: range) -> None:
        """Compare every byte of these shards with its checksum. CheckpointError names the file."""
        for number in numbers:
            self._shard(number)
            for array in [*self._common.values(), *(a for own in self._own for a in own.values())]:
                array.check(number)
