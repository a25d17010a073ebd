"""Clocks: the offset of a host's clock from that of the first rank's host, by ping-pong.

time.perf_counter_ns() is CLOCK_MONOTONIC on Linux, one clock per host; rates differ by millionths. Between two measurements
the offset changes evenly; after the last one the drift is read from the hosts' system clocks (NTP), which is less certain.

A round's offset puts the other clock's time in the middle between sending and receiving. A comparison's offset is the median
over the fastest 5 % of its rounds, wrong by at most half of such a round trip: its `bound`.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...comm.environment import host_identity

ROUNDS = 200
FASTEST = 0.05
DISTURBED = 4                        # offsets whose bound is larger than this times the smallest are not used


class Offset(NamedTuple):
    """At `at` (ns of this host's clock) the first rank's clock showed `at + offset`, within `bound` (ns)."""

    at: int
    offset: int
    bound: int


def compare_clocks(comm: Any, now: Callable[[], int] = time.perf_counter_ns,
                   identity: tuple[str, str] | None = None) -> Offset | None:
    """This rank's offset from rank 0; None if all ranks are on one host. One rank per host measures. Collective."""
    identities = comm.allgather_object([identity or host_identity()])
    own = identities[comm.rank]
    leaders = first_of_each(identities)
    if len(leaders) == 1:
        return None
    found: list[Offset | None] = [None] * comm.size
    found[0] = Offset(now(), 0, 0)
    for leader in leaders[1:]:
        if comm.rank == leader:
            found[leader] = serve(comm, now)
        elif comm.rank == 0:
            play(comm, leader, now)
    offsets = comm.allgather_object([found[comm.rank]])
    offset: Offset = offsets[identities.index(own)]
    return Offset(*offset)


def host_leaders(comm: Any) -> list[int]:
    """The first rank of each host. Collective."""
    return first_of_each(comm.allgather_object([host_identity()]))


def first_of_each(identities: Sequence[tuple[str, str]]) -> list[int]:
    """The index of the first occurrence of each identity."""
    return [identities.index(identity) for identity in dict.fromkeys(identities)]


def play(comm: Any, peer: int, now: Callable[[], int]) -> None:
    """Rank 0's side: answer each ping with the time of this clock."""
    for _ in range(ROUNDS):
        comm.recv(peer)
        comm.send(np.array([now()], np.int64), peer)


def serve(comm: Any, now: Callable[[], int]) -> Offset:
    """The other side: send pings, and record when each was sent and answered."""
    ping = np.zeros(1, np.int64)
    rounds = []
    for _ in range(ROUNDS):
        before = now()
        comm.send(ping, 0)
        theirs = int(comm.recv(0)[0])
        rounds.append((before, theirs, now()))
    return best(rounds)


def best(rounds: Sequence[tuple[int, int, int]]) -> Offset:
    """The offset of a comparison, from its rounds of (sent, the other's time, received)."""
    by_length = sorted(rounds, key=lambda r: r[2] - r[0])
    fastest = by_length[:max(1, int(len(rounds) * FASTEST))]
    offset = statistics.median_low([theirs - (before + after) // 2 for before, theirs, after in fastest])
    return Offset(fastest[0][2], offset, -(-(by_length[0][2] - by_length[0][0]) // 2))


class Clock:
    """From one host's clock to rank 0's.

    offsets: measured, by time. system: pairs (ns of this clock, ns of the system's clock); reference: rank 0's. They give
    the drift if fewer than two offsets were measured.
    """

    def __init__(self, offsets: Sequence[Offset], system: Sequence[tuple[int, int]] = (),
                 reference: Sequence[tuple[int, int]] = ()) -> None:
        least = min((offset.bound for offset in offsets), default=0)
        self.offsets: list[Offset] = [offset for offset in offsets if offset.bound <= DISTURBED * least + 1000]
        self.drift: float = 0.0                      # of the offset, after the last measurement and before the first
        self.measured: bool = len(self.offsets) > 1
        if self.measured:
            first, last = self.offsets[0], self.offsets[-1]
            self.drift = (last.offset - first.offset) / max(1, last.at - first.at)
        elif self.offsets and len(system) > 1 and len(reference) > 1:
            self.drift = rate(system) / rate(reference) - 1.0
        at = [float(offset.at) for offset in self.offsets]
        self._at, self._offset = np.array(at), np.array([float(offset.offset) for offset in self.offsets])

    @property
    def bound(self) -> int:
        """Half of the smallest round trips, in ns: the largest error of the measured offsets."""
        return max((offset.bound for offset in self.offsets), default=0)

    def aligned(self, times: Any) -> Any:
        """Times (an array of ns) converted to rank 0's clock."""
        if not self.offsets:
            return times
        offset = np.interp(times.astype(np.float64), self._at, self._offset)
        beyond = np.minimum(times - self._at[0], 0) + np.maximum(times - self._at[-1], 0)
        return times + np.rint(offset + self.drift * beyond).astype(np.int64)


def rate(pairs: Sequence[tuple[int, int]]) -> float:
    """The ns of the system's clock per ns of this clock."""
    (a, b), (c, d) = pairs[0], pairs[-1]
    return (d - b) / max(1, c - a)
