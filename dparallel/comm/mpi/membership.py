"""Who takes part in a job that outlives its ranks (`dprun --survive`).

`everyone` is the communicator of all processes that live. Those at work have another one among them, that of world(); the
others are spares (`--grow`), which wait until one is needed. When a rank has died, whoever notices it revokes all
communicators. So all leave what they wait in, shrink `everyone`, tell each other what they are, and those that go on get a
communicator of their own. If another one dies meanwhile they begin again: each step ends with an agreement
(MPIX_Comm_agree), whose answer is the same on all that live.
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
NAP = 0.01                                           # seconds between two looks of a spare


class Member(NamedTuple):
    """What a process tells the others: its rank in COMM_WORLD, whether it is at work, its last membership's number, its
    host."""

    number: int
    at_work: bool
    generation: int
    host: str


class Membership:
    """This process's part in a job of `size` ranks at work, `least` at least."""

    def __init__(self, size: int, least: int) -> None:
        self.size: int = size
        self.least: int = least
        self.number: int = int(MPI.COMM_WORLD.rank)
        self.at_work: bool = self.number < size
        self.generation: int = -1                    # of the present membership: how many there were before it
        self.members: list[int] = []                 # those at work, by their ranks in COMM_WORLD
        self.spares: int = 0                         # how many others live
        self.lost: list[int] = []                    # those at work before that are not now
        self.comm: MpiComm | None = None             # of those at work
        self._everyone: SurvivingComm = surviving(MPI.COMM_WORLD)
        self._raw: SurvivingComm | None = None       # self.comm's, before it was duplicated
        self._agrees = False                         # nobody has said no in an agreement of this membership

    def settle(self) -> MpiComm:
        """The communicator of those at work, once all agree on who they are. A spare waits here until it is one of them; if
        it never is, SystemExit. RankLost if fewer than `least` are left."""
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
        """Leave everything that is under way, after a rank was lost; then settle()."""
        self.leave()
        return self.settle()

    def leave(self) -> None:
        """Abandon all communicators of this process, after all at work have agreed that they leave."""
        self._abandon()
        if self._agrees and self._raw is not None:
            self._agrees = self._raw.agreed(False)
        obligations.settle = None

    def _abandon(self) -> None:
        """Make whatever waits in a communicator of this process an error."""
        with contextlib.suppress(RankLost):
            self._everyone.abandon()
        for comm in watch(MPI).communicators():
            comm.abandon()
        if self._raw is not None:
            self._raw.abandon()

    def entered(self) -> int:
        """How many collectives and messages this process has begun, on the communicators there are."""
        return sum(comm.entered + comm.messages for comm in watch(MPI).communicators())

    def clock(self) -> int:
        """How many collectives all at work have entered together: after each, the same number on all of them."""
        return sum(comm.entered for comm in watch(MPI).communicators() if comm.size == len(self.members))

    def agreed(self) -> bool:
        """Whether all at work live and have come here: the same answer on all that live. Collective; those that do not come
        here come to leave(), and say no, since an agreement waits for all that live, whatever is revoked."""
        assert self._raw is not None
        self._agrees = self._raw.agreed(True)
        return self._agrees

    def finish(self) -> bool:
        """Whether all at work have come to the end, so that none needs another any more; then spares are dismissed."""
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
        """Agree on who is at work; their communicator, None for a spare. RankLost if a process dies meanwhile."""
        everyone = self._everyone = self._everyone.survivors()
        deaths.known = MPI.COMM_WORLD.size - everyone.size
        mine = Member(self.number, self.at_work, self.generation, MPI.Get_processor_name())
        table: list[Member] = self._together(lambda: everyone.allgather(mine))
        self._numbers = [member.number for member in table]
        generation = max(member.generation for member in table) + 1
        members, begun = self._chosen(table), generation > 0
        self.spares = len(table) - len(members)
        if len(members) < self.least or (begun and not any(member.at_work for member in table)):
            self._too_few(members)
        self._together(lambda: watch(MPI).share(MPI, everyone, again=begun))
        here = self.number in members
        # a death while a communicator is made can crash Open MPI 5.0.11 (Split in 7 of 34 tries): as few as possible are
        raw = everyone if members == self._numbers else self._together(
            lambda: everyone.Split(0 if here else MPI.UNDEFINED, members.index(self.number) if here else 0))
        self._raw, self._agrees = raw if here else None, here
        comm = self._together(lambda: MpiComm(raw) if here else None)
        if not here:
            self.generation, self.members = generation, members
            return None
        self.lost = [number for number in self.members if number not in members]
        self.members, self.generation, self.at_work, self.comm = members, generation, True, comm
        hosts = {member.number: member.host for member in table}
        local = [number for number in members if hosts[number] == mine.host]
        environment.set_rank(members.index(self.number), len(members), local.index(self.number), len(local))
        return comm

    def _together(self, step: Any) -> Any:
        """What a collective step returns, if it succeeds on all; else RankLost on all."""
        result, done = None, False
        try:
            result, done = step(), True
        except RankLost:
            self._everyone.abandon()                 # others may wait in it
        if not self._everyone.agreed(done):
            raise RankLost("a process died while the ranks of a job agreed on who is left")
        return result

    def _chosen(self, table: list[Member]) -> list[int]:
        """Those at work, in their order, then as many spares as they lack."""
        members = [member.number for member in table if member.at_work]
        spares = [member.number for member in table if not member.at_work]
        return members + spares[:max(0, self.size - len(members))]

    def _too_few(self, members: list[int]) -> None:
        """End the job."""
        if self._everyone.rank == 0:
            text = (f"dparallel: {len(members)} of {self.size} ranks are left, and the least number is {self.least} "
                    "(--min-n)")
            if not write_report(self.number, text):
                sys.stderr.write(text + "\n")
                sys.stderr.flush()
        time.sleep(0.2)                              # in which the report is read
        end_job(1)

    def _wait_until_needed(self) -> None:
        """A spare's life: return when those at work begin to settle; SystemExit when they are done, or all dead."""
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
                self._everyone.Ack_failed()          # else Iprobe is an error from now on
                gone = {self._numbers[rank] for rank in failed.Translate_ranks(range(failed.size),
                                                                               self._everyone.Get_group())}
                if working <= gone:
                    self._too_few([])


def launched_membership() -> Membership | None:
    """The membership of this job, if `dprun --survive` has started it."""
    size = environment.survive_size
    return Membership(size, environment.survive_least) if size else None


__all__ = ["Membership", "launched_membership"]
