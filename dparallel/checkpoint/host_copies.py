"""Copies in the memory of hosts, from which a restart on the same hosts, or the survivors of a rank, read without a disk.

/dev/shm outlives its processes, and other users can list it, so the folder has mode 0700 and a random name
(docs/security.md). Every rank writes its shard and list there, on several hosts also those of a partner on the host before.
There is no manifest: a state is complete if the hosts together have the lists of all ranks. Hosts send each other what is
missing. The previous state stays until the newest is complete everywhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd.serialization.kinds import named_dtype
from autograd.serialization.safetensors import raw

from ..checkpoint import files
from .encoding import Array
from .errors import Ranks
from .keeping import Kept
from .manifest import checked_list, checked_manifest
from .reading import Saved
from .writing import Job, write_part

if TYPE_CHECKING:
    from launch import private
else:                                                # dprun.py: ROS 2 has a package launch too
    from dprun import private

TAG = 2**20 - 1                      # of messages to the partner
NUMBER = re.compile(r"[0-9]{8,18}")


class MemoryCopies:
    """The copies of one run's state. All ranks construct it, and call all methods but keep() and drop(), together.

    identity: a random word, the folder's name on each host. folder: the run's on disk, if any; copies of another folder of
    that name are deleted. hosts: for each rank the first rank of its host. base: the folder of this host's memory.
    """

    def __init__(self, identity: str, ranks: Ranks, folder: str = "", *, hosts: Sequence[int] | None = None,
                 base: str | None = None) -> None:
        self.ranks = ranks
        self.hosts: list[int] = hosts_of(ranks) if hosts is None else list(hosts)
        base = private.in_memory() if base is None else base
        family = f"dparallel-{hashlib.blake2b(folder.encode(), digest_size=6).hexdigest()}-" if folder else ""
        self.root: str = os.path.join(base, (family or private.LEFT) + identity)
        with ranks.together(f"the memory of the host, {base}"):
            for name in os.listdir(base) if family else ():
                if name.startswith(family) and name != family + identity:
                    with contextlib.suppress(OSError):           # another user's
                        shutil.rmtree(private.folder(os.path.join(base, name), make=False))
            private.folder(self.root)

    # --- out ------------------------------------------------------------------------------------------------------------

    def partners(self) -> tuple[int | None, list[int]]:
        """The rank on the next host that keeps a copy of this rank's state, and the ranks whose state this one keeps."""
        order = sorted(set(self.hosts))
        if len(order) == 1:
            return None, []

        def partner(rank: int) -> int:
            here = self.hosts[rank]
            there = order[(order.index(here) + 1) % len(order)]
            local = [r for r, host in enumerate(self.hosts) if host == here].index(rank)
            beside = [r for r, host in enumerate(self.hosts) if host == there]
            return beside[local % len(beside)]

        return partner(self.ranks.rank), [rank for rank in range(self.ranks.size) if partner(rank) == self.ranks.rank]

    def exchanged(self, job: Job) -> list[Job]:
        """Send this rank's job to its partner; returns the jobs of the ranks whose partner this rank is."""
        to, of = self.partners()
        comm = self.ranks.comm
        if to is not None:
            shapes = {name: (array.dtype.name, array.shape) for name, array in job.arrays.items()}
            flat = [raw(array) for array in job.arrays.values()]
            about = json.dumps([job._replace(arrays={}), shapes]).encode()
            comm.send(np.frombuffer(about, np.uint8), to, TAG)
            comm.send(np.concatenate([np.frombuffer(piece, np.uint8) for piece in flat] or [np.empty(0, np.uint8)]), to, TAG)
        jobs = []
        for rank in of:
            theirs, shapes = json.loads(comm.recv(rank, TAG).tobytes())
            rest = comm.recv(rank, TAG)
            arrays = {}
            for name, (dtype, shape) in shapes.items():
                size = int(np.prod(shape, dtype=int)) * named_dtype(dtype).itemsize
                arrays[name], rest = rest[:size].copy().view(named_dtype(dtype)).reshape(shape), rest[size:]
            jobs.append(Job(*theirs)._replace(arrays=arrays))
        return jobs

    def keep(self, job: Job, neighbours: Sequence[Any]) -> None:
        """Write the jobs into this host's memory, and delete states older than the previous one. Called by the writer's
        thread."""
        number = job.head["number"]
        for one in (job, *neighbours):
            path = os.path.join(self.root, f"{number:08d}")
            write_part(private.folder(path), one, 0o600)
        for old in self._numbers():
            if old < number - 1:
                shutil.rmtree(os.path.join(self.root, f"{old:08d}"), ignore_errors=True)

    def drop(self) -> None:
        """Release this host's memory."""
        shutil.rmtree(self.root, ignore_errors=True)

    # --- in -------------------------------------------------------------------------------------------------------------

    def _numbers(self) -> list[int]:
        with contextlib.suppress(FileNotFoundError):
            return sorted(int(name) for name in os.listdir(self.root) if NUMBER.fullmatch(name))
        return []

    def newest_number(self) -> int:
        """The number of the newest save that some host has, complete or not."""
        return max(self.ranks.gather(max(self._numbers(), default=0)))

    def _lists(self) -> dict[int, dict[int, dict[str, Any]]]:
        """{number: {rank: its list}} of this host."""
        found: dict[int, dict[int, dict[str, Any]]] = {}
        for number in self._numbers():
            path = os.path.join(self.root, f"{number:08d}")
            names = sorted(os.path.join(path, name) for name in os.listdir(path) if name.endswith(".json"))
            parts = [checked_list(name, files.read_json(name, private=True)) for name in names]
            found[number] = {part["rank"]: part for part in parts}
        return found

    def newest(self, step: int | None, disk: Kept | None) -> Saved | None:
        """The newest complete state (of that step) that the hosts have together, unless the disk has a newer one."""
        lists: dict[int, dict[int, dict[str, Any]]] = {}
        with self.ranks.together(f"reading {self.root}"):
            lists = self._lists()
        mine = {number: (next(iter(parts.values()))["head"], sorted(parts)) for number, parts in lists.items() if parts}
        everyone = self.ranks.gather(mine)
        best = None
        for number in sorted({n for theirs in everyone for n in theirs}, reverse=True):
            about = next(theirs[number][0] for theirs in everyone if number in theirs)
            there = {rank for theirs in everyone if number in theirs for rank in theirs[number][1]}
            if there == set(range(about["ranks"])) and step in (None, about["step"]):
                best = (number, about["ranks"])
                break
        if best is None or (disk is not None and disk.number > best[0]):
            return None
        number, count = best
        holders = [[holder for holder, theirs in enumerate(everyone) if rank in theirs.get(number, (None, ()))[1]]
                   for rank in range(count)]
        brought = self.ranks.gather(
            {rank: lists[number][rank] for rank in range(count) if holders[rank][0] == self.ranks.rank})
        parts = [brought[holders[rank][0]][rank] for rank in range(count)]
        path = os.path.join(self.root, f"{number:08d}")
        sent: dict[str, Array] = {}
        for rank, those in enumerate(holders):
            if len(those) < self.ranks.size:        # missing on some host
                file = os.path.join(path, files.shard_name(rank))
                here = np.frombuffer(files.content(file, private=True), np.uint8) if self.ranks.rank == those[0] else None
                found = self.ranks.comm.broadcast(here, those[0])[0]
                if self.ranks.rank not in those:
                    sent[files.shard_name(rank)] = found
        manifest = checked_manifest(path, files.merged(parts))
        return Saved(path, manifest, lambda file: sent[file] if file in sent else os.path.join(path, file),
                     private=True)


def hosts_of(ranks: Ranks) -> list[int]:
    """For each rank the first rank of its host. Collective."""
    if ranks.size == 1:
        return [0]
    node = ranks.comm.node()
    first = ranks.rank if node.size == 1 else node.broadcast_object(ranks.rank, 0)
    return [int(host) for host in ranks.gather(first)]
