"""The report of a run: each rank's steps by part, who waited for whom and why, the critical path, the network, and advice.
As text, as a dict (JSON), and as a page (page.py).
"""

from __future__ import annotations

import itertools
import shutil
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autograd.spans.spans import COUNTER, FLIGHT

from .advice import advice
from .blame import Blame, Cause, Wait, between, lanes_of, rows_of
from .phases import COMPUTE, MEANING, PARTS, WAIT, Step, steps_of
from .run import Rank, Run, collector_off, read_parts, row_number, write_trace

MOST_STEPS = 2000                    # in the report's series; a longer run shows every n-th step
COLUMNS = (("step", 8), ("compute", 8), ("other", 8), ("waiting", 8), ("exposed", 9), ("overlap", 11), ("stolen", 7))
LATE = 20_000                        # ns: longer waiting gets an arrow between ranks


class Report:
    """The report of a run. `data` is the source of text(), json and the page: see docs/monitoring.md."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.blame: Blame = Blame(run)
        self.steps: dict[int, list[Step]] = {rank.rank: steps_of(run, rank) for rank in run.ranks}
        self.spares: list[int] = [rank.rank for rank in run.ranks if not rank.info.get("memberships")]
        if len(self.spares) == len(run.ranks):       # not under `dprun --survive`
            self.spares = []
        self.numbers: list[int] = self._common_steps()
        self.data: dict[str, Any] = self._data()

    def _common_steps(self) -> list[int]:
        """Keep the steps that all active ranks have recorded in self.steps."""
        at_work: dict[int, set[int]] = defaultdict(set)          # by membership
        done: dict[int, dict[int, int]] = defaultdict(dict)      # by step and rank: the membership
        for rank in [rank for rank in self.run.ranks if rank.rank not in self.spares]:
            for _, membership, _ in rank.info.get("memberships") or [(0, 0, 0)]:
                at_work[membership].add(rank.rank)
            for step in self.steps[rank.rank]:
                done[step.number][rank.rank] = step.membership
        common = {}
        for number, by_rank in done.items():
            last = max(by_rank.values())             # of its last repetition: after a death steps are repeated
            if at_work[last] <= {rank for rank, membership in by_rank.items() if membership == last}:
                common[number] = last
        self.steps = {rank: [step for step in steps if common.get(step.number) == step.membership]
                      for rank, steps in self.steps.items()}
        return sorted(common)

    def _data(self) -> dict[str, Any]:
        run, numbers = self.run, self.numbers
        ranks = [self._rank(rank) for rank in run.ranks if rank.rank not in self.spares]
        durations = self._durations()
        typical = _typical(durations)
        worst = max(durations, key=lambda number: durations[number]) if durations else None
        causes = self._causes()
        data: dict[str, Any] = {
            "ranks": run.size, "missing": run.missing, "spares": self.spares, "deaths": self._deaths(),
            "unfinished": self._unfinished(), "hosts": sorted({rank.info["host"] for rank in run.ranks}),
            "clock_bound_us": run.bound / 1000, "recorded_s": self._recorded(),
            "steps": {"count": len(numbers), "first": min(numbers, default=None), "last": max(numbers, default=None),
                      "median_ms": statistics.median(durations.values()) / 1e6 if durations else None,
                      "worst_ms": durations[worst] / 1e6 if worst is not None else None, "worst": worst, "typical": typical},
            "per_rank": ranks, "causes": causes, "before_first_step": self._causes_before(),
            "lanes": self._lanes(), "links": self._links(),
            "critical_path": {name: self._critical_path(number) for name, number in (("typical", typical), ("worst", worst))
                              if number is not None},
            "network": self._network(), "series": self._series(durations)}
        data["advice"] = advice(data)
        return data

    # --- of each rank ---------------------------------------------------------------------------------------------------

    def _rank(self, rank: Rank) -> dict[str, Any]:
        """The times of a rank's parts, in ms a step."""
        steps, segments = self.steps[rank.rank], self.blame.segments[rank.rank]
        n = max(1, len(steps))
        waits = [wait for _, wait in self._in_steps(rank.rank, steps)]
        waiting, transfer = sum(wait.waiting for wait in waits), sum(wait.transfer for wait in waits)
        starts, ends = np.array([s.start for s in steps], np.int64), np.array([s.end for s in steps], np.int64)
        parts = (segments.before(ends) - segments.before(starts)).sum(axis=0)
        stolen = float(between(self.blame.delays[rank.rank], starts, ends).sum())
        own = (self.blame.work(rank.rank, ends) - self.blame.work(rank.rank, starts)).sum(axis=0)
        flights = _union(_within(rank.main.chosen(rank.main.kind == FLIGHT), steps))
        _, rows = rows_of(self.run, rank)
        total = int(sum(step.end - step.start for step in steps))
        ms = 1e-6 / n
        return {"rank": rank.rank, "host": rank.info["host"], "step_ms": total * ms,
                "compute_ms": int(parts[list(COMPUTE)].sum()) * ms,
                "other_ms": (int(parts.sum()) - int(parts[[*COMPUTE, WAIT]].sum())) * ms,
                "waiting_ms": waiting * ms, "exposed_ms": (int(parts[WAIT]) - waiting) * ms,
                "in_flight_ms": flights * ms, "overlap_ms": max(0, flights - waiting - transfer) * ms,
                "stolen_ms": stolen * ms,
                "parts_ms": {PARTS[i]: int(t) * ms for i, t in enumerate(parts) if t and i != WAIT},
                "stolen_parts_ms": {PARTS[i]: float(t - own[i]) * ms for i, t in enumerate(parts) if t - own[i] > 1},
                "rows": statistics.median(rows) if rows else None, "steps": len(steps),
                "cores": rank.info.get("cores"), "threads": rank.info.get("threads")}

    def _in_steps(self, rank: int, steps: Sequence[Step]) -> list[tuple[int, Wait]]:
        """The waits of a rank that ended inside its steps, each with the index of its step."""
        starts, ends = np.array([s.start for s in steps]), np.array([s.end for s in steps])
        waits = self.blame.waits[rank]
        if not len(starts) or not waits:
            return []
        at = np.array([wait.end for wait in waits])
        place = np.searchsorted(starts, at, "right") - 1
        inside = (place >= 0) & (at <= ends[np.maximum(place, 0)])
        return [(int(place[i]), waits[i]) for i in np.flatnonzero(inside)]

    # --- ranks that have not reached their end --------------------------------------------------------------------------

    def _deaths(self) -> list[dict[str, Any]]:
        """Ranks that died while the others continued (`dprun --survive`), in order: when, and how many were left."""
        dead = {rank.rank: rank.info["memberships"][-1][1] for rank in self.run.ranks if rank.info.get("died")}
        found = []
        for rank, last in dead.items():
            after = [one for other in self.run.ranks for one in other.info["memberships"] if one[1] > last]
            began, membership, step = min(after, key=lambda one: (one[1], one[0]))
            found.append({"rank": rank, "seconds": (began - self.run.begin) / 1e9, "step": step,
                          "left": sum(one[1] == membership for one in after)})
        return sorted(found, key=lambda death: death["seconds"])

    def _unfinished(self) -> list[dict[str, Any]]:
        """For each rank whose recording has no end (the job hangs, was killed or continues): its part, and since when."""
        found = []
        for rank in self.run.ranks:
            until, segments, spans = rank.info.get("until"), self.blame.segments[rank.rank], rank.main
            if rank.info.get("finished") or rank.info.get("died") or not until or not len(segments.part):
                continue
            begun = np.flatnonzero((spans.end == until) & (spans.start < until) & ~np.isin(spans.kind, (FLIGHT, COUNTER)))
            inside = int(begun[-1]) if len(begun) else -1
            since = int(spans.start[inside]) if inside >= 0 else int(segments.start[-2])
            found.append({"rank": rank.rank, "part": PARTS[segments.part[-1]], "seconds": (until - since) / 1e9,
                          "name": self.run.names[spans.name[inside]] if inside >= 0 else ""})
        return found

    # --- ranks that others waited for -----------------------------------------------------------------------------------

    def _causes(self) -> list[dict[str, Any]]:
        """The causes of all waiting inside steps, the largest first. ms_per_step: summed over all waiting ranks."""
        total: dict[Cause, int] = defaultdict(int)
        by_waiter: dict[Cause, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for rank in self.run.ranks:
            for _, wait in self._in_steps(rank.rank, self.steps[rank.rank]):
                for cause, time in wait.causes.items():
                    total[cause] += time
                    by_waiter[cause][rank.rank] += time
        return self._listed(total, by_waiter, max(1, len(self.numbers)))

    def _listed(self, total: dict[Cause, int], by_waiter: dict[Cause, dict[int, int]], n: int) -> list[dict[str, Any]]:
        everything = sum(total.values())
        return [{"rank": rank, "part": part, "ms_per_step": time / n / 1e6, "share": time / everything,
                 "waiting_ms": {str(waiter): t / n / 1e6 for waiter, t in sorted(by_waiter[rank, part].items())}}
                for (rank, part), time in sorted(total.items(), key=lambda item: -item[1]) if time / everything >= 0.005]

    def _causes_before(self) -> list[dict[str, Any]]:
        """The causes of waiting before the first step, in ms in all."""
        total: dict[Cause, int] = defaultdict(int)
        by_waiter: dict[Cause, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for rank, steps in self.steps.items():
            for wait in self.blame.waits[rank]:
                if not steps or wait.end < steps[0].start:
                    for cause, time in wait.causes.items():
                        total[cause] += time
                        by_waiter[cause][rank] += time
        return self._listed(total, by_waiter, 1)

    def _lanes(self) -> list[dict[str, Any]]:
        """The local devices for which the others waited, in ms per step."""
        total: dict[tuple[int, int, str], int] = defaultdict(int)
        for rank in self.run.ranks:
            for device, part, time in lanes_of(self.run, rank, self.blame.segments[rank.rank]):
                total[rank.rank, device, part] += time
        n = max(1, len(self.numbers)) * 1e6
        return [{"rank": rank, "device": device, "part": part, "ms_per_step": time / n}
                for (rank, device, part), time in sorted(total.items(), key=lambda item: -item[1])]

    def _links(self) -> list[dict[str, Any]]:
        """Sender, receiver and ms per step of messages for which the receiver waited after they had been sent."""
        total: dict[tuple[int, int], int] = defaultdict(int)
        for rank in self.run.ranks:
            for _, wait in self._in_steps(rank.rank, self.steps[rank.rank]):
                if wait.flight < -1 and wait.transfer and (meeting := self.blame.meetings.get(wait.flight)) is not None:
                    for sender in meeting.arrived:
                        total[sender, rank.rank] += wait.transfer
        n = max(1, len(self.numbers)) * 1e6
        return [{"from": sender, "to": rank, "ms_per_step": time / n}
                for (sender, rank), time in sorted(total.items(), key=lambda item: -item[1])[:50]]

    # --- the critical path ----------------------------------------------------------------------------------------------

    def _critical_path(self, number: int) -> dict[str, Any]:
        """The critical path: the chain of work and transfers that determined when a step ended, found from its end back."""
        steps = {rank: step for rank, own in self.steps.items() for step in own if step.number == number}
        begin = min(step.start for step in steps.values())
        rank = max(steps, key=lambda r: steps[r].end)
        time = steps[rank].end
        path: list[tuple[int, str, int]] = []
        for _ in range(1000):
            wait = next((w for w in reversed(self.blame.waits[rank]) if begin < w.end <= time and w.late >= 0), None)
            since = max(begin, wait.end if wait is not None else begin)
            self._add_work(path, rank, since, time)
            if wait is None or since <= begin:
                break
            if wait.transfer:
                path.append((rank, "transfer", wait.transfer))
            rank, time = wait.late, wait.end - wait.transfer
        merged: list[list[Any]] = []
        for who, part, length in reversed(path):
            if merged and merged[-1][:2] == [who, part]:
                merged[-1][2] += length
            elif length > 0:
                merged.append([who, part, length])
        return {"step": number, "ms": (max(s.end for s in steps.values()) - begin) / 1e6,
                "segments": [{"rank": who, "part": part, "ms": length / 1e6} for who, part, length in merged]}

    def _add_work(self, path: list[tuple[int, str, int]], rank: int, since: int, until: int) -> None:
        """Append the work of a rank between two moments, the latest first."""
        segments = self.blame.segments[rank]
        first = max(0, int(np.searchsorted(segments.start, since, "right")) - 1)
        last = min(len(segments.part) - 1, int(np.searchsorted(segments.start, until, "left")) - 1)
        for place in range(last, first - 1, -1):
            start, end = max(since, int(segments.start[place])), min(until, int(segments.start[place + 1]))
            if end > start:
                part = PARTS[segments.part[place]]
                path.append((rank, "transfer" if part == "wait" else part, end - start))

    # --- the network ----------------------------------------------------------------------------------------------------

    def _network(self) -> dict[str, Any]:
        """The time of sums from the last rank's start to their end, beside the bandwidth measured at the beginning."""
        flights: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
        for rank in self.run.ranks:
            spans = rank.main
            inside = _mask_within(spans.start, self.steps[rank.rank])
            flying = spans.chosen((spans.kind == FLIGHT) & inside)
            for name, _, start, end, queued, nbytes, number in zip(*(column.tolist() for column in flying), strict=True):
                meeting = self.blame.meetings.get(number)
                began = max(start, meeting.last[0]) if meeting is not None else start
                flights[self.run.names[name]].append((nbytes, max(0, end - began), max(0, queued)))
        rows: list[dict[str, Any]] = []
        for name, found in flights.items():
            nbytes, time = (statistics.median(f[i] for f in found) for i in (0, 1))
            rows.append({"name": name, "bytes": nbytes, "transfer_us": time / 1e3, "queued_us":
                         statistics.median(f[2] for f in found) / 1e3, "count": len(found),
                         "GB_per_s": nbytes / time if time else None})
        probe: dict[str, float] = next((rank.info["network"] for rank in self.run.ranks if rank.info.get("network")), {})
        possible = probe["bytes"] / probe["seconds"] / 1e9 if probe else None
        largest = max(rows, key=lambda row: row["bytes"], default=None)
        return {"sums": sorted(rows, key=lambda row: -row["bytes"] * row["count"])[:50], "possible_GB_per_s": possible,
                "achieved_GB_per_s": largest["GB_per_s"] if largest else None,
                "bytes_per_step": sum(row["bytes"] * row["count"] for row in rows) / max(1, len(self.numbers))
                / max(1, len(self.run.ranks))}

    # --- of each step ---------------------------------------------------------------------------------------------------

    def _durations(self) -> dict[int, int]:
        """The duration of each step, from the first rank's begin to the last one's end, in ns."""
        wanted: dict[int, list[Step]] = defaultdict(list)
        for rank in self.steps:
            for step in self.steps[rank]:
                wanted[step.number].append(step)
        return {number: max(s.end for s in steps) - min(s.start for s in steps) for number, steps in wanted.items()}

    def _series(self, durations: dict[int, int]) -> dict[str, Any]:
        """The steps in sequence: their durations, and each rank's waiting and transfer in them (ms)."""
        numbers = self.numbers[::max(1, -(-len(self.numbers) // MOST_STEPS))]
        chosen = set(numbers)
        waiting, exposed = {}, {}
        for rank in self.run.ranks:
            steps = [step for step in self.steps[rank.rank] if step.number in chosen]
            waited, sent = np.zeros(len(steps)), np.zeros(len(steps))
            for place, wait in self._in_steps(rank.rank, steps):
                waited[place] += wait.waiting / 1e6
                sent[place] += wait.transfer / 1e6
            waiting[str(rank.rank)], exposed[str(rank.rank)] = waited.round(4).tolist(), sent.round(4).tolist()
        return {"step": numbers, "ms": [durations[number] / 1e6 for number in numbers], "waiting_ms": waiting,
                "exposed_ms": exposed}

    def _recorded(self) -> float:
        ends = [int(thread.spans.end.max()) for rank in self.run.ranks for thread in rank.threads if len(thread.spans.end)]
        return (max(ends, default=self.run.begin) - self.run.begin) / 1e9

    # --- output ---------------------------------------------------------------------------------------------------------

    def events(self) -> Iterator[dict[str, Any]]:
        """Steps, arrows from a collective's last rank to the waiting ranks, and arrows from senders to receivers."""
        begin = self.run.begin
        for number, steps in self.steps.items():
            row = row_number(number, 0)
            yield {"ph": "M", "name": "thread_name", "pid": number, "tid": row, "args": {"name": "steps"}}
            for step in steps:
                yield {"ph": "X", "name": f"step {step.number}", "cat": "step", "pid": number, "tid": row,
                       "ts": (step.start - begin) / 1000, "dur": (step.end - step.start) / 1000, "args": {}}
        places = {rank.rank: row_number(rank.rank, next((i + 1 for i, t in enumerate(rank.threads) if t.main), 1))
                  for rank in self.run.ranks}
        inside = {rank.rank: _Slices(rank) for rank in self.run.ranks}
        arrows = 0
        for rank in self.run.ranks:
            for wait in self.blame.waits[rank.rank]:
                if wait.late < 0 or wait.waiting < LATE or wait.late not in places:
                    continue
                came = inside[wait.late].at(min(self.blame.meetings[wait.flight].arrived[wait.late], wait.end))
                if came < 0:
                    continue
                arrows += 1
                base = {"cat": "waited for", "name": "waited for", "id": arrows}
                yield {**base, "ph": "s", "pid": wait.late, "tid": places[wait.late], "ts": (came - begin) / 1000}
                yield {**base, "ph": "f", "bp": "e", "pid": wait.rank, "tid": places[wait.rank],
                       "ts": (wait.end - begin) / 1000}
        for message in (meeting for flight, meeting in self.blame.meetings.items() if flight < 0):
            for (sender, sent), (receiver, received) in itertools.product(message.arrived.items(), message.left.items()):
                if sender in places and receiver in places:
                    arrows += 1
                    base = {"cat": "message", "name": "message", "id": arrows}
                    sent = inside[sender].at(min(sent, received))
                    yield {**base, "ph": "s", "pid": sender, "tid": places[sender], "ts": (sent - begin) / 1000}
                    yield {**base, "ph": "f", "bp": "e", "pid": receiver, "tid": places[receiver],
                           "ts": (received - begin) / 1000}

    def text(self) -> str:
        """The report as text."""
        return text_of(self.data)


class _Slices:
    """Moments at which an arrow may begin or end: readers require a slice there."""

    def __init__(self, rank: Rank) -> None:
        spans = rank.main.chosen(~np.isin(rank.main.kind, (FLIGHT, COUNTER)))
        self._starts, self._ends = spans.start, np.maximum.accumulate(spans.end)

    def at(self, time: int) -> int:
        """The moment itself if it lies in a slice, else the end of the last slice before it; -1 if there is none."""
        place = int(np.searchsorted(self._starts, time, "right")) - 1
        return min(time, int(self._ends[place])) if place >= 0 else -1


def finish(folder: Path, path: Path, keep: bool = False) -> Report:
    """Write the finished file of a folder of parts, and return the report. keep: the run continues, keep the folder."""
    with collector_off():
        run = read_parts(folder, until_now=True)
        report = Report(run)
        write_trace(run, path, report.events())
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)
    return report


def _typical(durations: dict[int, int]) -> int | None:
    """The step whose duration is the median."""
    if not durations:
        return None
    return sorted(durations, key=lambda number: durations[number])[(len(durations) - 1) // 2]


def _mask_within(times: Any, steps: Sequence[Step]) -> Any:
    """Whether each moment is in some step."""
    if not steps:
        return np.zeros(len(times), bool)
    starts, ends = np.array([s.start for s in steps]), np.array([s.end for s in steps])
    place = np.searchsorted(starts, times, "right") - 1
    return (place >= 0) & (times <= ends[np.maximum(place, 0)])


def _within(spans: Any, steps: Sequence[Step]) -> Any:
    return spans.chosen(_mask_within(spans.start, steps))


def _union(spans: Any) -> int:
    """The total length of the union of some spans."""
    total, until = 0, 0
    for start, end in sorted(zip(spans.start.tolist(), spans.end.tolist(), strict=True)):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


def text_of(data: dict[str, Any]) -> str:
    """A report's data as text."""
    steps, lines = data["steps"], []
    hosts = f" on {len(data['hosts'])} hosts" if len(data["hosts"]) > 1 else ""
    lines.append(f"{data['ranks']} rank{'s' * (data['ranks'] > 1)}{hosts}, {data['recorded_s']:.1f} s recorded, "
                 + (f"steps {steps['first']} to {steps['last']}: median {steps['median_ms']:.2f} ms, worst "
                    f"{steps['worst_ms']:.2f} ms (step {steps['worst']})" if steps["count"] else "no step of an optimizer"))
    if data["missing"]:
        lines.append(f"no data of rank{'s' * (len(data['missing']) > 1)} {', '.join(map(str, data['missing']))}")
    lines += told_of_ranks(data)
    lines += ["", "ms a step     step  compute    other  waiting  transfer  overlapped  stolen   rows"]
    for row in data["per_rank"]:
        rows = "" if row["rows"] is None else f"{row['rows']:g}"
        lines.append(f"rank {row['rank']:<5} " + " ".join(f"{row[f'{name}_ms']:{width}.2f}" for name, width in COLUMNS)
                     + f" {rows:>6}")
    lines += ["", "who made others wait, in a step (of all that waited)"]
    lines += [cause_line(cause) for cause in data["causes"][:8]] or ["  no rank, for longer than 2 us"]
    if data["before_first_step"]:
        lines += ["", "and before the first step, in all"]
        lines += [cause_line(cause) for cause in data["before_first_step"][:4]]
    for lane in data["lanes"][:4]:
        lines.append(f"  local device {lane['device']} of rank {lane['rank']}: {lane['ms_per_step']:.2f} ms in "
                     f"{MEANING.get(lane['part'], lane['part'])}")
    for name, path in data["critical_path"].items():
        shown: list[dict[str, Any]] = []
        for segment in path["segments"]:
            if shown and (shown[-1]["rank"], shown[-1]["part"]) == (segment["rank"], segment["part"]):
                shown[-1] = {**segment, "ms": shown[-1]["ms"] + segment["ms"]}
            elif segment["ms"] >= path["ms"] / 100:
                shown.append(segment)
        lines += ["", f"critical path of the {name} step ({path['step']}, {path['ms']:.2f} ms)",
                  "  " + " > ".join(f"rank {s['rank']} {s['part']} {s['ms']:.2f}" for s in shown)]
    network = data["network"]
    if network["sums"]:
        possible = network["possible_GB_per_s"]
        lines += ["", f"network: {network['bytes_per_step'] / 1e6:.2f} MB a step and rank; the largest sum ran at "
                  f"{network['achieved_GB_per_s'] or 0:.2f} GB/s" + (f", possible {possible:.2f} (measured at the start)"
                                                                  if possible else "")]
        for row in network["sums"][:6]:
            lines.append(f"  {row['name']:<28} {row['bytes'] / 1e3:10.1f} kB  {row['transfer_us']:9.1f} us on the way, "
                         f"{row['queued_us']:7.1f} us queued, {row['count']} times")
    lines += ["", "advice", *(f"  {number}. {sentence}" for number, sentence in enumerate(data["advice"], 1))]
    return "\n".join(lines)


def told_of_ranks(data: dict[str, Any]) -> list[str]:
    """Lines of text about spare ranks, dead ranks, and ranks without an end."""
    spares, lines = data["spares"], []
    if spares:
        lines.append(f"rank{'s' * (len(spares) > 1)} {', '.join(map(str, spares))} waited to replace a failed rank")
    for death in data["deaths"]:
        lines.append(f"rank {death['rank']} died; {death['left']} rank{'s' * (death['left'] != 1)} continued after "
                     f"{death['seconds']:.1f} s, from step {death['step']}")
    if data["unfinished"]:
        lines += ["", "where ranks were that have not come to the end"]
        for one in data["unfinished"][:16]:
            name = f" ({one['name']})" if one["name"] else ""
            lines.append(f"  rank {one['rank']}: {one['seconds']:.1f} s in {MEANING.get(one['part'], one['part'])}{name}")
    return lines


def cause_line(cause: dict[str, Any]) -> str:
    """A cause of waiting as a line of text."""
    return (f"  rank {cause['rank']}: {cause['ms_per_step']:.2f} ms ({cause['share']:.0%}) by "
            f"{MEANING.get(cause['part'], cause['part'])}")
