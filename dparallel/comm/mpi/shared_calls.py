"""Calls that ranks of one host compare in shared memory, and allreduces of little data that travel with them.

A rank writes its header, and its array, into one half of its part, then increases its counter, for which the others wait.
Halves alternate: a rank that has passed exchange n has read everything of n - 1, so no rank still reads the half that n + 1
overwrites. The processor must write in program order, as x86-64 does.
"""

from __future__ import annotations

import contextvars
import os
import platform
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..header import HEADER
from ..reference import UFUNCS
from .mpi_types import Intracomm
from .shared_memory import PAGE, shared_parts

if TYPE_CHECKING:
    from autograd.base.types import Array

HALF = 1 << 18                       # bytes of an array in a half
POLLS = 100                          # of a counter, 3 us, before this rank lets MPI progress and yields its core
SPINS = 1000                         # polls, 1 ms, before it also sleeps: its other threads need Python's lock
SLEEP = 2e-5
SUPPORTED: bool = platform.machine().lower() in ("x86_64", "amd64") and hasattr(os, "sched_yield")


class SharedCalls:
    """This rank's view of the parts of all ranks."""

    def __init__(self, comm: Intracomm, parts: Sequence[memoryview], unused_tag: int) -> None:
        self._comm: Any = comm
        self._unused_tag = unused_tag                # a probe that finds a message does not let MPI progress
        self.rank: int = comm.rank
        self._number = 0                             # of the last exchange
        self.half: int = 1                           # that the next exchange uses
        self.limit: int = 2 * HALF // comm.size      # bytes of arrays: each rank reads those of all
        self._counters: list[Any] = [part[:8].cast("q") for part in parts]
        self._counter: Any = self._counters.pop(self.rank)
        self._headers = [[part[start:start + HEADER.size] for part in parts] for start in (64, 64 + HEADER.size)]
        self._own_headers = [half[self.rank] for half in self._headers]
        self._data = [[np.frombuffer(part, np.uint8, HALF, start) for part in parts] for start in (PAGE, PAGE + HALF)]
        self._without_warnings = contextvars.Context()           # as in MPI; np.errstate() takes 0.5 us longer
        self._without_warnings.run(np.seterr, all="ignore")

    @classmethod
    def of(cls, comm: Intracomm, unused_tag: int) -> SharedCalls | None:
        """Those of an MPI communicator; None unless its ranks, more than one, share memory. Collective."""
        parts = shared_parts(comm, PAGE + 2 * HALF) if comm.size > 1 else None
        return None if parts is None else cls(comm, parts, unused_tag)

    def exchange(self, header: bytes) -> bool:
        """Send this rank's header to all ranks. Returns whether all headers are equal."""
        half = self.half
        self._own_headers[half][:] = header
        self._number = number = self._number + 1
        self._counter[0] = number
        self.half = 1 - half
        for counter in self._counters:
            if counter[0] < number:
                self._wait(counter, number)
        for other in self._headers[half]:            # noqa: SIM110  all() takes three times as long
            if other.tobytes() != header:
                return False
        return True

    def headers(self) -> bytes:
        """The headers of all ranks in the last exchange."""
        return b"".join(self._headers[1 - self.half])

    def _wait(self, counter: Any, number: int) -> None:
        """Wait until another rank has started an exchange."""
        polls = 0
        while counter[0] < number:
            polls += 1
            if polls > POLLS:
                self._comm.Iprobe(tag=self._unused_tag)
                if polls < SPINS:
                    os.sched_yield()
                else:
                    time.sleep(SLEEP)

    def rooms(self, x: Array) -> list[list[Array]]:
        """For both halves, arrays like x in the parts of all ranks. What a rank writes into its own before an exchange, all
        can read until they start the next one."""
        return [[part[:x.nbytes].view(x.dtype).reshape(x.shape) for part in half] for half in self._data]

    def combine(self, arrays: Sequence[Array], op: str) -> Array:
        """Combine arrays in rank order."""
        if len(arrays) == 2 and arrays[0].ndim:
            out: Array = self._without_warnings.run(UFUNCS[op], arrays[0], arrays[1])
            return out
        return self._without_warnings.run(_combined, arrays, UFUNCS[op])


def _combined(arrays: Sequence[Array], ufunc: Any) -> Array:
    out: Array = ufunc(arrays[0], arrays[1], out=np.empty_like(arrays[0]))   # without out, 0-d arrays give scalars
    for array in arrays[2:]:
        ufunc(out, array, out=out)
    return out
