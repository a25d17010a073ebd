"""Each rank's state, whether it can still make progress, and the text that reports it.

A waiting rank needs the members of its communicator that have not entered the collective of that number. If one has left its
script, or waits for a rank that needs it, it will never arrive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Wait:
    """A rank's wait in a collective: text, communicator's key, the collective's number, the ranks (by number in the job),
    and for how long; of a message also the peers, if known, and the tag."""

    what: str
    key: str
    number: int
    members: Sequence[int]
    seconds: float
    peers: Sequence[int] | None = None
    tag: str = ""

    @property
    def kind(self) -> str:
        """The collective's name."""
        return self.what.partition("(")[0].partition(" ")[0]


@dataclass
class State:
    """A rank's state at `time` (seconds, one clock for all ranks of a host).

    counts   collectives entered so far, by communicator; a missing one is unknown
    site     the line of the user's file        last   the last collective, if it is not waiting
    left     how it ended, if it did
    threads  whether other threads of it might continue while it waits
    process, started   its process number, and when the system started it
    vitals   its progress, for `dprun --top`
    """

    rank: int
    time: float
    counts: Mapping[str, int] = field(default_factory=dict)
    wait: Wait | None = None
    site: str = ""
    last: str = ""
    left: str = ""
    threads: bool = True
    process: int = 0
    started: int = -1
    vitals: Mapping[str, Any] = field(default_factory=dict)

    def line(self, now: float, silent_after: float, numbered: bool = False) -> str:
        """The state as a line of a report. silent_after: seconds after which it says that the rank is silent; numbered: with
        the collective's number and communicator."""
        place = f" at {self.site}" if self.site else ""
        last = f" (last collective: {self.last})" if self.last else ""
        if self.left:
            return f"rank {self.rank} {self.left}{last}"
        quiet = f"; not heard from for {now - self.time:.0f} s" if now - self.time > silent_after else ""
        if self.wait is None:
            return f"rank {self.rank} is not in a collective; it is{place or ' at an unknown line'}{last}{quiet}"
        seconds = self.wait.seconds + now - self.time
        which = f" (number {self.wait.number} of communicator {self.wait.key})" if numbered else ""
        long = f"{seconds:.{0 if seconds > 9.9 else 1}f} s"
        return f"rank {self.rank} has waited {long} in {self.wait.what}{which}{place}{quiet}"


States = Mapping[int, State]


def needed(state: State, states: States) -> list[int]:
    """The ranks without which a waiting rank can't continue."""
    wait = state.wait
    if wait is None:
        return []
    if wait.peers is not None:
        return [peer for peer in wait.peers if peer != state.rank and not _match_each_other(state, states.get(peer))]
    return [rank for rank in wait.members if rank != state.rank
            and rank in states and states[rank].counts.get(wait.key, wait.number) < wait.number]


def _match_each_other(state: State, other: State | None) -> bool:
    """Whether one rank is sending what the other receives: a large message may take its time."""
    a, b = state.wait, other and other.wait
    return bool(a and b and a.tag and b.peers and other and other.rank in (a.peers or ()) and state.rank in b.peers
                and (a.key, a.tag, {a.kind, b.kind}) == (b.key, b.tag, {"send", "recv"}))


def departed_rank(states: States, settle_seconds: float) -> str:
    """The text that names a rank that has left and that a waiting one needs; "" if there is none.

    settle_seconds: how long to wait for a message in flight: the receiver's state may be older than the sender's end.
    """
    for state in states.values():
        for rank in needed(state, states):
            other = states.get(rank)
            if other is not None and other.left and state.wait is not None \
                    and (state.wait.peers is None or min(state.wait.seconds, state.time - other.time) >= settle_seconds):
                return f"rank {rank} {other.left}, but rank {state.rank} still waits for it"
    return ""


def deadlock(states: States, settle_seconds: float) -> str:
    """The text that explains why ranks that wait for each other can't continue; "" if they can, or if it is not certain."""
    clash = _clash(states)
    if clash:
        return clash
    ring = _ring({rank: needed(state, states) for rank, state in states.items() if state.wait is not None})
    waits: list[Any] = [(states[rank], states[rank].wait) for rank in ring]
    together = ring and max(s.time - w.seconds for s, w in waits) < min(s.time for s, _ in waits)
    if not together or any(w.seconds < (settle_seconds / 5 if w.peers is None else settle_seconds) for _, w in waits):
        return ""
    return f"deadlock: rank {ring[0]} waits for rank " + ", which waits for rank ".join(map(str, [*ring[1:], ring[0]]))


def is_certain(states: States) -> bool:
    """Whether ranks that wait for each other will do so for ever: none has another thread that could communicate."""
    return not any(state.threads for state in states.values() if state.wait is not None)


def _clash(states: States) -> str:
    """The text that names two ranks in different collectives under one number; only unchecked collectives can get there."""
    first: dict[tuple[str, int], State] = {}
    for state in states.values():
        if state.wait is not None and state.wait.peers is None:
            other = first.setdefault((state.wait.key, state.wait.number), state)
            if other.wait is not None and other.wait.kind != state.wait.kind:
                return f"rank {other.rank} and rank {state.rank} are in different collectives"
    return ""


def _ring(graph: Mapping[int, Sequence[int]]) -> list[int]:
    """Ranks of which each waits for the next, and the last for the first; empty if there is no such ring."""
    for start in graph:
        path, open_ = [start], [iter(graph[start])]
        seen = {start}
        while path:
            step = next((r for r in open_[-1] if r in graph and (r not in seen or r in path)), None)
            if step is None:
                path.pop()
                open_.pop()
            elif step in path:
                return path[path.index(step):]
            else:
                seen.add(step)
                path.append(step)
                open_.append(iter(graph[step]))
    return []


def report(title: str, states: States, ranks: Sequence[int], now: float, silent_after: float) -> str:
    """A title and a line for each rank; ranks without a state are listed at the end."""
    numbered = len({(s.wait.key, s.wait.number) for s in states.values() if s.wait is not None and s.wait.peers is None}) > 1
    lines = [f"dparallel: {title}"]
    lines += [f"  {states[rank].line(now, silent_after, numbered)}" for rank in ranks if rank in states]
    missing = [rank for rank in ranks if rank not in states]
    if missing:
        lines.append(f"  rank{'s' * (len(missing) > 1)} {', '.join(map(str, missing))}: on another host and not heard "
                     "from, or not in dparallel.world() yet")
    return "\n".join(lines)
