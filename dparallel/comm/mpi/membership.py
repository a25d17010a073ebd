"""Membership: the active ranks of a job that survives failed ranks (`dprun --survive`).

`everyone` is the communicator of all live processes. The active ones also share that of world(); the others are spares
(`--grow`), which wait. The first process to notice a failed rank revokes all communicators, so all abort pending
communication, shrink `everyone`, exchange their states, and the new members create a communicator. Each step ends with an
agreement (MPIX_Comm_agree), equal on all live processes; if another process fails meanwhile, they start again.
"""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any, NamedTuple

from mpi4py import MPI

from ..environment import environment
from ..handle import obligations, outlive_python
from ..lost import RankLost
from ..watchdog.stall import end_job, watch, write_report
from .communicator import MpiComm
from .surviving import SurvivingComm, deaths, surviving

FINISHED = 1                                         # the tag of the message that dismisses a spare
NAP = 0.01                                           # seconds between two polls of a spare


class Member(NamedTuple):
    """A process's state: its rank in COMM_WORLD, whether it is active, the number of its last membership, its host."""

    number: int
    active: bool
    generation: int
    host: str


class Membership:
    """This process's part in a job of `size` active ranks, at least `least`."""

    def __init__(self, size: int, least: int) -> None:
        self.size: int = size
        self.least: int = least
        self.number: int = int(MPI.COMM_WORLD.rank)
        self.active: bool = self.number < size
        self.generation: int = -1                    # the number of earlier memberships
        self.members: list[int] = []                 # active ranks, as ranks in COMM_WORLD
        self.spares: int = 0                         # the number of other live processes
        self.lost: list[int] = []                    # ranks that were active before and are not now
        self.comm: MpiComm | None = None             # of the active ranks
        self._everyone: SurvivingComm = surviving(MPI.COMM_WORLD)
        self._raw: SurvivingComm | None = None       # self.comm's, before it was duplicated
        self._agrees = False                         # no rank has voted False in an agreement of this membership

    def settle(self) -> MpiComm:
        """The communicator of the active ranks, once all agree. A spare waits here, or raises SystemExit if it is never
        needed. RankLost if fewer than `least` are left."""
        while True:
            try:
                comm = self._settle()
            except RankLost:
                self._abandon()
                continue
            if comm is not None:
                return comm
            self._wait_until_needed()

    def recover(self) -> MpiComm:
        """Abort pending communication after a rank was lost, then settle()."""
        self.leave()
        return self.settle()

    def leave(self) -> None:
        """Abandon all communicators of this process, after all active ranks have agreed to do so."""
        self._abandon()
        if self._agrees and self._raw is not None:
            self._agrees = self._raw.agreed(False)
        obligations.settle = None

    def _abandon(self) -> None:
        """Make every pending operation of this process's communicators an error."""
        with contextlib.suppress(RankLost):
            self._everyone.abandon()
        for comm in watch(MPI).communicators():
            comm.abandon()
        if self._raw is not None:
            self._raw.abandon()

    def entered(self) -> int:
        """The number of collectives and messages that this process has started, on its present communicators."""
        return sum(comm.entered + comm.messages for comm in watch(MPI).communicators())

    def clock(self) -> int:
        """The number of collectives that all active ranks have entered together, the same on all of them after each."""
        return sum(comm.entered for comm in watch(MPI).communicators() if comm.size == len(self.members))

    def agreed(self) -> bool:
        """Whether all active ranks are alive and have called this; the same answer on all live ranks. Collective.

        Ranks that do not call this call leave(), which votes False: an agreement waits for all live ranks.
        """
        assert self._raw is not None
        self._agrees = self._raw.agreed(True)
        return self._agrees

    def finish(self) -> bool:
        """Whether all active ranks have finished, so that none needs another any more; spares are then dismissed."""
        assert self.comm is not None
        self.comm.entered, self.comm.waiting = self.comm.entered + 1, "the end of the function under survive()"
        agreed = self.agreed()
        self.comm.waiting = None
        if not agreed:
            return False
        requests = []
        for rank in range(self._everyone.size):
            if self._numbers[rank] not in self.members:
                with contextlib.suppress(RankLost):  # that spare has died
                    requests.append(self._everyone.Isend(bytearray(1), rank, FINISHED))
        outlive_python(requests)
        return True

    # --- one attempt ----------------------------------------------------------------------------------------------------

    def _settle(self) -> MpiComm | None:
        """Agree on the active ranks. Returns their communicator (None on a spare). RankLost if a process dies meanwhile."""
        everyone = self._everyone = self._everyone.survivors()
        deaths.known = MPI.COMM_WORLD.size - everyone.size
        mine = Member(self.number, self.active, self.generation, MPI.Get_processor_name())
        table: list[Member] = self._together(lambda: everyone.allgather(mine))
        self._numbers = [member.number for member in table]
        generation = max(member.generation for member in table) + 1
        members, begun = self._chosen(table), generation > 0
        self.spares = len(table) - len(members)
        if len(members) < self.least or (begun and not any(member.active for member in table)):
            self._too_few(members)
        self._together(lambda: watch(MPI).share(MPI, everyone, again=begun))
        here = self.number in members
        # a failure while a communicator is created can crash Open MPI 5.0.11 (Split in 7 of 34 tries): create few
        raw = everyone if members == self._numbers else self._together(
            lambda: everyone.Split(0 if here else MPI.UNDEFINED, members.index(self.number) if here else 0))
        self._raw, self._agrees = raw if here else None, here
        comm = self._together(lambda: MpiComm(raw) if here else None)
        if not here:
            self.generation, self.members = generation, members
            return None
        self.lost = [number for number in self.members if number not in members]
        self.members, self.generation, self.active, self.comm = members, generation, True, comm
        hosts = {member.number: member.host for member in table}
        local = [number for number in members if hosts[number] == mine.host]
        environment.set_rank(members.index(self.number), len(members), local.index(self.number), len(local))
        return comm

    def _together(self, step: Any) -> Any:
        """The result of a collective step, if it succeeds on all; else RankLost on all."""
        result, done = None, False
        try:
            result, done = step(), True
        except RankLost:
            self._everyone.abandon()                 # others may wait in it
        if not self._everyone.agreed(done):
            raise RankLost("a process died while the surviving ranks agreed on the new membership")
        return result

    def _chosen(self, table: list[Member]) -> list[int]:
        """The active ranks, in order, then as many spares as are missing."""
        members = [member.number for member in table if member.active]
        spares = [member.number for member in table if not member.active]
        return members + spares[:max(0, self.size - len(members))]

    def _too_few(self, members: list[int]) -> None:
        """End the job."""
        if self._everyone.rank == 0:
            text = (f"dparallel: {len(members)} of {self.size} ranks are left, fewer than the minimum of {self.least} "
                    "(--min-n)")
            if not write_report(self.number, text):
                sys.stderr.write(text + "\n")
                sys.stderr.flush()
        time.sleep(0.2)                              # dprun reads the report
        end_job(1)

    def _wait_until_needed(self) -> None:
        """Wait as a spare until the active ranks begin to settle; SystemExit when they have finished or all failed."""
        working = set(self.members)
        while True:
            time.sleep(NAP)
            try:
                if self._everyone.Iprobe(MPI.ANY_SOURCE, FINISHED):
                    raise SystemExit(0)
            except RankLost:
                pass
            if self._everyone.Is_revoked():
                return
            failed = self._everyone.Get_failed()
            if failed.size:
                self._everyone.Ack_failed()          # else Iprobe raises from now on
                gone = {self._numbers[rank] for rank in failed.Translate_ranks(range(failed.size),
                                                                               self._everyone.Get_group())}
                if working <= gone:
                    self._too_few([])


def launched_membership() -> Membership | None:
    """The membership of this job if `dprun --survive` started it."""
    size = environment.survive_size
    return Membership(size, environment.survive_least) if size else None
