"""Phases: the part of a step in which a rank's training thread was at each moment, and where steps begin and end. The
innermost of nested spans counts; time between two phases belongs to the one that follows (_Builder._settle). Each
nanosecond of a step is thus in exactly one part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd.spans.spans import COUNTER, FLIGHT, LANE, MESSAGE

from .run import Rank, Run

PARTS = ("start", "script", "loader", "forward", "backward", "optimizer", "checkpoint", "collector", "replay", "wait")
START, SCRIPT, LOADER, FORWARD, BACKWARD, OPTIMIZER, CHECKPOINT, COLLECTOR, REPLAY, WAIT = range(len(PARTS))
COMPUTE = (FORWARD, BACKWARD, OPTIMIZER, REPLAY)
MEANING = {"start": "before its first step (imports, construction)", "script": "the script's own code between the phases",
           "loader": "the data loader", "forward": "forward", "backward": "backward", "optimizer": "the optimizer",
           "checkpoint": "saving", "collector": "Python's garbage collector", "replay": "a replayed step",
           "other process": "another process on its core", "rows": "more rows than the others",
           "wait": "waiting for others"}
BY_PREFIX = (("enumerate(DataLoader)", LOADER), ("DataParallel.forward", FORWARD), ("DataParallel.backward", BACKWARD),
             ("autograd::backward", BACKWARD), ("Optimizer.", OPTIMIZER), ("Checkpointer.save", CHECKPOINT),
             ("autograd.save", CHECKPOINT), ("garbage collection", COLLECTOR), ("autograd::replay", REPLAY))
NO_WAIT = ("dparallel::send", "dparallel::recv")     # spans without a duration


class Segments(NamedTuple):
    """A rank's time without gaps: part[i] from start[i] to start[i + 1]. span[i]: the row of the span in which it waits, or
    -1. totals[i]: by part, the ns before segment i."""

    start: Any
    part: Any
    span: Any
    totals: Any

    def before(self, times: Any) -> Any:
        """By part, the ns before each of some moments."""
        within = np.clip(times, self.start[0], self.start[-1])
        return totals_at(self.start, self.part, self.totals, times, within, self.start)


def totals_at(start: Any, part: Any, totals: Any, times: Any, value: Any, values: Any) -> Any:
    """By part, the value of a counter at some moments; growth within a segment belongs to the segment's part.

    totals: by part, at the start of each segment. value: the counter at the moments; values: at the starts of segments.
    """
    place = np.clip(np.searchsorted(start, times, "right") - 1, 0, len(part))
    out = totals[place].copy()
    inside = np.flatnonzero(place < len(part))
    out[inside, part[place[inside]]] += value[inside] - values[place[inside]]
    return out


class Step(NamedTuple):
    """A step of a rank: number, start, end, and membership (the active ranks, which change under `dprun --survive`)."""

    number: int
    start: int
    end: int
    membership: int = 0


def part_of_names(names: Sequence[str]) -> Any:
    """The part of each name of spans; -1 for spans that belong to the part around them."""
    parts = np.full(len(names) + 1, -1, np.int64)
    for number, name in enumerate(names):
        parts[number] = next((part for prefix, part in BY_PREFIX if name.startswith(prefix)), -1)
        if name.startswith("dparallel::") and name not in NO_WAIT:
            parts[number] = WAIT
    return parts


def segments_of(run: Run, rank: Rank) -> Segments:
    """The segments of a rank's training thread."""
    spans, parts = rank.main, part_of_names(run.names)
    known = parts[spans.name]
    chosen = np.flatnonzero((known >= 0) & ~np.isin(spans.kind, (FLIGHT, COUNTER, LANE)))
    order = chosen[np.lexsort((-spans.end[chosen], spans.start[chosen]))]
    rows = list(zip(order.tolist(), spans.start[order].tolist(), spans.end[order].tolist(), known[order].tolist(),
                    strict=True))
    builder = _Builder(rank.info["began"])
    for row, start, end, part in rows:
        builder.span(row, start, end, part)
    return builder.finish(max(int(spans.end.max()) if len(spans.end) else 0, builder.time, rank.info.get("until", 0)))


class _Builder:
    """Makes segments from spans, which are added by increasing start."""

    def __init__(self, begin: int) -> None:
        self.time = begin
        self.starts: list[int] = []
        self.parts: list[int] = []
        self.spans: list[int] = []
        self.stack: list[tuple[int, int, int]] = []  # (end, part, row) of open spans
        self.gaps: list[int] = []                    # segments whose part depends on the next phase
        self.before = START                          # the last phase that was not inside another

    def span(self, row: int, start: int, end: int, part: int) -> None:
        """Add the next span."""
        self._until(start)
        if not self.stack and part != WAIT:
            self._settle(part)
            self.before = part
        if self.stack:
            end = min(end, self.stack[-1][0])        # a child may seem to outlive its parent: their clocks are read in turn
        self.stack.append((end, part, row))

    def finish(self, end: int) -> Segments:
        """The segments, after all spans were added."""
        self._until(end)
        self._settle(SCRIPT)
        starts, parts = np.array([*self.starts, self.time], np.int64), np.array(self.parts, np.int64)
        totals = np.zeros((len(parts) + 1, len(PARTS)), np.int64)
        for part in range(len(PARTS)):
            totals[1:, part] = np.cumsum(np.where(parts == part, np.diff(starts), 0))
        return Segments(starts, parts, np.array(self.spans, np.int64), totals)

    def _until(self, time: int) -> None:
        """Make the segments up to a moment."""
        while self.stack and self.stack[-1][0] <= time:
            end, part, row = self.stack[-1]
            self._add(end, part, row)
            self.stack.pop()
        if self.stack:
            self._add(time, self.stack[-1][1], self.stack[-1][2])
        elif time > self.time:
            self.gaps.append(len(self.parts))
            self._add(time, SCRIPT, -1)

    def _add(self, end: int, part: int, row: int) -> None:
        if end > self.time:
            self.starts.append(self.time)
            self.parts.append(part)
            self.spans.append(row if part == WAIT else -1)
            self.time = end

    def _settle(self, following: int) -> None:
        """Assign each gap to a phase: the loss, before backward, to forward; clipping, before the optimizer, to the
        optimizer."""
        part = SCRIPT
        if self.before == START:
            part = START
        elif following == BACKWARD:
            part = FORWARD
        elif self.before == BACKWARD and following == OPTIMIZER:
            part = OPTIMIZER
        for gap in self.gaps:
            self.parts[gap] = part
        self.gaps.clear()


def steps_of(run: Run, rank: Rank) -> list[Step]:
    """The steps of a rank. A step ends with a step of the optimizer that steps most often, or with a replay if there are
    more. The first begins with the first batch. Of a step repeated after a rank died, the last repetition counts."""
    spans = rank.main
    wanted = rank.info.get("steps")
    first, found = 0, {}
    members = rank.info.get("memberships") or [[0, 0, 0]]
    for place, (_, membership, before) in enumerate(members):
        last = int(np.searchsorted(spans.start, members[place + 1][0])) if place + 1 < len(members) else len(spans.start)
        for number, start, end in _steps_of(run, spans.chosen(slice(first, last))):
            if wanted is None or wanted[0] <= before + number < wanted[1]:
                found[before + number] = Step(before + number, start, end, membership)
        first = last
    return sorted(found.values(), key=lambda step: step.start)


def _steps_of(run: Run, spans: Any) -> list[tuple[int, int, int]]:
    """(number, begin, end) of the steps of one training loop."""
    optimizers = np.array([name.startswith("Optimizer.step#") for name in run.names] + [False])
    marks = np.flatnonzero(optimizers[spans.name])
    replays = np.flatnonzero(spans.name == run.numbers.get("autograd::replay", -2))
    marks = marks[spans.b[marks] == _stepping_most(*(column[marks] for column in (spans.b, spans.a, spans.end)))]
    if len(replays) > len(marks):
        marks, numbers = replays, np.arange(len(replays))
    else:
        numbers = spans.a[marks]
    if not len(marks):
        return []
    parts = part_of_names(run.names)[spans.name]
    phases = spans.start[np.isin(parts, (LOADER, FORWARD, BACKWARD, REPLAY)) & (spans.kind != FLIGHT)]
    ends = spans.end[marks]
    first = int(phases[0]) if len(phases) and phases[0] < ends[0] else int(spans.start[marks[0]])
    return list(zip(numbers.tolist(), [first, *ends[:-1].tolist()], ends.tolist(), strict=True))


def _stepping_most(owners: Any, numbers: Any, ends: Any) -> int:
    """The optimizer that steps most often; if several do, the last one, so that all ranks choose the same."""
    if not len(owners):
        return -1
    each, counts = np.unique(owners, return_counts=True)
    often = each[counts >= max(counts.max() - 1, 0.7 * counts.max())]        # the recording may end between their steps
    number = min(int(numbers[owners == owner].max()) for owner in often)
    return int(max(often, key=lambda owner: ends[(owners == owner) & (numbers == number)].max(initial=0)))


def message_spans(run: Run, spans: Any) -> Any:
    """Which spans are collectives, or waits for them."""
    points = [run.numbers[name] for name in NO_WAIT if name in run.numbers]
    return (spans.kind == MESSAGE) & ~np.isin(spans.name, points)
