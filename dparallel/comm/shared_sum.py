"""Persistent sums of ranks that share memory: each rank adds up a slice of the vectors where they lie, and writes it into
all of them.

2.7 MB on 2 ranks take 60 us, and 250 by MPI's allreduce, which copies all by way of buffers of its own; 69 kB 7 us, not 13.
Two barriers keep the ranks in step: all have started, all have written. Nobody works in the background: a rank does its part
of a sum when done() is asked, as the reducer does between nodes, or while it waits, for that sum or another communicator's.
"""

from __future__ import annotations

import functools
import os
import threading
from typing import Any

import numpy as np

from .call import CollectiveError, explain
from .definition import is_half
from .handle import Handle
from .persistent import MSG_CAUGHT, MSG_PARTED, PersistentSum, divide
from .shared_memory import shared_file
from .site import at, here

BLOCK = 1 << 16                                      # elements that are summed at once: they stay in the second cache
LINE = 64                                            # bytes that go from core to core as one
PAGE = 4096


class _Here(threading.local):
    """The communicators with sums that this thread has started, and that are not complete."""

    def __init__(self) -> None:
        self.busy: list[SharedSums] = []


_here = _Here()


class SharedSums:
    """The shared sums of one communicator (an MpiComm): one is made after the other, in the order in which they started, so
    that the barriers come in one order on all ranks."""

    def __init__(self, comm: Any) -> None:
        self.comm, self.rank, self.size = comm, comm.rank, comm.size
        self.started = self.made = 0
        self._queue: list[SharedSum] = []
        self._step, self._barrier = 0, None          # of the first in the queue
        self._listed: list[SharedSums] = []

    def vector(self, size: int, dtype: Any) -> SharedSum | None:
        """A new one, of zeros; None where it can't be shared. Collective."""
        if self.size == 1 or is_half(np.dtype(dtype)):
            return None
        memory = _shared(self.comm.comm, LINE + size * np.dtype(dtype).itemsize)
        if memory is None:
            return None
        self.made += 1
        return SharedSum(self, memory, np.dtype(dtype))

    def start(self, vector: SharedSum) -> None:
        """Begin a sum."""
        self.comm.enter_sum(vector.array, compared=True)
        self.started += 1
        self.comm.waiting, vector.number, vector.turns[self.rank][0] = None, self.comm.entered, self.started
        self._queue.append(vector)
        if len(self._queue) == 1:
            self._barrier = self.comm.comm.Ibarrier()
            self._listed = _here.busy
            self._listed.append(self)

    def complete(self, vector: SharedSum | None = None) -> None:
        """Wait until a vector's sum, or all that were started, are made. Ranks may wait for communicators in different
        orders: while there are several, none is waited for alone."""
        self.comm.waiting = vector or (self._queue[-1] if self._queue else None)
        try:
            while self.is_under_way(vector):
                if _here.busy == [self]:
                    self._barrier.Wait()             # type: ignore[attr-defined]
                    self._go_on()
                else:
                    for sums in {self, *_here.busy}:
                        sums.progress(waits=True)
        finally:
            self.comm.waiting = None

    def is_under_way(self, vector: SharedSum | None = None) -> bool:
        """Whether a vector's sum, or any, has started and is not complete."""
        return vector in self._queue if vector is not None else bool(self._queue)

    def progress(self, waits: bool = False) -> None:
        """Go on as far as that needs no waiting. waits: whether the caller is waiting, and has started all it is to."""
        while self._queue and self._barrier.Test() and self._go_on(waits):  # type: ignore[attr-defined]
            pass

    def _go_on(self, waits: bool = True) -> bool:
        """All ranks are at the barrier: do what comes next for the first in the queue. False: not before all ranks wait."""
        first = self._queue[0]
        if self._step == 1:
            self._queue.pop(0)
        elif all(turn[0] == first.turns[0][0] for turn in first.turns):
            first.add()
        elif waits:
            self._part(first)
        else:                                        # what this pass has still to start would meet the next pass's
            return False
        self._step = 1 - self._step if self._queue else 0
        if self._queue:
            self._barrier = self.comm.comm.Ibarrier()
        else:
            self._listed.remove(self)
        return True

    def _part(self, first: SharedSum) -> None:
        """The ranks are at sums of different vectors, which all of them see: give up all that were started, on all ranks.
        They count alike from here on, so that the watchdog sees who has not come."""
        mine = f"{first}, vector {first.which} of the communicator{at(here())}"
        started, entered, texts = zip(*self.comm.comm.allgather((self.started, self.comm.entered, mine)), strict=True)
        self.started, self.comm.entered = max(started), max(entered)
        for vector in self._queue:
            vector.problem = str(explain(MSG_PARTED, texts, MSG_CAUGHT))
        self._queue.clear()


class SharedSum(PersistentSum):
    """One of them. `memory`: that of all ranks. wait() is a CollectiveError on all ranks where these are at sums of
    different vectors."""

    def __init__(self, sums: SharedSums, memory: list[Any], dtype: Any) -> None:
        vectors = [np.frombuffer(part, dtype, offset=LINE) for part in memory]
        self.turns = [np.frombuffer(part, np.int64, 1) for part in memory]       # which sum of the communicator this is
        self._lasts = [np.frombuffer(part, dtype, 1, offset=LINE // 2) for part in memory]      # elements, as they started
        self._sums, self.array, self.which = sums, vectors[sums.rank], sums.made
        size, line = len(self.array), LINE // self.array.dtype.itemsize
        step = -(-size // (sums.size * line)) * line
        slices = [slice(min(rank * step, size), min((rank + 1) * step, size)) for rank in range(sums.size)]
        self._first = slices[sums.rank].start        # of the elements that this rank adds up
        self._parts = [vector[slices[sums.rank]] for vector in vectors]
        self._theirs = [part for rank, part in enumerate(self._parts) if rank != sums.rank]
        self.number = 0                              # of the sum, for the watchdog
        self.problem = ""

    def __str__(self) -> str:
        return f"sum_in_place of {self.array.dtype} {self.array.shape}"

    def start(self, divided: int = 0) -> Handle:
        """Begin a sum."""
        self.problem, self._divided = "", divided
        if len(self.array):
            self._lasts[self._sums.rank][0] = self.array[-1]
        self._sums.start(self)
        return Handle(self._wait, self._done)

    def _done(self) -> bool:
        self._sums.progress()
        return not self._sums.is_under_way(self)

    def _wait(self) -> None:
        self._sums.complete(self)
        if self.problem:
            raise CollectiveError(self.problem)

    def add(self) -> None:
        """This rank's slice of the sum, in rank order, into all vectors: nobody else reads or writes that slice of them."""
        first, *middle, last = self._parts
        out, divided = self._parts[self._sums.rank], self._divided - self._first
        with np.errstate(all="ignore"):              # an overflow is in one rank's slice, and the others would wait for ever
            total = float(functools.reduce(np.add, self._lasts)[0]) if self._divided else 0.0
            for start in range(0, len(out), BLOCK):
                block = slice(start, start + BLOCK)
                before = first[block]
                for part in middle:
                    before = before + part[block]
                np.add(before, last[block], out=out[block])
                divide(out[start:max(start, min(start + BLOCK, divided))], total)
                for part in self._theirs:
                    part[block] = out[block]


def _shared(comm: Any, nbytes: int) -> list[Any] | None:
    """nbytes for each rank, on pages of its own, so that they come to lie where their rank writes them."""
    pages = -(-nbytes // PAGE) * PAGE
    shared = shared_file(comm, pages * comm.size)
    if shared is None:
        return None
    os.close(shared[0])
    memory = memoryview(shared[1])
    return [memory[start:start + nbytes] for start in range(0, pages * comm.size, pages)]
