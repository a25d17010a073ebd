"""The thread that writes one rank's part of a checkpoint; rank 0's also completes it. It starts no collective.

Each rank writes its list to the folder when its shard is on disk, and rank 0 waits for all lists. The training thread
fetches errors by shard_written() and completed(), and reports them to all ranks.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from . import files
from .encoding import Array
from .errors import CheckpointError, told
from .keeping import Keep, Kept
from .manifest import checked_list, checked_manifest

FIRST_LOOK, LAST_LOOK = 0.005, 0.5   # seconds between two checks for the lists of other ranks
LEFT_ALONE = 60.0                    # seconds that rank 0 waits for them after its program has ended


class Job(NamedTuple):
    """The job of a rank: the head of the checkpoint, its folder's name, and this rank's arrays and list."""

    head: dict[str, Any]
    name: str
    rank: int
    arrays: dict[str, Array]
    listed: dict[str, Any]


class Memory(Protocol):
    """The interface for copies in memory: MemoryCopies."""

    def keep(self, job: Job, neighbours: Sequence[Any]) -> None:
        """Write a rank's job, and those that its neighbours sent, into this host's memory."""


class Writer:
    """One running save on one rank. folder: None for memory only. there: rank 0's list of complete checkpoints, extended."""

    def __init__(self, folder: str | None, job: Job, memory: Memory | None, neighbours: Sequence[Any], keep: Keep | None,
                 there: list[Kept]) -> None:
        self.folder: str | None = folder
        self.job: Job = job
        self.keep: Keep | None = keep
        self.there: list[Kept] = there
        self.memory: Memory | None = memory
        self.neighbours: Sequence[Any] = neighbours
        self._shard_done, self._given_up = threading.Event(), threading.Event()
        self._problem = self._late_problem = ""
        self._thread: threading.Thread | None = None

    def start(self, background: bool) -> None:
        """Write, in a separate thread or now. The process ends only after the thread: it is not a daemon."""
        if background:
            self._thread = threading.Thread(target=self._run, name=f"checkpoint {self.job.name}")
            self._thread.start()
        else:
            self._write_shard()

    def shard_written(self) -> str:
        """Wait until this rank's shard is written; returns the problem, or ""."""
        self._shard_done.wait()
        return self._problem

    def completed(self) -> str:
        """Wait until the checkpoint is complete, on rank 0; returns the problem, or ""."""
        if self._thread is None:
            self._complete()
        else:
            self._thread.join()
        return self._late_problem

    def give_up(self, wait: bool = False) -> None:
        """Stop waiting for other ranks after a failure; the next save removes the folder. wait: only if a part is
        missing."""
        if wait and self._thread is not None:
            self._thread.join(1.0)
        self._given_up.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        self._write_shard()
        self._complete()

    def _write_shard(self) -> None:
        try:
            if self.memory is not None:
                self.memory.keep(self.job, self.neighbours)
            if self.folder is not None:
                write_part(os.path.join(self.folder, self.job.name), self.job)
        except Exception as error:                   # reported to all ranks by the training thread
            self._problem = told(error, f"writing {self.folder or 'into memory'}")
        finally:
            self._shard_done.set()

    # --- rank 0 ---------------------------------------------------------------------------------------------------------

    def _complete(self) -> None:
        if self.job.rank or self._problem or self.folder is None:
            return
        try:
            parts = self._parts()
            if parts is not None:
                self._finish(parts)
        except Exception as error:                   # likewise
            self._late_problem = told(error, f"completing {os.path.join(self.folder, self.job.name)}")

    def _parts(self) -> list[dict[str, Any]] | None:
        """The lists of all ranks, as soon as they exist; None if the save was given up."""
        assert self.folder is not None
        path = os.path.join(self.folder, self.job.name)
        pause, alone = FIRST_LOOK, None
        missing = [os.path.join(path, files.part_name(rank)) for rank in range(self.job.head["ranks"])]
        while missing := [name for name in missing if not os.path.exists(name)]:
            if self._given_up.is_set():
                return None
            if not threading.main_thread().is_alive():
                alone = time.monotonic() if alone is None else alone
                if time.monotonic() - alone > LEFT_ALONE:
                    raise CheckpointError(f"{missing[0]} did not come within {LEFT_ALONE:.0f} s of the end of the program")
            self._given_up.wait(pause)
            pause = min(2 * pause, LAST_LOOK)
        lists = [os.path.join(path, files.part_name(rank)) for rank in range(self.job.head["ranks"])]
        return [checked_list(name, files.read_json(name)) for name in lists]

    def _finish(self, parts: list[dict[str, Any]]) -> None:
        assert self.folder is not None
        path = os.path.join(self.folder, self.job.name)
        name = os.path.join(path, files.MANIFEST)
        files.write_json(name, checked_manifest(name, files.merged(parts)))
        files.sync_folder(self.folder)
        for rank in range(len(parts)):
            os.unlink(os.path.join(path, files.part_name(rank)))
        head = self.job.head
        self.there.append(Kept(head["number"], head["step"], head["metric"], self.job.name))
        with contextlib.suppress(OSError):           # the checkpoint is complete: obstacles may stay
            for old in self.keep.superfluous(self.there) if self.keep is not None else ():
                files.remove(os.path.join(self.folder, old.name))
                self.there.remove(old)


def write_part(path: str, job: Job, mode: int = 0o666) -> None:
    """Write a rank's shard, then its list. mode: of the files, without the bits that the umask removes."""
    shard = files.write_shard(os.path.join(path, files.shard_name(job.rank)), job.arrays, mode)
    files.sync_folder(path)
    listed = {**job.head, "head": job.head, "rank": job.rank, "shard": shard, **job.listed}
    files.write_json(os.path.join(path, files.part_name(job.rank)), listed, mode)
