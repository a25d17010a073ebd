"""Converts the rings of a recording to a table of spans, as arrays, the source of events.py and chrome.py."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...spans.spans import BACKWARD, BLOCK, FUNCTION, OPERATION, Recorder, Ring, names
from .details import Details, Noted

NUMBER, START, END, PARENT, SEQUENCE, DETAIL, A, B = range(8)        # columns of a ring, see spans/spans.py
NONE = Details()


class Thread(NamedTuple):
    """The spans of one thread, in the order in which they began."""

    thread: int                                      # the system's number of it
    name: str
    spans: Any                                       # (n, 8) of int64; PARENT is a row of this array, or -1
    details: list[Any]

    def detail(self, row: int) -> Details:
        """The recorded details of the call in a row."""
        place = self.spans[row, DETAIL]
        if place < 0:
            return NONE
        detail = self.details[place]
        return detail.read() if isinstance(detail, Noted) else Details(text=detail)


def threads_of(recorder: Recorder) -> list[Thread]:
    """The spans of all threads. A span that was open when the recording stopped ends then."""
    return [Thread(ring.thread, ring.thread_name, rows_of(ring, recorder.stopped), ring.details) for ring in recorder.rings]


def rows_of(ring: Ring, stopped: int) -> Any:
    """The spans kept in a ring."""
    first = 0
    if ring.most and ring.count > ring.most * BLOCK:
        first = ((ring.count - 1) // BLOCK - ring.most + 1) * BLOCK
    kept = [np.frombuffer(ring.blocks[number % ring.most if ring.most else number], np.int64).reshape(-1, 8)
            for number in range(first // BLOCK, -(-ring.count // BLOCK))]
    rows = np.concatenate(kept)[:ring.count - first] if kept else np.empty((0, 8), np.int64)
    rows[:, PARENT] = np.maximum(rows[:, PARENT] - first, -1)
    rows[rows[:, END] == 0, END] = stopped
    np.maximum(rows[:, END], rows[:, START], out=rows[:, END])
    return rows


def kinds(spans: Any) -> Any:
    """The kind of each span."""
    return np.array([kind for _, kind in names], np.int64)[spans[:, NUMBER]]


def links(threads: list[Thread]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Pairs of (thread, row): the call that made a node, and a run of that node in backward."""
    made: dict[int, tuple[int, int]] = {}
    ran: list[tuple[int, tuple[int, int]]] = []
    for number, thread in enumerate(threads):
        kind = kinds(thread.spans)
        numbered = thread.spans[:, SEQUENCE] >= 0
        for row in np.flatnonzero(numbered & np.isin(kind, (OPERATION, FUNCTION)) & ~evaluations(thread.spans)):
            made.setdefault(int(thread.spans[row, SEQUENCE]), (number, int(row)))
        ran += [(int(thread.spans[row, SEQUENCE]), (number, int(row)))
                for row in np.flatnonzero(numbered & (kind == BACKWARD))]
    return [(made[sequence], place) for sequence, place in ran if sequence in made]


def evaluations(spans: Any) -> Any:
    """Which spans are the engine's evaluations of nodes."""
    return np.array([name.startswith("autograd::engine::") for name, _ in names], bool)[spans[:, NUMBER]]
