"""A recording for HolisticTraceAnalysis, which reads traces of GPUs: what computes and communicates as kernels on streams.

It sees only events of the category "kernel" with an integer stream, counts those named nccl...Kernel as communication, and
leaves out a kernel whose correlation no CPU operation has. Names with "Sync" or "Memcpy" are no computation to it, and the
last ProfilerStep is dropped, so there is one more at the end. Fractions of microseconds are rounded inwards, and what is
left of less than one confuses it: times are whole microseconds here, one at least."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ...spans.spans import BACKWARD, FLIGHT, FUNCTION, MESSAGE, OPERATION
from .events import FunctionEvent

COMPUTES = (OPERATION, FUNCTION, BACKWARD)
COMMUNICATES = (MESSAGE, FLIGHT)
COMMUNICATION = 1000                                 # the first stream of communication; lower ones are threads
Piece = tuple[float, float, str]                     # start and end in microseconds, name


def kernels(events: list[FunctionEvent]) -> Iterator[dict[str, Any]]:
    """The events of the trace."""
    pid = os.getpid()
    yield from steps(events, pid)
    correlation = 0
    for stream, thread, pieces in streams(events):
        free = 0
        for start, end, name in pieces:
            ts = max(round(start), free)
            free = max(round(end), ts + 1)
            correlation += 1
            both = {"ph": "X", "name": name, "pid": pid, "ts": ts, "dur": free - ts}
            yield {**both, "cat": "cpu_op", "tid": thread, "args": {"correlation": correlation}}
            yield {**both, "cat": "kernel", "tid": stream, "args": {"stream": stream, "correlation": correlation}}


def steps(events: list[FunctionEvent], pid: int) -> Iterator[dict[str, Any]]:
    """The steps of the schedule, or one step for everything; and an empty one at the end."""
    found = [(e.time_range.start, e.time_range.end) for e in events if e.name == "ProfilerStep*"]
    last = max((e.time_range.end for e in events), default=0.0)
    for number, (start, end) in enumerate([*(found or [(0.0, last)]), (last + 2, last + 3)]):
        yield {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": pid, "tid": 1,
               "ts": int(start), "dur": int(end) - int(start) + 1, "args": {}}


def streams(events: list[FunctionEvent]) -> Iterator[tuple[int, int, list[Piece]]]:
    """(stream, thread, what ran there): a stream of computation for each thread, and streams of communication on which
    nothing overlaps."""
    for thread in sorted({e.thread for e in events}):
        pieces = [piece for e in events if e.thread == thread and e.kind in COMPUTES and not inside(e, COMPUTES)
                  for piece in without_communication(e)]
        if pieces:
            yield thread, thread, pieces
    lanes: list[list[Piece]] = []
    for e in events:
        if e.kind not in COMMUNICATES or inside(e, COMMUNICATES):
            continue
        start, end = e.time_range.start, e.time_range.end
        lane = next((lane for lane in lanes if lane[-1][1] <= start), None)
        if lane is None:
            lanes.append(lane := [])
        lane.append((start, end, f"ncclKernel {e.name}"))
    for number, lane in enumerate(lanes):
        yield COMMUNICATION + number, 1, lane


def inside(event: FunctionEvent, kinds: tuple[int, ...]) -> bool:
    """Whether an enclosing event is of these kinds."""
    around = event.cpu_parent
    while around is not None:
        if around.kind in kinds:
            return True
        around = around.cpu_parent
    return False


def without_communication(event: FunctionEvent) -> Iterator[Piece]:
    """The parts of a computation outside the communication inside it."""
    name = event.name.replace("Sync", "Joint").replace("Memcpy", "Copy")
    start = event.time_range.start
    waiting = list(event.cpu_children)
    inner = []
    while waiting:
        child = waiting.pop()
        if child.kind == MESSAGE:
            inner.append(child.time_range)
        else:
            waiting += child.cpu_children
    for gap in sorted(inner, key=lambda r: r.start):
        if gap.start > start:
            yield start, gap.start, name
        start = gap.end
    if event.time_range.end > start:
        yield start, event.time_range.end, name
