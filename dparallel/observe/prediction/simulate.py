"""Replay: a traced step under a what-if, as a graph of tasks that one function plays.

As in Daydream (Zhu et al., ATC 2020), an option changes the graph, and play() is the same for all. graph_of() makes a rank's
tasks for an Option. play() runs them on the rank's thread and its network, which carries one collective after another.
Meanwhile the thread computes at the rate that the collective's share of the processor leaves: MPI moves data only inside its
calls, and on one host the ranks themselves do all the work of a sum. All ranks have the same graph; slowest() adds the
trace's jitter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ...consistency.checksum import ROOM
from ...reduction import buckets
from ...reduction.buckets import MOST_BYTES, default_capacity
from ...sharding.transport import IN_FLIGHT
from ...sharding.unit import grouped as grouped_units
from .hook_programs import HookProgram
from .network import Cost, Network
from .steps import ParameterTrace, StepTrace, SyncTrace, Task

STAGES = (None, "optimizer", "gradients", "parameters")
AGREEMENT_BYTES = 24                 # of the agreement before each collective of stage 3


@dataclass(frozen=True)
class Option:
    """One choice of options for predict()."""

    ranks: int
    bucket_cap_mb: float | None = None
    hook: str = ""
    shard: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.ranks, bool) or not isinstance(self.ranks, int) or self.ranks < 1:
            raise ValueError(f"ranks={self.ranks!r} must be a whole number of at least 1")
        cap = self.bucket_cap_mb
        if cap is not None and (isinstance(cap, bool) or not isinstance(cap, (int, float)) or not 0 < cap < math.inf):
            raise ValueError(f"bucket_cap_mb={cap!r} must be a number of MiB above 0, or None for the default")
        if self.shard not in STAGES:
            raise ValueError(f"shard={self.shard!r} must be one of {', '.join(map(repr, STAGES))}")
        if self.shard and self.hook:
            raise NotImplementedError(f"hook={self.hook!r} with shard={self.shard!r}: gradients of a sharded module are "
                                      "sent in slices, but a hook averages whole buckets")

    def __str__(self) -> str:
        words = [f"buckets of {self.bucket_cap_mb:g} MiB" if self.bucket_cap_mb is not None else "",
                 self.hook, f"shard={self.shard!r}" if self.shard else ""]
        return ", ".join(filter(None, words)) or "the defaults"


class PlayedCollective(NamedTuple):
    """A played collective: seconds from the beginning of the step, and the source of its cost."""

    name: str
    collective: str
    nbytes: float
    departed: float
    started: float
    ended: float
    source: str


class Played(NamedTuple):
    """The result of play(): the length of the step, its computation, and the collectives."""

    seconds: float
    compute: float
    flights: list[PlayedCollective]

    @property
    def exposed(self) -> float:
        """Communication not hidden by computation: the difference between the step's length and its computation."""
        return self.seconds - self.compute


def play(tasks: Sequence[Task], cost: Callable[[str, float], Cost]) -> Played:
    """Play a rank's tasks. cost(collective, nbytes) gives a collective's seconds. ValueError for a wait without a start."""
    now = computed = 0.0
    queue: list[list[Any]] = []                      # [name, seconds left, processor share, PlayedCollective]
    flights: list[PlayedCollective] = []
    names: set[str] = set()

    def first_ends() -> None:
        """End the first collective of the queue and start the next one."""
        flights.append(queue.pop(0)[3]._replace(ended=now))
        if queue:
            queue[0][3] = queue[0][3]._replace(started=now)

    def start(task: Task) -> None:
        found = cost(task.collective, task.nbytes)
        flight = PlayedCollective(task.name, task.collective, task.nbytes, now, now, math.nan, found.source)
        queue.append([task.name, found.seconds, found.cpu, flight])
        names.add(task.name)

    def work(left: float) -> None:
        """Keep the thread busy for some time, while the network continues."""
        nonlocal now
        while queue and left > 0:
            _, remaining, share, _ = queue[0]
            done = remaining * max(0.0, 1 - share)   # of the work, until the end of this collective
            if done > left:
                queue[0][1] -= left / (1 - share)
                now += left / (1 - share)
                return
            left -= done
            now += remaining * max(1.0, share)
            first_ends()
        now += left

    for task in tasks:
        if task.kind == "compute":
            computed += task.seconds
            work(task.seconds)
        elif task.kind == "copy":
            work(cost("copy", task.nbytes).seconds)
        elif task.kind in ("start", "call"):
            start(task)
        if task.kind in ("wait", "call"):
            if task.name not in names:
                raise ValueError(f"a wait for {task.name!r}, which was not started")
            while any(entry[0] == task.name for entry in queue):
                now += queue[0][1]
                first_ends()
    while queue:
        now += queue[0][1]
        first_ends()
    return Played(now, computed, flights)


# --- the graph of a step --------------------------------------------------------------------------------------------------

def graph_of(trace: StepTrace, option: Option, programs: Mapping[str, HookProgram] | None = None,
             slower: float = 1.0) -> list[Task]:
    """The tasks of one step of a rank. slower: a factor on computation. programs: actions of comm hooks, by name."""
    scaled = trace.scaled(slower)
    if option.ranks == 1:
        return [Task("compute", "step", scaled.compute)]
    if option.shard == "parameters":
        return _fully_sharded(scaled, option)
    if option.shard:
        return _sharded(scaled, option)
    program = None
    if option.hook:
        if not programs or option.hook not in programs:
            raise ValueError(f"hook={option.hook!r} must be one of {', '.join(map(repr, programs or ()))}")
        program = programs[option.hook]
    tasks = [*_buffers(scaled), *_spread("forward", scaled.forward, _forward_syncs(scaled, option.ranks))]
    groups = bucket_groups(scaled, option.bucket_cap_mb, fixed=scaled.fixed or program is not None)
    if program is not None:
        return tasks + _hooked(scaled, option, groups, program)
    sizes = bucket_bytes(groups)
    tasks += _departing(scaled, [(group, [Task("start", f"bucket {i}", 0.0, "sum", sizes[i])])
                                 for i, group in enumerate(groups)], option.ranks)
    return [*tasks, *(Task("wait", f"bucket {i}") for i in range(len(groups))), *_after(scaled)]


def _buffers(trace: StepTrace) -> list[Task]:
    """The broadcast of rank 0's buffers."""
    if not trace.buffer_bytes:
        return []
    return [_meet("buffers"), Task("call", "buffers", 0.0, "broadcast", trace.buffer_bytes)] * trace.passes


def _after(trace: StepTrace, optimizer_share: float = 1.0) -> list[Task]:
    """The tasks from the sums to the end of the step."""
    return [Task("compute", "gradients delivered", trace.finish),
            Task("compute", "optimizer", trace.optimizer * optimizer_share),
            Task("compute", "between steps", max(0.0, trace.after - trace.optimizer))]


def bucket_groups(trace: StepTrace, cap_mb: float | None, fixed: bool = False) -> list[list[ParameterTrace]]:
    """The buckets that the library would make, by its own functions: in order of gradients, or (fixed) of registration."""
    known = {p.name: p for p in trace.parameters}
    cap = capacity(trace, cap_mb, default_capacity(trace.gradient_bytes))
    groups = buckets.grouped([p.named() for p in trace.parameters], cap)
    if len(groups) > 1 and not fixed:                # parameters without a gradient come last, as in Reducer._rebuild()
        latest_first = list(reversed(trace.parameters))
        arrived = sorted(latest_first, key=lambda p: p.ready or math.inf)
        groups = buckets.grouped([p.named() for p in arrived[::-1]], cap)
    return [[known[name] for name, _ in group] for group in groups]


def bucket_bytes(groups: Sequence[Sequence[ParameterTrace]]) -> list[int]:
    """The bytes of each bucket's message: gradients, a flag for each parameter, the weight; in the last one also the
    checksum."""
    counts = [len(group) + 1 for group in groups[:-1]] + [len(groups[-1]) + 1 + ROOM]
    return [sum(p.nbytes for p in group) + count * np.dtype(group[0].dtype).itemsize
            for group, count in zip(groups, counts, strict=True)]


def capacity(trace: StepTrace, cap_mb: float | None, default: float) -> float:
    """The most bytes of a bucket or unit: the option's, else the traced model's, else the default."""
    chosen = trace.cap_mb if cap_mb is None else cap_mb
    return default if chosen is None else chosen * 2**20


def _spread(name: str, whole: float, events: Sequence[tuple[float, Sequence[Task]]]) -> list[Task]:
    """Computation, split where other tasks occur, and these tasks, in order."""
    tasks, now = [], 0.0
    for moment, found in events:
        at = max(now, min(moment, whole))
        tasks += [Task("compute", name, at - now), *found]
        now = at
    return [*tasks, Task("compute", name, whole - now)]


def _departing(trace: StepTrace, leaving: Sequence[tuple[Sequence[ParameterTrace], Sequence[Task]]], ranks: int,
               blocks: bool = False) -> list[Task]:
    """Backward in which groups of parameters are launched in order when complete, or (blocks) all at the end."""
    events, now, syncs = [], 0.0, _backward_syncs(trace, ranks)
    for group, start in leaving:
        ready = max((p.ready if p.ready else trace.backward for p in group), default=trace.backward)
        now = trace.backward if blocks and syncs else max(now, ready)
        events.append((now, start))
    return _spread("backward", trace.backward, sorted([*syncs, *events], key=lambda event: event[0]))


def _forward_syncs(trace: StepTrace, ranks: int, agreed: bool = False) -> list[tuple[float, list[Task]]]:
    """SyncBatchNorm's allgathers in forward, and earlier passes' backward sums. agreed: ranks agree before each."""
    events, here = [], len(trace.syncs) - len(trace.syncs) // trace.passes
    for i, s in enumerate(trace.syncs):
        name = f"statistics {i}"
        tasks = [*(_agree(name, ranks) if agreed else []), _meet(name),
                 Task("call", name, 0.0, "allgather", 8 * (1 + 2 * s.channels) * ranks)]
        events.append((s.used, [*tasks, *(_slopes(s, i, ranks, agreed) if i < here else [])]))
    return events


def _backward_syncs(trace: StepTrace, ranks: int, agreed: bool = False) -> list[tuple[float, list[Task]]]:
    """SyncBatchNorm in backward: a sum after the gradients of all parameters that forward used later than the layer."""
    calls = trace.syncs[:len(trace.syncs) // trace.passes]
    return [(max((p.ready for p in trace.parameters if p.used >= s.used), default=0.0), _slopes(s, i, ranks, agreed))
            for i, s in reversed(list(enumerate(calls)))]


def _slopes(sync: SyncTrace, number: int, ranks: int, agreed: bool) -> list[Task]:
    """The sum of one SyncBatchNorm in backward: three numbers a channel."""
    name = f"slopes {number}"
    return [*(_agree(name, ranks) if agreed else []), _meet(name),
            Task("call", name, 0.0, "allreduce", 3 * sync.channels * sync.itemsize)]


def _hooked(trace: StepTrace, option: Option, groups: Sequence[Sequence[ParameterTrace]],
            program: HookProgram) -> list[Task]:
    """Backward with a comm hook: weights are summed before the first bucket, flags at the end."""
    leaving, finishing = [], []
    for i, group in enumerate(groups):
        start, finish = program.tasks(group, option.ranks, f"bucket {i}")
        if i == 0:
            start = [_meet("weights"), *start]
        leaving.append((group, start))
        finishing += finish
    flags = sum(len(group) for group in groups) + 1
    return [*_departing(trace, leaving, option.ranks, blocks=True), *finishing, _meet("flags"),
            Task("call", "flags", 0.0, "allreduce", 8 * flags), *_after(trace)]


def _meet(name: str) -> Task:
    """The comparison of calls before a checked collective."""
    return Task("call", f"{name}: header", 0.0, "meet")


def _sharded(trace: StepTrace, option: Option) -> list[Task]:
    """Stages 1 and 2: reduce-scatter of two units at a time, the optimizer on this rank's share, gathers of values."""
    known = {p.name: p for p in trace.parameters}
    cap = capacity(trace, option.bucket_cap_mb, MOST_BYTES)
    units = [[known[name] for name, _ in group] for group in grouped_units([p.named() for p in trace.parameters], cap)]
    leaving = []
    for i, group in enumerate(reversed(units)):
        tasks = [_meet(f"unit {i}"),
                 Task("start", f"unit {i}", 0.0, "reduce_scatter", sum(p.nbytes for p in group))]
        if i >= IN_FLIGHT:
            tasks.append(Task("wait", f"unit {i - IN_FLIGHT}"))
        leaving.append((group, tasks))
    waits = [Task("wait", f"unit {i}") for i in range(len(units))]
    counts = [_meet("weights"), Task("call", "weights", 0.0, "allreduce", 8 * (len(units) + len(known)))]
    finish, optimizer, between = _after(trace, 1 / option.ranks)
    nbytes = [sum(p.nbytes for p in group) for group in units]
    pieces = [_copy("sums", n / option.ranks) for n in nbytes] if option.shard == "optimizer" else []
    refresh: list[Task] = []
    for number, names in enumerate(trace.optimizers or [list(known)]):           # each rank gathers what it has changed
        mine = [i for i, group in enumerate(units) if any(p.name in names for p in group)]
        starts = [[_meet(f"values {i}"), Task("start", f"values {i}, {number}", 0.0, "allgather", nbytes[i])] for i in mine]
        ends = [[Task("wait", f"values {i}, {number}"), _copy("values", nbytes[i])] for i in mine]
        for start, end in zip([*starts, []], [[], *ends], strict=True):
            refresh += [*start, *end]
    forward = _spread("forward", trace.forward, _forward_syncs(trace, option.ranks))
    backward = _departing(trace, leaving, option.ranks, blocks=True)
    return [*_buffers(trace), *forward, *backward, *waits, *counts, *pieces, finish, optimizer, *refresh, between]


def _copy(what: str, nbytes: float) -> Task:
    """A copy between the memory of a collective and the model's."""
    return Task("copy", f"copy of {what}", 0.0, "copy", nbytes)


def _agree(name: str, ranks: int) -> list[Task]:
    """The agreement of the ranks before a collective of stage 3."""
    return [_meet(f"{name}: agreement"), Task("call", f"{name}: agreement", 0.0, "allgather", AGREEMENT_BYTES * ranks)]


def _fully_sharded(trace: StepTrace, option: Option) -> list[Task]:
    """Stage 3: each unit is gathered before its first use in forward and again in backward, the next one ahead."""
    if trace.passes > 1:
        raise NotImplementedError(f"shard='parameters' with {trace.passes} forward passes a step: passes inside no_sync() "
                                  "are refused there")
    known, ranks = {p.name: p for p in trace.parameters}, option.ranks
    cap = capacity(trace, option.bucket_cap_mb, math.inf)
    units = [[known[name] for name in names] for names in (trace.units or [[p.name for p in trace.parameters]])]
    units = [[known[name] for name, _ in group] for unit in units for group in grouped_units([p.named() for p in unit], cap)]
    order = sorted(range(len(units)), key=lambda i: min(p.used for p in units[i]))

    def gather(i: int, label: str) -> list[Task]:
        name = f"{label} {i}"
        return [*_agree(name, ranks), _meet(name),
                Task("start", name, 0.0, "allgather", sum(p.nbytes for p in units[i]))]

    def in_order(events: list[tuple[float, list[Task]]]) -> list[tuple[float, list[Task]]]:
        return sorted(events, key=lambda event: event[0])

    events = []
    for place, i in enumerate(order):
        tasks = [*(gather(i, "forward") if place == 0 else []), Task("wait", f"forward {i}")]
        tasks += gather(order[place + 1], "forward") if place + 1 < len(order) else []
        events.append((min(p.used for p in units[i]), tasks))
    tasks = _buffers(trace) + _spread("forward", trace.forward, in_order([*events, *_forward_syncs(trace, ranks, True)]))
    tasks += _agree("forward ends", ranks)
    events, backwards, now = [], order[::-1], 0.0
    ready = {i: max((p.ready or trace.backward for p in units[i]), default=trace.backward) for i in order}
    for place, i in enumerate(backwards):
        taken = [*(gather(i, "backward") if place == 0 else []), Task("wait", f"backward {i}")]
        taken += gather(backwards[place + 1], "backward") if place + 1 < len(backwards) else []
        events.append((now, taken))
        now = max(now, ready[i])
        sent = [*_agree(f"unit {i}", ranks), _meet(f"unit {i}"),
                Task("start", f"unit {i}", 0.0, "reduce_scatter", sum(p.nbytes for p in units[i]))]
        if place >= IN_FLIGHT:
            sent.append(Task("wait", f"unit {backwards[place - IN_FLIGHT]}"))
        events.append((now, sent))
    tasks += _spread("backward", trace.backward, in_order([*events, *_backward_syncs(trace, ranks, True)]))
    tasks += [Task("wait", f"unit {i}") for i in backwards]
    tasks += [*_agree("weights", ranks), _meet("weights"),
              Task("call", "weights", 0.0, "allreduce", 8 * (len(units) + len(known))), *_agree("backward ends", ranks)]
    return [*tasks, *_after(trace, 1 / ranks)]


# --- how ranks affect each other ------------------------------------------------------------------------------------------

def expected_maximum(ranks: int) -> float:
    """The mean of the largest of some standard normal numbers (Blom 1958: the quantile of (n - 0.375) / (n + 0.25))."""
    return 0.0 if ranks == 1 else NormalDist().inv_cdf((ranks - 0.375) / (ranks + 0.25))


def slowdown(trace: StepTrace, network: Network, ranks: int) -> float:
    """The factor of computation on some ranks: ranks beyond a host's cores take turns, and all wait for the slowest."""
    here = min(ranks, network.ranks_per_host)
    turns = max(1.0, here / network.cores_per_host) if network.cores_per_host else 1.0
    traced = max(1.0, trace.ranks_per_host / network.cores_per_host) if network.cores_per_host else 1.0
    return max(1.0, turns / traced) * slowest(trace, ranks)


def slowest(trace: StepTrace, ranks: int) -> float:
    """The factor by which the slowest of some ranks computes longer than a typical one."""
    return 1.0 + trace.jitter * expected_maximum(ranks)
