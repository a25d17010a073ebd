"""A checkpoint on disk: a folder with a shard and a part list for each rank, and the manifest, which comes last.

    run/step-00000050/rank-00000.safetensors     arrays of rank 0: its share of what all ranks have, its slices, its own
                      rank-00000.json            what they are; removed when the manifest has it
                      manifest.json              the lists of all ranks: written under another name, synced, renamed, synced

A folder with a manifest is complete; another one is half-written, and the next save removes it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd.serialization.atomic import sync_folder as sync_folder
from autograd.serialization.atomic import write
from autograd.serialization.safetensors import blocks
from autograd.version import __version__

from .errors import CheckpointError
from .keeping import Kept
from .manifest import FORMAT, VERSION, checked_manifest, parsed
from .manifest import shard_name as shard_name

if TYPE_CHECKING:
    from launch import private as private_files
else:                                                # dprun.py: ROS 2 has a package launch too
    from dprun import private as private_files

Array = np.ndarray[Any, Any]
MANIFEST, PROBE = "manifest.json", ".probe-"
NAME = re.compile(r"step-(\d{8,})(?:\.(\d+))?")
SEAL = b'{"crc32":"%08x",'


def part_name(rank: int) -> str:
    """The file that lists a rank's arrays until the manifest exists."""
    return f"rank-{rank:05d}.json"


# --- one file -----------------------------------------------------------------------------------------------------------

def write_shard(path: str, arrays: Mapping[str, Array], mode: int = 0o666) -> dict[str, Any]:
    """Write and sync a new safetensors file, without the GIL and without copies; its name, size and header's checksum."""
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        file.writelines(blocks(arrays, {}))
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
        start = file.read(8)
        start += file.read(int.from_bytes(start, "little"))
        return {"file": os.path.basename(path), "bytes": os.fstat(file.fileno()).st_size, "header_crc32": zlib.crc32(start)}


def write_json(path: str, content: Mapping[str, Any], mode: int = 0o666) -> None:
    """Write a JSON object after its checksum, completely or not at all, and sync it."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
    write(path, [SEAL % zlib.crc32(text[1:]), text[1:]], mode)


def content(path: str, *, private: bool = False) -> bytes:
    """The bytes of a regular file. private: PermissionError if another user owns or can reach it."""
    with open(private_files.regular(path, private=private), "rb") as file:
        return file.read()


def read_json(path: str, *, private: bool = False) -> dict[str, Any]:
    """The object that write_json() wrote. CheckpointError that names the file if a byte has changed."""
    text = content(path, private=private)
    split = len(SEAL % 0)
    if text[:split] != SEAL % zlib.crc32(text[split:]):
        raise CheckpointError(f"{path} does not match its checksum: the file is damaged")
    return parsed(path, b"{" + text[split:])


def read_manifest(folder: str) -> dict[str, Any]:
    """The manifest of a checkpoint's folder, each field checked. CheckpointError that names the file and the field."""
    path = os.path.join(folder, MANIFEST)
    return checked_manifest(path, read_json(path))


def check_space(folder: str, needed: int, what: str) -> None:
    """CheckpointError if a folder's disk has no room for the bytes of `what`, before a byte is written."""
    if hasattr(os, "statvfs"):
        disk = os.statvfs(folder)
        free = disk.f_bavail * disk.f_frsize
        if free < needed:
            raise CheckpointError(f"the disk of {folder} has {free:,} bytes free, and {what} {needed:,}")


# --- the lists ----------------------------------------------------------------------------------------------------------

def merged(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The manifest, from the lists of all ranks in order."""
    tensors: dict[str, Any] = {}
    for number, part in enumerate(parts):
        for name, entry in part["tensors"].items():
            found = tensors.setdefault(name, {key: entry[key] for key in ("dtype", "shape", "sliced")} | {"pieces": []})
            found["pieces"].append({"shard": number, **{key: entry[key] for key in ("start", "stop", "crc32")}})
    return {**parts[0]["head"], "shards": [part["shard"] for part in parts], "tensors": tensors,
            "trees": parts[0]["trees"], "own": [{"tensors": part["own"], "trees": part["own_trees"]} for part in parts]}


def head(number: int, step: int, ranks: int, metric: float | None) -> dict[str, Any]:
    """The beginning of a list or manifest."""
    return {"format": FORMAT, "version": VERSION, "library": __version__, "number": number, "step": step, "ranks": ranks,
            "metric": metric}


# --- the folder ---------------------------------------------------------------------------------------------------------

def steps_in(folder: str) -> list[str]:
    """The names of all checkpoints, complete or not."""
    try:
        return sorted(name for name in os.listdir(folder) if NAME.fullmatch(name))
    except FileNotFoundError:
        return []


def complete(folder: str) -> list[Kept]:
    """The complete checkpoints, by number. CheckpointError if the manifest of one is damaged."""
    found = []
    for name in steps_in(folder):
        try:
            manifest = read_manifest(os.path.join(folder, name))
        except (FileNotFoundError, NotADirectoryError):
            continue
        found.append(Kept(manifest["number"], manifest["step"], manifest["metric"], name))
    return sorted(found)


def remove(path: str) -> None:
    """Delete a checkpoint, first the file that makes it complete. Of a link, delete only the link."""
    if os.path.islink(path):
        os.unlink(path)
        return
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(os.path.join(path, MANIFEST))
    shutil.rmtree(path, ignore_errors=True)


def remove_unfinished(folder: str) -> None:
    """Delete what killed jobs left: incomplete checkpoints, and probes."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if NAME.fullmatch(name) and not os.path.exists(os.path.join(path, MANIFEST)):
            remove(path)
        elif name.startswith(PROBE):
            with contextlib.suppress(OSError):
                os.unlink(path)
