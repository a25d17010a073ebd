"""The board: memory shared by the ranks of one host, in which each writes its state and reads the others'.

It has a slot for each rank of the job (the relay fills in other hosts'), and works while ranks are blocked in MPI or have
exited.
"""

from __future__ import annotations

import contextlib
import json
import struct
import zlib
from collections.abc import Sequence
from typing import Any

from ..mpi.mpi_types import Intracomm
from ..mpi.shared_memory import shared_file

try:
    import fcntl
except ImportError:                                  # Windows
    fcntl = None                                     # type: ignore[assignment]

SLOT = 16384                                         # bytes for one rank; pages that are never written use no memory
HEAD = struct.Struct("=II")                          # length and checksum
CLAIM = struct.Struct("=d")                          # when the last report was made


class Board:
    """One process's view of the board of `size` ranks, of which `local_ranks` are on this host."""

    def __init__(self, file: int, memory: Any, size: int, local_ranks: Sequence[int]) -> None:
        self.size: int = size
        self.local_ranks: frozenset[int] = frozenset(local_ranks)
        self._file = file
        self._memory = memory                        # one more slot, for claim()

    @classmethod
    def shared(cls, node: Intracomm, size: int, local_ranks: Sequence[int]) -> Board | None:
        """The board of `node`, an MPI communicator of one host. Collective; None if memory can't be shared."""
        shared = shared_file(node, SLOT * (size + 1))
        return None if shared is None else cls(*shared, size, local_ranks)

    def write(self, item: dict[str, Any]) -> None:
        """Write a rank's state into its slot, without the counts if it is too long."""
        data = json.dumps(item).encode()
        if len(data) > SLOT - HEAD.size:
            data = json.dumps({**item, "counts": {}}).encode()[:SLOT - HEAD.size]
        if item["rank"] not in self.local_ranks:
            self._memory[self.size * SLOT + CLAIM.size] = 1
        start = item["rank"] * SLOT
        self._memory[start + HEAD.size:start + HEAD.size + len(data)] = data
        HEAD.pack_into(self._memory, start, len(data), zlib.crc32(data))

    def read(self) -> dict[int, dict[str, Any]]:
        """The last state of each rank, except slots that are empty or being written."""
        states = {}
        others = self._memory[self.size * SLOT + CLAIM.size]         # of other hosts: reading a slot allocates its page
        for rank in range(self.size) if others else sorted(self.local_ranks):
            for _ in range(3):
                start = rank * SLOT
                length, checksum = HEAD.unpack_from(self._memory, start)
                data = self._memory[start + HEAD.size:start + HEAD.size + length]
                if length and zlib.crc32(data) == checksum:
                    with contextlib.suppress(ValueError):
                        states[rank] = json.loads(data)
                    break
        return states

    def claim(self, now: float, quiet: float) -> bool:
        """Whether this rank may report: no rank has reported in the last `quiet` seconds."""
        with contextlib.suppress(OSError):
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            start = self.size * SLOT
            (before,) = CLAIM.unpack_from(self._memory, start)
            free = not before or now - before >= quiet
            if free:
                CLAIM.pack_into(self._memory, start, now)
            return free
        finally:
            with contextlib.suppress(OSError):
                if fcntl is not None:
                    fcntl.flock(self._file, fcntl.LOCK_UN)
