"""Over several hosts: a thread of one rank per host compares clocks every few seconds while the script runs.

So a timeline that is read while the job hangs, or after it died, has offsets of at most PERIOD. Rank 0's thread answers one
host after the other (clocks.py). The threads have their own communicator and require a thread-safe MPI. A host that does not
answer within PATIENCE is not queried again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .clocks import Offset, best

ROUNDS = 50                          # fewer than at the start: the script runs beside them
PERIOD = 10.0                        # seconds between two comparisons
PATIENCE = 5.0                       # seconds for one of them
LOOK = 0.005                         # seconds between two checks for a turn
TAG = 1
KEPT = 1000                          # offsets; beyond this number every other one is dropped


class NoAnswer(Exception):
    """The other side did not answer within PATIENCE."""


class ClockThread:
    """One rank's side; collective to make. leaders: one rank per host, rank 0 first; measured: called with each Offset."""

    def __init__(self, comm: Any, leaders: list[int], measured: Callable[[Offset], object]) -> None:
        self.comm: Any = comm.comm.Dup()
        self.rank: int = comm.rank
        self.others: list[int] = leaders[1:]
        self.measured: Callable[[Offset], object] = measured
        self._buffer = np.zeros(1, np.int64)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        if comm.rank in leaders:
            run = self._ask if comm.rank == 0 else self._serve
            self._thread = threading.Thread(target=self._until_failure, args=(run,), name="dparallel clocks", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread, after a comparison that has begun."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(2 * PATIENCE)

    def _until_failure(self, run: Callable[[], None]) -> None:
        """Run one side until stop(), or until it fails; a lost rank is reported elsewhere."""
        try:
            run()
        except Exception:                            # NoAnswer, a lost rank, finalized MPI
            self._stop.set()

    def _ask(self) -> None:
        """Rank 0's side."""
        while not self._stop.wait(PERIOD):
            for peer in list(self.others):
                try:
                    self._send(peer)
                    for _ in range(ROUNDS):
                        self._receive(peer)
                        self._send(peer, time.perf_counter_ns())
                except NoAnswer:
                    self.others.remove(peer)

    def _serve(self) -> None:
        """Another host's side."""
        while not self._stop.wait(LOOK):
            if not self.comm.Iprobe(0, TAG):
                continue
            self._receive(0)
            rounds = []
            for _ in range(ROUNDS):
                before = time.perf_counter_ns()
                self._send(0)
                theirs = self._receive(0)
                rounds.append((before, theirs, time.perf_counter_ns()))
            self.measured(best(rounds))

    def _send(self, peer: int, number: int = 0) -> None:
        self.comm.Send(np.array([number], np.int64), peer, TAG)      # a message of 8 bytes is buffered: Send() does not wait

    def _receive(self, peer: int) -> int:
        request, until = self.comm.Irecv(self._buffer, peer, TAG), time.monotonic() + PATIENCE
        while not request.Test():
            if time.monotonic() > until:
                request.Cancel()
                raise NoAnswer
        return int(self._buffer[0])


def thinned(offsets: list[Offset]) -> list[Offset]:
    """Offsets, without every other one if there are many; the last one is kept."""
    return offsets if len(offsets) <= KEPT else [*offsets[:-1:2], offsets[-1]]
