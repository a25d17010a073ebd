"""MPI communicators and requests that raise RankLost when a rank has died (under Open MPI's --with-ft ulfm).

ULFM is MPI Forum's proposal "User Level Failure Mitigation" (Bland et al., 2013). An operation that needs a dead rank raises
an error, as does every operation on a revoked communicator; Shrink() and Agree() work among the survivors. Only `dprun
--survive` uses these classes: a call costs 0.2 us more.
"""

from __future__ import annotations

import contextlib
import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

from ..lost import RankLost

LOSSES = frozenset(number for name in ("ERR_PROC_FAILED", "ERR_PROC_FAILED_PENDING", "ERR_REVOKED")
                   if (number := getattr(MPI, name, MPI.UNDEFINED)) != MPI.UNDEFINED)
VAGUE: frozenset[int] = frozenset((MPI.ERR_OTHER, MPI.ERR_INTERN, MPI.ERR_UNKNOWN))
PATIENCE = 1.0
CALLS = ("Allgather", "Allreduce", "Barrier", "Bcast", "Iprobe", "Recv", "Send", "Sendrecv", "bcast", "improbe", "recv",
         "send")
REQUESTS = ("Iallgather", "Iallgatherv", "Iallreduce", "Ialltoall", "Ialltoallv", "Ibarrier", "Ibcast", "Iexscan",
            "Igatherv", "Irecv", "Ireduce", "Ireduce_scatter", "Iscan", "Iscatterv", "Isend", "Issend", "isend")
MADE = ("Dup", "Split", "Split_type")
# Open MPI 5.0.11's blocking Allgatherv returns without an error and without data when a rank has died (3 runs of 3); the
# non-blocking ones did not (0 of 3). So blocking calls are used only where they passed the same test.
STARTED = ("Allgatherv", "Alltoall", "Alltoallv", "Exscan", "Gatherv", "Reduce", "Reduce_scatter", "Scan", "Scatterv")


class Deaths:
    """This process's knowledge of dead ranks. known: their number when the present membership was settled."""

    def __init__(self) -> None:
        self.known = 0

    def count(self) -> int:
        """The number of dead ranks of the job that MPI has detected."""
        return int(MPI.COMM_WORLD.Get_failed().size)

    def behind(self, error: Any) -> bool:
        """Whether a death caused an error of MPI; if that is "other", as over TCP, wait up to PATIENCE seconds for one."""
        kind = error.Get_error_class()
        if kind in LOSSES:
            return True
        until = time.monotonic() + (PATIENCE if kind in VAGUE else 0)
        while kind in VAGUE and self.count() <= self.known and time.monotonic() < until:
            with contextlib.suppress(MPI.Exception):
                MPI.COMM_WORLD.Iprobe(MPI.ANY_SOURCE, 0)         # lets MPI progress
            time.sleep(0.001)
        return kind in VAGUE and self.count() > self.known


deaths: Deaths = Deaths()


def lost() -> RankLost:
    """The error of a rank that detects that others have died."""
    dead = MPI.COMM_WORLD.Get_failed()
    numbers = dead.Translate_ranks(range(dead.size), MPI.COMM_WORLD.Get_group())
    who = f"rank{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}" if numbers else "a rank"
    return RankLost(f"{who} died, and this communicator is no longer usable: dparallel.survive calls its function again "
                    "on the surviving ranks; a script without it can be restarted (dprun --restarts)")


def guarded(call: Callable[..., Any], wrap: Callable[[Any], Any] | None = None) -> Callable[..., Any]:
    """The call, raising RankLost for a loss; wrap: applied to its result, to guard its calls, too."""
    def guard(self: Any, *args: Any, **settings: Any) -> Any:
        try:
            result = call(self, *args, **settings)
        except MPI.Exception as error:
            if deaths.behind(error):
                raise lost() from error
            raise
        return result if wrap is None else wrap(result)

    return guard


def made(call: Callable[..., Any]) -> Callable[..., Any]:
    """Dup, Split or Split_type, guarded so that no rank waits in the new communicator for one that failed to create it.

    ULFM lets the call fail on some ranks only, which can't revoke the new communicator. So every rank first confirms the
    creation with a collective on the old one.
    """
    def make(self: Any, *args: Any, **settings: Any) -> Any:
        new = call(self, *args, **settings)
        here = np.empty(self.size, np.uint8)
        try:
            self.Allgather(np.ones(1, np.uint8), here)
        except RankLost:
            if new != MPI.COMM_NULL:
                new.abandon()
            raise
        return new

    return make


class SurvivingRequest(MPI.Request):
    """A request whose Wait() and Test() raise RankLost."""

    Wait: Any = guarded(MPI.Request.Wait)
    Test: Any = guarded(MPI.Request.Test)


class SurvivingComm(MPI.Intracomm):
    """A communicator whose calls raise RankLost."""

    def agreed(self, flag: bool) -> bool:
        """Whether all its ranks are alive and pass True: the same answer on all, also after a loss. Collective."""
        try:
            return bool(self.Agree(int(flag)))
        except MPI.Exception as error:
            if deaths.behind(error):
                return False
            raise

    def survivors(self) -> SurvivingComm:
        """A communicator of the live ranks, in order. Collective among them."""
        return surviving(self.Shrink())

    def abandon(self) -> None:
        """Make every call of every rank on it an error, including pending ones."""
        try:
            self.Revoke()
        except MPI.Exception as error:
            if error.Get_error_class() not in LOSSES:
                raise

    def allgather(self, sendobj: Any) -> list[Any]:
        """All ranks' objects, pickled."""
        data = pickle.dumps(sendobj)
        sizes = np.empty(self.size, np.int64)
        self.Allgather(np.array([len(data)], np.int64), sizes)
        received = np.empty(int(sizes.sum()), np.uint8)
        self.Iallgatherv([data, MPI.BYTE], [received, sizes.tolist(), None, MPI.BYTE]).Wait()
        ends = np.cumsum(sizes).tolist()
        return [pickle.loads(received[end - size:end].tobytes()) for end, size in zip(ends, sizes.tolist(), strict=True)]


def started(name: str) -> Callable[..., Any]:
    """A blocking collective implemented as the non-blocking one and a wait."""
    def call(self: Any, *args: Any, **settings: Any) -> None:
        getattr(self, "I" + name.lower())(*args, **settings).Wait()

    return call


def surviving(comm: Any) -> Any:
    """The same communicator, with errors as exceptions; COMM_NULL for none."""
    if comm == MPI.COMM_NULL:
        return comm
    made = SurvivingComm(comm)
    made.Set_errhandler(MPI.ERRORS_RETURN)
    return made


for _name in CALLS:
    setattr(SurvivingComm, _name, guarded(getattr(MPI.Intracomm, _name)))
for _name in REQUESTS:
    setattr(SurvivingComm, _name, guarded(getattr(MPI.Intracomm, _name), SurvivingRequest))
for _name in MADE:
    setattr(SurvivingComm, _name, made(guarded(getattr(MPI.Intracomm, _name), surviving)))
for _name in STARTED:
    setattr(SurvivingComm, _name, started(_name))
