"""Blame: of each wait, which rank the others waited for, and what that rank did in the meantime.

A rank that waits in a collective waits for the last one to arrive; from then on the data takes its time (transfer). Why that
one was late is seen by comparing what the two did since they last left a collective together: what the late one did longer
is the cause, in shares where it is several things. If the late one had waited itself meanwhile, for a third, that third's
cause counts: blame goes to where the delay arose, not to who passed it on (as in Scalasca's root-cause analysis: Boehme,
Geimer, Wolf, Arnold, "Identifying the Root Causes of Wait States in Large-Scale Parallel Applications", ICPP 2010).
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

from autograd.core.spans import FLIGHT, LANE

from .phases import BACKWARD, FORWARD, PARTS, REPLAY, WAIT, Segments, message_spans, segments_of
from .run import Run

OTHER_PROCESS, ROWS = "other process", "rows"
SHORT = 2_000                        # ns: shorter waits are not asked for their cause
MOST = 50_000                        # waits of a rank that are, the longest
BACK = 64                            # collectives back that two ranks are looked for in together
SAME_ROWS = 1.05

Cause = tuple[int, str]              # a rank and a part of PHASES, or OTHER_PROCESS or ROWS


class Wait(NamedTuple):
    """One wait: who waited when, for whom, how long for it (ns) and how long for the data after it; and the causes."""

    rank: int
    start: int
    end: int
    late: int                        # the rank that came last; -1: nobody was late
    waiting: int
    transfer: int
    causes: dict[Cause, int]
    flight: int


class Meeting:
    """A collective: when each of its ranks arrived, and when each left it (the end of its wait, if it waited)."""

    def __init__(self) -> None:
        self.arrived: dict[int, int] = {}
        self.left: dict[int, int] = {}
        self.nbytes = 0

    @property
    def last(self) -> tuple[int, int]:
        """(when, who) arrived last."""
        rank = max(self.arrived, key=lambda r: (self.arrived[r], r))
        return self.arrived[rank], rank


class Blame:
    """The waits of a run and their causes.

    segments: of each rank. waits: by rank, in the order of their ends.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.segments: dict[int, Segments] = {rank.rank: segments_of(run, rank) for rank in run.ranks}
        self._begin = run.begin
        self._delays = {rank.rank: delays_of(run, rank) for rank in run.ranks}
        self._rows = {rank.rank: rows_of(run, rank) for rank in run.ranks}
        self.meetings = meetings_of(run)
        self._groups()
        self.waits: dict[int, list[Wait]] = {rank.rank: [] for rank in run.ranks}
        self._ends: dict[int, list[int]] = {rank.rank: [] for rank in run.ranks}
        for end, rank, start, flight in sorted(self._spans()):
            wait = self._wait(rank, start, end, flight)
            self.waits[rank].append(wait)
            self._ends[rank].append(end)

    # --- what waits there are -------------------------------------------------------------------------------------------

    def _spans(self) -> list[tuple[int, int, int, int]]:
        """(end, rank, start, number of the collective) of the waits of all ranks."""
        found = []
        for rank in self.run.ranks:
            segments, spans = self.segments[rank.rank], rank.main
            waits = np.flatnonzero(segments.part == WAIT)
            lengths = segments.start[waits + 1] - segments.start[waits]
            waits = waits[lengths >= SHORT]
            if len(waits) > MOST:
                lengths = segments.start[waits + 1] - segments.start[waits]
                waits = np.sort(waits[np.argsort(-lengths)[:MOST]])
            received = received_in(self.run, rank)
            for place in waits.tolist():
                start, end = int(segments.start[place]), int(segments.start[place + 1])
                flight = int(spans.b[segments.span[place]])
                if flight not in self.meetings:
                    flight = next((mid for at, mid in received if start <= at <= end + SHORT * 10), -1) if received else -1
                found.append((end, rank.rank, start, flight))
        return found

    def _groups(self) -> None:
        """By the set of ranks, their meetings in the order of the last arrivals."""
        self._ordered: dict[frozenset[int], list[tuple[int, Meeting]]] = defaultdict(list)
        for meeting in self.meetings.values():
            if len(meeting.arrived) > 1:
                self._ordered[frozenset(meeting.arrived)].append((meeting.last[0], meeting))
        for ordered in self._ordered.values():
            ordered.sort(key=lambda pair: pair[0])

    # --- why ------------------------------------------------------------------------------------------------------------

    def _wait(self, rank: int, start: int, end: int, flight: int) -> Wait:
        meeting = self.meetings.get(flight)
        if meeting is None or not meeting.arrived:
            return Wait(rank, start, end, -1, 0, end - start, {}, flight)
        arrival, late = meeting.last
        waiting = min(end, arrival) - start
        causes: dict[Cause, int] = {}
        if late == rank or waiting < SHORT:
            late, waiting = -1, 0
        else:
            causes = self._causes(rank, start, late, arrival, meeting, waiting)
        transfer = end - start - waiting
        slowest = max(meeting.arrived, key=lambda r: between(self._delays[r], end - transfer, end) if r != rank else -1.0)
        stolen = round(min(between(self._delays[slowest], end - transfer, end), transfer)) if slowest != rank else 0
        if stolen > SHORT:                           # all are there, but that one does not run
            causes[slowest, OTHER_PROCESS] = causes.get((slowest, OTHER_PROCESS), 0) + stolen
            waiting, transfer, late = waiting + stolen, transfer - stolen, slowest if late < 0 else late
        return Wait(rank, start, end, late, waiting, transfer, causes, flight)

    def _causes(self, rank: int, start: int, late: int, arrival: int, meeting: Meeting, waiting: int) -> dict[Cause, int]:
        """What the late rank did longer than the waiting one since both left a collective; in sum `waiting`."""
        here, there = self._left_together(rank, start, late, arrival, meeting)
        mine = self.segments[rank].parts_between(here, start)
        theirs = self.segments[late].parts_between(there, arrival).astype(np.float64)
        before = max(0, self.run_begin(late) - there)
        theirs[0] += before                          # it had not begun to record: its start
        mine = mine.astype(np.float64)
        mine[0] += max(0, self.run_begin(rank) - here)
        excess = np.maximum(theirs - mine, 0.0)
        if not excess.sum():
            excess = theirs if theirs.sum() else np.eye(len(PARTS))[1]
        shares: dict[Cause, float] = defaultdict(float)
        weight = waiting / excess.sum()
        for part, time in enumerate(excess.tolist()):
            if time and part != WAIT:
                shares[late, PARTS[part]] += time * weight
        if excess[WAIT]:
            self._pass_on(late, there, arrival, excess[WAIT] * weight, shares)
        self._stolen(rank, here, start, late, there, arrival, waiting, shares)
        self._uneven(rank, start, late, arrival, mine, shares)
        return {cause: round(time) for cause, time in shares.items() if time >= 1}

    def run_begin(self, rank: int) -> int:
        """When a rank began to record."""
        return int(self.segments[rank].start[0])

    def _left_together(self, rank: int, start: int, late: int, arrival: int, meeting: Meeting) -> tuple[int, int]:
        """When two ranks left the last collective that both had left before; the begin of the run if there is none."""
        found = self._begin, self._begin
        for group, ordered in self._ordered.items():
            if rank not in group or late not in group:
                continue
            place = bisect.bisect_left(ordered, meeting.last[0], key=lambda pair: pair[0])
            for _, before in reversed(ordered[max(0, place - BACK):place]):
                here, there = (before.left.get(r, before.arrived[r]) for r in (rank, late))
                if before is not meeting and here <= start and there <= arrival:
                    found = max(found, (here, there))
                    break
        return found

    def _pass_on(self, late: int, since: int, until: int, time: float, shares: dict[Cause, float]) -> None:
        """The late rank was late since it waited: its causes are the causes."""
        ends, waits = self._ends[late], self.waits[late]
        inside = waits[bisect.bisect_left(ends, since):bisect.bisect_right(ends, until)]
        total = sum(wait.waiting + wait.transfer for wait in inside)
        for wait in inside:
            for cause, part in wait.causes.items():
                shares[cause] += time * part / total
            shares[late, "wait"] += time * wait.transfer / total
        if not total:
            shares[late, "wait"] += time

    def _stolen(self, rank: int, here: int, start: int, late: int, there: int, arrival: int, waiting: int,
                shares: dict[Cause, float]) -> None:
        """What another process took from the late rank's core is no part's fault."""
        stolen = between(self._delays[late], there, arrival) - between(self._delays[rank], here, start)
        own = [cause for cause in shares if cause[0] == late and cause[1] != "wait"]
        total = sum(shares[cause] for cause in own)
        if stolen <= SHORT or not total:
            return
        taken = min(stolen, total)
        for cause in own:
            shares[cause] *= 1 - taken / total
        shares[late, OTHER_PROCESS] += taken

    def _uneven(self, rank: int, start: int, late: int, arrival: int, mine: Any, shares: dict[Cause, float]) -> None:
        """More rows take longer: as much as the waiting rank's time a row tells is the rows' fault."""
        own, others = rows_at(self._rows[rank], start), rows_at(self._rows[late], arrival)
        if not own or others < own * SAME_ROWS:
            return
        for part in (FORWARD, BACKWARD, REPLAY):
            cause = late, PARTS[part]
            moved = min(shares.get(cause, 0.0), float(mine[part]) * (others / own - 1))
            if moved > 0:
                shares[cause] -= moved
                shares[late, ROWS] += moved


# --- from spans -----------------------------------------------------------------------------------------------------------

def meetings_of(run: Run) -> dict[int, Meeting]:
    """All collectives, and messages, by their numbers: who came when, and left when."""
    found: dict[int, Meeting] = defaultdict(Meeting)
    wait = run.numbers.get("dparallel::wait", -1)
    send, recv = (run.numbers.get(f"dparallel::{name}", -1) for name in ("send", "recv"))
    for rank in run.ranks:
        for thread in rank.threads:
            spans = thread.spans
            rows = np.flatnonzero((message_spans(run, spans) | (spans.kind == FLIGHT)) & (spans.b > 0))
            for row in rows.tolist():
                meeting, start, end = found[int(spans.b[row])], int(spans.start[row]), int(spans.end[row])
                if spans.name[row] != wait:          # it begins
                    meeting.arrived[rank.rank] = min(start, meeting.arrived.get(rank.rank, start))
                    meeting.nbytes = max(meeting.nbytes, int(spans.a[row]))
                if spans.kind[row] != FLIGHT:
                    meeting.left[rank.rank] = max(end, meeting.left.get(rank.rank, end))
            for row in np.flatnonzero((spans.name == send) & (spans.b > 0)).tolist():
                found[-int(spans.b[row])].arrived[rank.rank] = int(spans.start[row])
            for row in np.flatnonzero((spans.name == recv) & (spans.b > 0)).tolist():
                found[-int(spans.b[row])].left[rank.rank] = int(spans.end[row])
    return dict(found)


def received_in(run: Run, rank: Any) -> list[tuple[int, int]]:
    """(when, number) of the messages that a rank has received."""
    spans, recv = rank.main, run.numbers.get("dparallel::recv", -1)
    rows = np.flatnonzero((spans.name == recv) & (spans.b > 0))
    return [(int(spans.start[row]), -int(spans.b[row])) for row in rows]


def delays_of(run: Run, rank: Any) -> tuple[Any, Any]:
    """(moments, ns until then in which the training thread could have run and did not)."""
    spans = rank.main
    rows = np.flatnonzero(spans.name == run.numbers.get("[run delay]", -1))
    return spans.start[rows], spans.a[rows]


def between(counter: tuple[Any, Any], since: int, until: int) -> float:
    """How much a counter grew between two moments; in a straight line between its samples."""
    times, values = counter
    if len(times) < 2:
        return 0.0
    return float(np.interp(until, times, values) - np.interp(since, times, values))


def rows_of(run: Run, rank: Any) -> tuple[list[int], list[int]]:
    """(moments, rows) of the forward passes of a rank, where they count rows."""
    spans = rank.main
    found = np.flatnonzero((spans.name == run.numbers.get("DataParallel.forward", -1)) & (spans.a > 0))
    return spans.start[found].tolist(), spans.a[found].tolist()


def rows_at(rows: tuple[list[int], list[int]], time: int) -> int:
    """The rows of the last forward pass that began before a moment; 0 if not known."""
    place = bisect.bisect_right(rows[0], time) - 1
    return rows[1][place] if place >= 0 else 0


def lanes_of(run: Run, rank: Any) -> list[tuple[int, str, int]]:
    """Of local devices, (device, part, ns) of each time that the others waited for one: lanes that run at the same time
    end together where their parts are even."""
    lanes = []
    for thread in rank.threads:
        for row in np.flatnonzero(thread.spans.kind == LANE).tolist():
            name = run.names[thread.spans.name[row]]
            lanes.append((int(thread.spans.start[row]), int(thread.spans.end[row]), int(name.split()[-1])))
    lanes.sort()
    found, segments = [], segments_of(run, rank)
    group: list[tuple[int, int, int]] = []
    for lane in [*lanes, (1 << 62, 1 << 62, -1)]:
        if group and lane[0] >= max(end for _, end, _ in group):
            ends = sorted(end for _, end, _ in group)
            if len(ends) > 1:
                last = max(group, key=lambda item: item[1])
                place = int(np.searchsorted(segments.start, last[1], "right")) - 1
                part = PARTS[segments.part[min(max(place, 0), len(segments.part) - 1)]]
                found.append((last[2], part, ends[-1] - ends[-2]))
            group = []
        group.append(lane)
    return found
