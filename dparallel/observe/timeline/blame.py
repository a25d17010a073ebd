"""Blame: for each wait, which rank the others waited for, and what that rank did in the meantime.

A rank waits until the last rank has arrived; the rest is transfer. To find why the last rank was late, the parts of both
ranks are compared since they left a collective together: the cause is the part on which the late rank spent more time. If
the late rank waited for a third rank then, the third rank's cause counts, as in Scalasca's root-cause analysis (Boehme et
al., ICPP 2010).

Time in which another process had the late rank's core counts as OTHER_PROCESS instead of the part that it interrupted.
"""

from __future__ import annotations

import bisect
import functools
import heapq
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

from autograd.spans.spans import FLIGHT, LANE, MESSAGE

from .phases import BACKWARD, FORWARD, PARTS, REPLAY, START, WAIT, Segments, message_spans, segments_of, totals_at
from .run import Run, Spans

OTHER_PROCESS, ROWS = "other process", "rows"
SHORT = 2_000                        # ns: shorter waits get no causes
MOST = 50_000                        # the longest waits of a rank, which get causes
NEAR = 50_000                        # ns: two waits, or two ends, within this time count as simultaneous
BACK = 64                            # collectives searched for one that two ranks left together
SAME_ROWS = 1.05
STARTS = 1 << 61                     # added to the key of a collective in flight for its start
STOLEN = len(PARTS)                  # the column after those of PARTS: the time of other processes

Cause = tuple[int, str]              # a rank, and one of PARTS, OTHER_PROCESS or ROWS


class Wait(NamedTuple):
    """One wait, in ns: until the late rank arrived (waiting), then the transfer; causes of `waiting`; stolen: the part of
    `transfer` in which another process had this rank's core."""

    rank: int
    start: int
    end: int
    late: int                        # the rank that came last; -1: no rank was late
    waiting: int
    transfer: int
    causes: dict[Cause, int]
    flight: int
    stolen: int = 0


class Meeting:
    """A collective: when each rank arrived and left, by rank. In a message the sender arrives and the receiver leaves."""

    def __init__(self) -> None:
        self.arrived: dict[int, int] = {}
        self.left: dict[int, int] = {}
        self.nbytes = 0
        self.waited: dict[int, int] = {}             # when its wait began
        self.until: dict[int, int] = {}              # when its wait, or the last piece of it, ended
        self.advanced: list[tuple[int, int]] = []    # (when, rank), in order: since when it advances this collective
        self.preempted: dict[int, int] = {}          # ns without a core, after all ranks had arrived
        self.slowest: list[tuple[int, int]] = []     # (ns, rank) of the two largest of `preempted`

    @functools.cached_property
    def last(self) -> tuple[int, int]:
        """(when, rank) of the last arrival. Called after all ranks were noted."""
        rank = max(self.arrived, key=lambda r: (self.arrived[r], r))
        return self.arrived[rank], rank


class _Open(NamedTuple):
    """A wait without causes yet. The waiting rank's parts count from `here` on, the late one's from `there` on."""

    end: int
    rank: int
    start: int
    flight: int
    late: int
    arrival: int
    here: int
    there: int
    met: Meeting                     # the collective that both left at `here` and `there`


class Blame:
    """The waits of a run and their causes.

    segments: of each rank. waits: by rank, in the order of their ends. delays: by rank, (moments, ns until then in which its
    training thread was runnable and did not run).
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.segments: dict[int, Segments] = {rank.rank: segments_of(run, rank) for rank in run.ranks}
        self._begin = run.begin
        self._taken: dict[int, tuple[Any, Any]] = {} # see work()
        self.delays = {rank.rank: delays_of(run, rank) for rank in run.ranks}
        self._rows = {rank.rank: rows_of(run, rank) for rank in run.ranks}
        self.meetings: dict[int, Meeting] = meetings_of(run)
        self._note_advanced()
        spans = sorted(self._spans())
        messages = synchronising_messages(self.meetings, spans)
        for end, rank, start, flight in spans:
            if flight in self.meetings:
                self.meetings[flight].waited[rank], self.meetings[flight].until[rank] = start, end
        self._note_preempted([*self.meetings.values(), *messages])
        self._groups(messages)
        self.waits: dict[int, list[Wait]] = {rank.rank: [] for rank in run.ranks}
        self._ends: dict[int, list[int]] = {rank.rank: [] for rank in run.ranks}
        found = [self._opened(*span) for span in spans]
        for one, mine, theirs in zip(found, *self._spent(found), strict=True):
            self.waits[one.rank].append(self._wait(one, mine, theirs))
            self._ends[one.rank].append(one.end)

    # --- the waits ------------------------------------------------------------------------------------------------------

    def _spans(self) -> list[tuple[int, int, int, int]]:
        """(end, rank, start, number of the collective) of the waits of all ranks."""
        found = []
        for rank in self.run.ranks:
            segments, numbers = self.segments[rank.rank], keys_of(self.run, rank.main)
            own = []
            received = received_in(self.run, rank)
            for first, behind in runs_of(segments.part == WAIT):
                edges = segments.start[first:behind + 1].tolist()
                rows = segments.span[first:behind]
                marks = [(end, number) for number, end in zip(numbers[rows].tolist(), edges[1:], strict=True)
                         if number in self.meetings]
                place = bisect.bisect_left(received, (edges[0], -1 << 62))
                while place < len(received) and received[place][0] <= edges[-1]:
                    marks.append(received[place])
                    place += 1
                marks = sorted(marks) or [(edges[-1], -1)]
                starts = [edges[0], *(at for at, _ in marks[:-1])]
                ends = [*(at for at, _ in marks[:-1]), edges[-1]]
                own += [(end, rank.rank, start, flight) for start, end, (_, flight) in zip(starts, ends, marks, strict=True)
                        if end - start >= SHORT]
            if len(own) > MOST:
                own = sorted(own, key=lambda span: span[2] - span[0])[:MOST]
            found += own
        return found

    def _note_advanced(self) -> None:
        """Note since when each rank advances each collective in flight: MPI makes progress only inside its calls."""
        by_rank: dict[int, list[tuple[Meeting, int, int]]] = defaultdict(list)
        for meeting in self.meetings.values():
            if len(meeting.arrived) > 1:
                for rank, time in meeting.waited.items():
                    by_rank[rank].append((meeting, meeting.arrived.get(rank, time), time))
        for rank, found in by_rank.items():
            segments = self.segments[rank]
            waits = np.array(runs_of(segments.part == WAIT), np.int64).reshape(-1, 2)
            starts, ends = joined(segments.start[waits].tolist())
            for meeting, arrived, time in found:
                place = bisect.bisect_right(starts, time) - 1
                if place >= 0 and time <= ends[place] + NEAR:
                    time = max(arrived, starts[place])
                meeting.advanced.append((time, rank))
        for meeting in self.meetings.values():
            meeting.advanced.sort()

    def _note_preempted(self, meetings: list[Meeting]) -> None:
        """Note which ranks lost their core during a transfer, and for how long, until the wait's end."""
        by_rank: dict[int, list[tuple[Meeting, int, int, int]]] = defaultdict(list)
        for meeting in meetings:
            if len(meeting.arrived) > 1:
                last = meeting.last[0]
                for rank, left in meeting.left.items():
                    if left - last > SHORT:
                        by_rank[rank].append((meeting, min(last, meeting.waited.get(rank, last)), left, left - last))
        for rank, found in by_rank.items():
            grown = between(self.delays[rank], np.array([one[1] for one in found]), np.array([one[2] for one in found]))
            for (meeting, _, _, most), time in zip(found, grown.tolist(), strict=True):
                if time > SHORT:
                    meeting.preempted[rank] = min(round(time), most)
        for meeting in meetings:
            meeting.slowest = heapq.nlargest(2, ((time, rank) for rank, time in meeting.preempted.items()))

    def _groups(self, messages: list[Meeting]) -> None:
        """Sort the meetings by rank and by the set of ranks that met, in order of time."""
        ordered: dict[frozenset[int], list[tuple[int, Meeting]]] = defaultdict(list)
        for meeting in (*self.meetings.values(), *messages):
            if len(meeting.arrived) > 1:
                ordered[frozenset(meeting.arrived)].append((meeting.last[0], meeting))
        self._met: dict[int, list[tuple[frozenset[int], list[int], list[Meeting]]]] = defaultdict(list)
        for group, found in ordered.items():
            found.sort(key=lambda pair: pair[0])
            item = group, [time for time, _ in found], [meeting for _, meeting in found]
            for rank in group:
                self._met[rank].append(item)

    # --- their causes ---------------------------------------------------------------------------------------------------

    def _opened(self, end: int, rank: int, start: int, flight: int) -> _Open:
        """A wait, and the moments from which its two ranks are compared."""
        meeting = self.meetings.get(flight, NOWHERE)
        if not meeting.arrived:
            return _Open(end, rank, start, flight, -1, start, start, start, NOWHERE)
        arrival, late = meeting.last
        advanced = meeting.advanced
        if advanced and advanced[-1][0] > max(arrival, start) + SHORT:   # few waits: searching all would be slow
            place = bisect.bisect_right(advanced, (end + NEAR, 1 << 62))
            for time, other in advanced[max(0, place - 2):place][::-1]:
                if other != rank:
                    if min(time, end) > max(arrival, start) + SHORT:     # it had started this collective before it computed
                        arrival, late = time, other
                    break
        if late == rank or min(end, arrival) - start < SHORT or late not in self.segments:
            return _Open(end, rank, start, flight, -1, min(max(arrival, start), end), start, start, NOWHERE)
        return _Open(end, rank, start, flight, late, arrival, *self._left_together(rank, start, late, arrival, meeting))

    def _left_together(self, rank: int, start: int, late: int, arrival: int, meeting: Meeting) -> tuple[int, int, Meeting]:
        """When two ranks left the last collective that both left, and which one; otherwise the run's start and NOWHERE."""
        found = self._begin, self._begin, NOWHERE
        for group, times, met in self._met[rank]:
            if late not in group:
                continue
            place = bisect.bisect_left(times, arrival)
            for other in reversed(met[max(0, place - BACK):place]):
                here, there = (other.left.get(r, other.arrived[r]) for r in (rank, late))
                if other is not meeting and here <= start and there <= arrival:
                    found = max(found, (here, there, other), key=lambda when: when[:2])
                    break
        return found

    def _spent(self, found: list[_Open]) -> tuple[Any, Any]:
        """Two tables with a row per wait: by part, the ns that the waiting and the late rank spent since they left a
        collective together. All waits of a rank are looked up at once: ten times as fast."""
        mine, theirs = (np.zeros((len(found), STOLEN + 1)) for _ in range(2))
        asked: dict[int, list[tuple[Any, int, int, int]]] = defaultdict(list)
        for place, one in enumerate(found):
            if one.late >= 0:
                asked[one.rank].append((mine, place, one.here, one.start))
                asked[one.late].append((theirs, place, one.there, one.arrival))
        for rank, questions in asked.items():
            since, until = (np.array([question[i] for question in questions]) for i in (2, 3))
            grown = self.work(rank, until) - self.work(rank, since)
            grown[:, START] += np.maximum(0, self.run_begin(rank) - since)       # before recording, a rank was starting
            for row, (table, place, _, _) in zip(grown, questions, strict=True):
                table[place] = row
        return mine, theirs

    def work(self, rank: int, times: Any) -> Any:
        """By part, the ns that a rank spent until some moments, without the time of other processes (except during
        waits)."""
        segments, (moments, values) = self.segments[rank], self.delays[rank]
        out = np.zeros((len(times), STOLEN + 1))
        out[:, :STOLEN] = segments.before(times)
        if len(moments) > 1 and len(segments.part):
            if rank not in self._taken:
                edges = np.interp(segments.start, moments, values)
                grown = np.minimum(np.diff(edges), np.diff(segments.start))
                totals = np.zeros((len(grown) + 1, STOLEN))
                np.cumsum(np.where(np.arange(STOLEN) == segments.part[:, None], grown[:, None], 0.0), axis=0, out=totals[1:])
                self._taken[rank] = edges, totals
            edges, totals = self._taken[rank]
            taken = totals_at(segments.start, segments.part, totals, times, np.interp(times, moments, values), edges)
            taken[:, WAIT] = 0
            out[:, :STOLEN] -= taken
            out[:, STOLEN] = taken.sum(axis=1)
        return out

    def run_begin(self, rank: int) -> int:
        """The time at which a rank began to record."""
        return int(self.segments[rank].start[0])

    def _wait(self, one: _Open, mine: Any, theirs: Any) -> Wait:
        """A wait with its causes."""
        meeting = self.meetings.get(one.flight, NOWHERE)
        if one.late < 0 and not meeting.slowest:
            return Wait(one.rank, one.start, one.end, -1, 0, one.end - one.start, {}, one.flight)
        causes: dict[Cause, int] = {}
        waiting, late = 0, one.late
        if late >= 0:
            waiting = min(one.end, one.arrival) - one.start
            causes = self._causes(one, mine, theirs, waiting)
        transfer = one.end - one.start - waiting
        preempted = next((pair for pair in meeting.slowest if pair[1] != one.rank), None)
        whole = meeting.until.get(one.rank, one.end) == one.end          # else the collector, say, interrupted it
        stolen = min(preempted[0], transfer) if preempted is not None and whole else 0
        if preempted is not None and stolen > SHORT:             # all ranks have arrived, but one has no core
            cause = preempted[1], OTHER_PROCESS
            causes[cause] = causes.get(cause, 0) + stolen
            waiting, transfer, late = waiting + stolen, transfer - stolen, preempted[1] if late < 0 else late
        return Wait(one.rank, one.start, one.end, late, waiting, transfer, causes, one.flight,
                    min(meeting.preempted.get(one.rank, 0), transfer) if whole else 0)

    def _causes(self, one: _Open, mine: Any, theirs: Any, waiting: int) -> dict[Cause, int]:
        """The parts on which the late rank spent more time since both left a collective, scaled to sum to `waiting`."""
        late = one.late
        excess = np.maximum(theirs - mine, 0.0)
        skew = max(0, one.there - one.here)
        preempted = min(skew, one.met.preempted.get(late, 0))
        excess[STOLEN] += preempted
        total = float(excess.sum()) + skew - preempted
        if not total:
            excess = theirs if theirs.sum() else np.eye(STOLEN + 1)[1]
            total = float(excess.sum())
        shares: dict[Cause, float] = defaultdict(float)
        weight = waiting / total
        for part, time in enumerate(excess.tolist()):
            if time and part != WAIT:
                shares[late, OTHER_PROCESS if part == STOLEN else PARTS[part]] += time * weight
        if skew > preempted:
            shares[late, "wait"] += (skew - preempted) * weight
        if excess[WAIT]:
            self._pass_on(late, one.there, one.arrival, excess[WAIT] * weight, shares)
        self._uneven(one, mine, shares)
        return {cause: round(time) for cause, time in shares.items() if time >= 1}

    def _pass_on(self, late: int, since: int, until: int, time: float, shares: dict[Cause, float]) -> None:
        """Divide `time`, which the late rank spent in waits, among the causes of those waits."""
        ends, waits = self._ends[late], self.waits[late]
        inside = waits[bisect.bisect_right(ends, since):bisect.bisect_right(ends, until)]
        total = sum(wait.waiting + wait.transfer for wait in inside)
        for wait in inside:
            for cause, part in wait.causes.items():
                shares[cause] += time * part / total
            shares[late, OTHER_PROCESS] += time * wait.stolen / total
            shares[late, "wait"] += time * (wait.transfer - wait.stolen) / total
        if not total:
            shares[late, "wait"] += time

    def _uneven(self, one: _Open, mine: Any, shares: dict[Cause, float]) -> None:
        """Move the time of the late rank's additional rows to ROWS, at the waiting rank's time per row."""
        own, others = rows_at(self._rows[one.rank], one.start), rows_at(self._rows[one.late], one.arrival)
        if not own or others < own * SAME_ROWS:
            return
        for part in (FORWARD, BACKWARD, REPLAY):
            cause = one.late, PARTS[part]
            moved = min(shares.get(cause, 0.0), float(mine[part]) * (others / own - 1))
            if moved > 0:
                shares[cause] -= moved
                shares[one.late, ROWS] += moved


NOWHERE = Meeting()


# --- from spans -----------------------------------------------------------------------------------------------------------

def synchronising_messages(meetings: dict[int, Meeting], spans: list[tuple[int, int, int, int]]) -> list[Meeting]:
    """Messages whose receiver waited for the sender, as collectives of the two ranks."""
    found = []
    for end, rank, start, flight in spans:
        meeting = meetings.get(flight, NOWHERE)
        if len(meeting.arrived) == 1 and rank not in meeting.arrived and start < meeting.last[0]:
            both, (sent, sender) = Meeting(), meeting.last
            both.arrived, both.left, both.waited = {sender: sent, rank: start}, {sender: sent, rank: end}, {rank: start}
            found.append(both)
    return found


def joined(intervals: list[list[int]]) -> tuple[list[int], list[int]]:
    """The begins and ends of intervals, in order. Intervals less than NEAR apart are joined."""
    starts: list[int] = []
    ends: list[int] = []
    for start, end in intervals:
        if ends and start - ends[-1] <= NEAR:
            ends[-1] = end
        else:
            starts.append(start)
            ends.append(end)
    return starts, ends


def meetings_of(run: Run) -> dict[int, Meeting]:
    """All collectives and messages, by number, and the starts of collectives in flight, in which ranks may wait."""
    found: dict[int, Meeting] = defaultdict(Meeting)
    wait = run.numbers.get("dparallel::wait", -1)
    send, recv = (run.numbers.get(f"dparallel::{name}", -1) for name in ("send", "recv"))
    for rank in run.ranks:
        for thread in rank.threads:
            spans = thread.spans
            numbers = keys_of(run, spans)
            rows = np.flatnonzero((message_spans(run, spans) | (spans.kind == FLIGHT)) & (spans.b > 0))
            columns = numbers, spans.start, spans.end, spans.name, spans.kind, spans.a
            for number, start, end, name, kind, nbytes in zip(*(column[rows].tolist() for column in columns), strict=True):
                meeting = found[number]
                if name == wait or kind == FLIGHT:
                    began = start if name == wait else end
                    meeting.waited[rank.rank] = min(began, meeting.waited.get(rank.rank, began))
                if name != wait:                     # it begins
                    meeting.arrived[rank.rank] = min(start, meeting.arrived.get(rank.rank, start))
                    meeting.nbytes = max(meeting.nbytes, nbytes)
                if kind != FLIGHT:
                    meeting.left[rank.rank] = max(end, meeting.left.get(rank.rank, end))
            for row in np.flatnonzero((spans.name == send) & (spans.b > 0)).tolist():
                found[-int(spans.b[row])].arrived[rank.rank] = int(spans.start[row])
            for row in np.flatnonzero((spans.name == recv) & (spans.b > 0)).tolist():
                found[-int(spans.b[row])].left[rank.rank] = int(spans.end[row])
    return dict(found)


def keys_of(run: Run, spans: Spans) -> Any:
    """The keys of a thread's collectives in the table of all collectives."""
    flying = spans.b[spans.kind == FLIGHT]
    starts = (spans.kind == MESSAGE) & (spans.name != run.numbers.get("dparallel::wait", -1)) & np.isin(spans.b, flying)
    return np.where(starts & (spans.b > 0), spans.b | STARTS, spans.b)


def received_in(run: Run, rank: Any) -> list[tuple[int, int]]:
    """(when, number) of the messages received by a rank."""
    spans, recv = rank.main, run.numbers.get("dparallel::recv", -1)
    rows = np.flatnonzero((spans.name == recv) & (spans.b > 0))
    return sorted((int(spans.start[row]), -int(spans.b[row])) for row in rows)


def runs_of(which: Any) -> list[tuple[int, int]]:
    """(first, last + 1) of each run of consecutive true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], which.astype(np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def delays_of(run: Run, rank: Any) -> tuple[Any, Any]:
    """(moments, ns until each in which the training thread was ready but did not run)."""
    spans = rank.main
    rows = np.flatnonzero(spans.name == run.numbers.get("[run delay]", -1))
    return spans.start[rows], spans.a[rows]


def between(counter: tuple[Any, Any], since: Any, until: Any) -> Any:
    """The growth of a counter between two moments, or arrays of them, interpolated linearly between its samples."""
    times, values = counter
    if len(times) < 2:
        return np.zeros(np.shape(since))
    return np.interp(until, times, values) - np.interp(since, times, values)


def rows_of(run: Run, rank: Any) -> tuple[list[int], list[int]]:
    """(moments, rows) of the forward passes of a rank, where they count rows."""
    spans = rank.main
    found = np.flatnonzero((spans.name == run.numbers.get("DataParallel.forward", -1)) & (spans.a > 0))
    return spans.start[found].tolist(), spans.a[found].tolist()


def rows_at(rows: tuple[list[int], list[int]], time: int) -> int:
    """The rows of the last forward pass that began before a moment; 0 if unknown."""
    place = bisect.bisect_right(rows[0], time) - 1
    return rows[1][place] if place >= 0 else 0


def lanes_of(run: Run, rank: Any, segments: Segments) -> list[tuple[int, str, int]]:
    """(device, part, ns) of each call in which the other local devices waited for one: how much later its lane ended."""
    lanes = []
    for thread in rank.threads:
        for row in np.flatnonzero(thread.spans.kind == LANE).tolist():
            name = run.names[thread.spans.name[row]]
            lanes.append((int(thread.spans.start[row]), int(thread.spans.end[row]), int(name.split()[-1])))
    lanes.sort()
    found = []
    group: list[tuple[int, int, int]] = []
    for lane in [*lanes, (1 << 62, 1 << 62, -1)]:
        if lane[2] < 0 or lane[2] in [number for _, _, number in group]:
            ends = sorted(end for _, end, _ in group)
            if len(ends) > 1:
                last = max(group, key=lambda item: item[1])
                place = int(np.searchsorted(segments.start, last[1], "right")) - 1
                part = PARTS[segments.part[min(max(place, 0), len(segments.part) - 1)]]
                found.append((last[2], part, ends[-1] - ends[-2]))
            group = []
        group.append(lane)
    return found
