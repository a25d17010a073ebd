"""A checkpoint on a disk: a folder with a shard and a part list for each rank, and the manifest, which comes last.

    run/step-00000050/rank-00000.safetensors     arrays of rank 0: its share of what all ranks have, its slices, its own
                      rank-00000.json            what they are; removed when the manifest has it
                      manifest.json              the lists of all ranks: written beside its place, synced, renamed, synced

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
from typing import Any

import numpy as np

from autograd.serialization.atomic import sync_folder, write
from autograd.serialization.safetensors import blocks
from autograd.version import __version__

from .errors import CheckpointError
from .keeping import Kept

Array = np.ndarray[Any, Any]
FORMAT, VERSION = "dparallel.checkpoint", 1
MANIFEST, PROBE = "manifest.json", ".probe-"
NAME = re.compile(r"step-(\d{8,})(?:\.(\d+))?")
SEAL = b'{"crc32":"%08x",'


def shard_name(rank: int) -> str:
    """The file of a rank's arrays."""
    return f"rank-{rank:05d}.safetensors"


def part_name(rank: int) -> str:
    """The file that lists a rank's arrays until the manifest does."""
    return f"rank-{rank:05d}.json"


# --- one file -----------------------------------------------------------------------------------------------------------

def write_shard(path: str, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Write arrays to a safetensors file, and see that it is on the disk; its name, size and the checksum of its header.
    Writing releases the GIL, and does not copy."""
    with open(path, "wb") as file:
        file.writelines(blocks(arrays, {}))
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
        start = file.read(8)
        start += file.read(int.from_bytes(start, "little"))
        return {"file": os.path.basename(path), "bytes": os.fstat(file.fileno()).st_size, "header_crc32": zlib.crc32(start)}


def write_json(path: str, content: Mapping[str, Any]) -> None:
    """Write a JSON object with its checksum in front, whole or not at all, and see that it is on the disk."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
    write(path, [SEAL % zlib.crc32(text[1:]), text[1:]])


def read_json(path: str) -> dict[str, Any]:
    """What write_json() wrote. CheckpointError that names the file if a byte has changed."""
    with open(path, "rb") as file:
        text = file.read()
    split = len(SEAL % 0)
    if text[:split] != SEAL % zlib.crc32(text[split:]):
        raise CheckpointError(f"{path} does not match its checksum: the file is damaged")
    content: dict[str, Any] = json.loads(b"{" + text[split:])
    if content.get("format") != FORMAT or content.get("version") != VERSION:
        raise CheckpointError(f"{path} is of version {content.get('version')!r} of {content.get('format')!r}, and this "
                              f"program reads version {VERSION} of {FORMAT!r}")
    return content


def check_space(folder: str, needed: int, what: str) -> None:
    """CheckpointError if the disk of a folder has no room for the bytes that `what` takes: before a byte is written."""
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
    """How a list or manifest begins."""
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
            manifest = read_json(os.path.join(folder, name, MANIFEST))
        except (FileNotFoundError, NotADirectoryError):
            continue
        found.append(Kept(manifest["number"], manifest["step"], manifest["metric"], name))
    return sorted(found)


def remove(path: str) -> None:
    """Delete a checkpoint: first what makes it complete."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(os.path.join(path, MANIFEST))
    shutil.rmtree(path, ignore_errors=True)


def remove_unfinished(folder: str) -> None:
    """Delete what killed jobs left: half-written checkpoints, and probes."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if NAME.fullmatch(name) and not os.path.exists(os.path.join(path, MANIFEST)):
            remove(path)
        elif name.startswith(PROBE):
            with contextlib.suppress(OSError):
                os.unlink(path)


__all__ = ["MANIFEST", "PROBE", "check_space", "complete", "head", "merged", "part_name", "read_json", "remove",
           "remove_unfinished", "shard_name", "steps_in", "sync_folder", "write_json", "write_shard"]
