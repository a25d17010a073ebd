"""Ranks as threads of one process: MPI's semantics where a debugger can follow, for tests and notebooks."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .base import Array, Communicator, Handle
from .call import ONE_RESULT, Call, check
from .definition import combined, results

GRACE = 5.0                          # seconds that the other ranks get to end after one has failed


class RankFailure(RuntimeError):
    """A rank left early, never came, or another one failed. `rank` says which one is to blame, if it is known."""

    def __init__(self, message: str, rank: int | None = None) -> None:
        super().__init__(message)
        self.rank = rank


class Meeting:
    """Where the ranks meet: for each collective, by its number, what each rank brings."""

    def __init__(self, size: int, timeout: float) -> None:
        self.size, self.timeout = size, timeout
        self.change = threading.Condition()
        self.brought: dict[Any, dict[int, Any]] = {}
        self.taken: dict[Any, int] = {}
        self.waiting: dict[int, str] = {}            # rank -> the collective that it waits in
        self.left: set[int] = set()
        self.failure: tuple[int | None, BaseException] | None = None

    def bring(self, number: Any, rank: int, item: Any) -> None:
        """Put down what this rank brings to collective `number`; does not wait."""
        with self.change:
            self.brought.setdefault(number, {})[rank] = item
            self.change.notify_all()

    def complete(self, number: Any) -> bool:
        """Whether all ranks have brought theirs."""
        with self.change:
            return len(self.brought.get(number, ())) == self.size

    def collect(self, number: Any, rank: int, what: str) -> list[Any]:
        """What all ranks brought, once they have. RankFailure if one can't come any more, or time runs out."""
        deadline = time.monotonic() + self.timeout
        with self.change:
            self.waiting[rank] = what
            while len(self.brought[number]) < self.size:
                self._check(number, rank, what)
                if not self.change.wait(max(0.0, deadline - time.monotonic())) and time.monotonic() >= deadline:
                    raise RankFailure(f"rank {rank} waited {self.timeout:g} s in {what}: {self.whereabouts()}")
            del self.waiting[rank]
            items = [self.brought[number][place] for place in range(self.size)]
            self.taken[number] = self.taken.get(number, 0) + 1
            if self.taken[number] == self.size:
                del self.brought[number], self.taken[number]
            return items

    def _check(self, number: Any, rank: int, what: str) -> None:
        if self.failure is not None:
            failed, error = self.failure
            raise RankFailure(f"rank {rank} was in {what} when rank {failed} failed: {error!r}", failed)
        missing = sorted(place for place in self.left if place not in self.brought[number])
        if missing:
            raise RankFailure(f"rank {rank} waits in {what}, but rank {missing[0]} has returned and will never come: "
                              f"{self.whereabouts()}", missing[0])

    def whereabouts(self) -> str:
        """Where each rank is."""
        return "; ".join(f"rank {place} " + ("has returned" if place in self.left else
                                             f"waits in {self.waiting[place]}" if place in self.waiting else
                                             "is not in a collective") for place in range(self.size))

    def leave(self, rank: int | None, error: BaseException | None) -> None:
        """Note that a rank has ended (None: that all must end)."""
        with self.change:
            if rank is not None:
                self.left.add(rank)
            if error is not None and self.failure is None:
                self.failure = (rank, error)
            self.change.notify_all()

    def ended(self) -> list[int]:
        """Wait until all ranks have ended, or GRACE seconds after a failure; the ranks that have not."""
        deadline = None
        with self.change:
            while len(self.left) < self.size:
                if self.failure is not None:
                    deadline = time.monotonic() + GRACE if deadline is None else deadline
                    if time.monotonic() >= deadline:
                        break
                self.change.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
            return sorted(set(range(self.size)) - self.left)


class ThreadComm(Communicator):
    """One rank of a Meeting."""

    kind = "threads"

    def __init__(self, meeting: Meeting, rank: int, channel: tuple[int, ...] = ()) -> None:
        self.size, self.held = meeting.size, (rank,)
        self._meeting, self._channel = meeting, channel
        self._number = self._duplicates = 0

    def _bring(self, call: Call, item: Any) -> tuple[Callable[[], tuple[list[Call], list[Any]]], Callable[[], bool]]:
        """Bring a call and an item to the next collective; functions to collect all ranks', and to test for them."""
        number, rank, meeting = (self._channel, self._number), self.rank, self._meeting
        self._number += 1
        meeting.bring(number, rank, (call, item))

        def collect() -> tuple[list[Call], list[Any]]:
            pairs = meeting.collect(number, rank, str(call))
            calls = [call for call, _ in pairs]
            check(calls)
            return calls, [item for _, item in pairs]

        return collect, lambda: meeting.complete(number)

    def _exchange(self, calls: list[Call]) -> list[Call]:
        return self._bring(calls[0], None)[0]()[0]

    def _start(self, calls: list[Call], xs: list[Array], now: bool) -> Handle:
        collect, test = self._bring(calls[0], np.array(xs[0], order="C"))      # others may read it after we went on

        def finish() -> Any:
            value = results(*collect(), self.held)
            return value[0] if calls[0].name in ONE_RESULT else value

        return Handle(finish, test)

    def start_sum_in_place(self, arrays: Sequence[Array]) -> Handle:
        """The sum in rank order."""
        array = arrays[0]
        collect, test = self._bring(Call("sum_in_place", self.size, array), array.copy())
        return Handle(lambda: np.copyto(array, combined(collect()[1], "sum")), test)

    def duplicate(self) -> ThreadComm:
        """The same meeting, with collectives numbered apart."""
        self._duplicates += 1
        return ThreadComm(self._meeting, self.rank, (*self._channel, self._duplicates))

    def free(self) -> None:
        """Nothing to do: what it holds goes with the meeting."""

    def abort(self, message: str) -> None:
        """Fail this rank, and with it all."""
        raise RankFailure(f"rank {self.rank} aborted: {message}", self.rank)


def run_ranks(size: int, function: Callable[..., Any], *args: Any, timeout: float = 60.0,
              network: Any = None) -> list[Any]:
    """Call function(comm, *args) on `size` threads, each a rank with its own communicator; their results by rank.

    If a rank raises, the others are released from their collectives, and the first rank's exception is raised here,
    with its own traceback and a note that names the rank. RankFailure, naming who is where, if a rank returns while
    others wait for it, or if one waits in a collective for more than `timeout` seconds. With network, a simulated
    dparallel.testing.Network, calls arrive late and handles complete out of order.

    >>> run_ranks(3, lambda comm: comm.allreduce([np.array(1.0)])[0].item())
    [3.0, 3.0, 3.0]
    """
    if not isinstance(size, (int, np.integer)) or size < 1:
        raise ValueError(f"run_ranks({size!r}): a whole number of ranks, at least one")
    meeting = Meeting(size, timeout)
    values: list[Any] = [None] * size

    def body(rank: int) -> None:
        failure: BaseException | None = None
        try:
            comm = ThreadComm(meeting, rank)
            if network is None:
                values[rank] = function(comm, *args)
            else:
                comm = network.joined(comm)
                values[rank] = function(comm, *args)
                comm.settle()
        except BaseException as error:               # whatever it is, it is raised in the caller's thread
            failure = error
        meeting.leave(rank, failure)

    for rank in range(size):
        threading.Thread(target=contextvars.copy_context().run, args=(body, rank), name=f"rank {rank}", daemon=True).start()
    try:
        late = meeting.ended()
    except BaseException as error:                   # the user's Ctrl-C: let no rank wait for ever
        meeting.leave(None, error)
        raise
    if meeting.failure is not None:
        failed, first = meeting.failure
        note(first, f"rank {failed} of {size} failed" + (f"; ranks {late} had not ended {GRACE:g} s later" if late else ""))
        raise first
    return values


def note(error: BaseException, text: str) -> None:
    """Add a line to an exception's message."""
    if hasattr(error, "add_note"):
        error.add_note(text)
    elif error.args and isinstance(error.args[0], str):      # Python 3.10
        error.args = (f"{error.args[0]}\n{text}", *error.args[1:])
