"""The relay: exchange of ranks' states between hosts, which share no board, by messages of the watchdog threads.

The first rank of each host sends its host's states to those of other hosts while some rank has waited for long. A rank that
leaves its script notifies all hosts. While `dprun --top` watches, the first rank of dprun's host requests the others'
progress.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ..handle import outlive_python
from ..mpi.mpi_types import Intracomm, MPIModule

FAREWELL = 0.5                                       # seconds that an exiting rank waits for its last messages


class Relay:
    """One rank's end of the relay. others: the first ranks of the other hosts. is_leader: this is its host's first rank."""

    def __init__(self, mpi: MPIModule, comm: Intracomm, others: Sequence[int], is_leader: bool) -> None:
        self.mpi: MPIModule = mpi
        self.comm: Intracomm = comm
        self.others: Sequence[int] = others
        self.is_leader: bool = is_leader
        self._sending: list[Any] = []

    @classmethod
    def create(cls, world: Intracomm, mpi: MPIModule, node: Intracomm) -> Relay | None:
        """The relay of `world`, or None on one host or without a thread-safe MPI. node: this host's communicator.
        Collective."""
        infos = world.allgather((node.bcast(world.rank), mpi.Query_thread() == mpi.THREAD_MULTIPLE))
        firsts = {first for first, _ in infos}
        own_first = infos[world.rank][0]
        if len(firsts) == 1 or not all(several for _, several in infos):
            return None
        return cls(mpi, world.Dup(), sorted(firsts - {own_first}), world.rank == own_first)

    def send(self, items: Sequence[dict[str, Any]], now: float, to: Sequence[int] | None = None) -> None:
        """Send states to the other hosts (or `to`), with their age instead of their time: hosts' clocks differ."""
        if self.mpi.Is_finalized():                  # by the user
            return
        if self._in_flight() < 2 * len(self.others):           # else they do not receive
            aged = [{**item, "time": now - item["time"]} for item in items]
            self._sending += [self.comm.isend(aged, first) for first in (self.others if to is None else to)]

    def received(self, now: float) -> list[dict[str, Any]]:
        """The states that have arrived since the last call, oldest first."""
        items: list[dict[str, Any]] = []
        while not self.mpi.Is_finalized() and (message := self.comm.improbe()) is not None:
            items += [{**item, "time": now - item["time"]} for item in message.recv()]
        return items

    def announce_exit(self, item: dict[str, Any], now: float) -> None:
        """Send this rank's last state, and wait up to FAREWELL seconds for delivery."""
        self.send([item], now)
        until = time.monotonic() + FAREWELL
        while self._in_flight() and time.monotonic() < until:
            pass
        if self._sending:
            outlive_python(self._sending)

    def _in_flight(self) -> int:
        self._sending = [request for request in self._sending if not request.Test()]
        return len(self._sending)
