"""Ranks as threads of one process: MPI's semantics where a debugger can follow, for tests and notebooks."""

from __future__ import annotations

import contextvars
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd.core.random import Generator, branches, using_generator

from .base import Array, Communicator, Handle
from .handle import obligations
from .header import ONE_RESULT, Call, explain, verdict
from .messages import may_stay
from .reference import combined, results
from .watchdog.call_site import Site, at, here

SETTLED = 3.0                        # seconds after which a rank looks whether all wait, who will then wait for ever
MESSAGE = "message"                  # keys of what one rank brings for one other begin with it
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
        self.lock = threading.Lock()
        self.end = threading.Condition(self.lock)    # of a rank
        self.brought: dict[Any, dict[int, Any]] = {}
        self.taken: dict[Any, int] = {}
        self.awaited: dict[Any, threading.Condition] = {}    # each its own: to wake a thread costs 5 to 50 us
        # rank -> the number of the collective that it waits in, what it is, the user's line, how many ranks must come
        self.waiting: dict[int, tuple[Any, object, Site | None, int]] = {}
        self.left: set[int] = set()
        self.failure: tuple[int | None, BaseException] | None = None

    def bring(self, number: Any, rank: int, item: Any, wanted: int) -> None:
        """Put down what this rank brings to collective `number`, as one of so many ranks; does not wait."""
        with self.lock:
            brought = self.brought.setdefault(number, {})
            brought[rank] = item
            if len(brought) == wanted and number in self.awaited:
                self.awaited[number].notify_all()

    def complete(self, number: Any, ranks: Sequence[int]) -> bool:
        """Whether these ranks have brought theirs."""
        with self.lock:
            return len(self.brought.get(number, ())) == len(ranks)

    def collect(self, number: Any, rank: int, what: object, ranks: Sequence[int], readers: int) -> list[Any]:
        """What these ranks brought, once they have; forgotten when `readers` ranks have asked for it. RankFailure if one
        can't come any more, or time runs out."""
        deadline = time.monotonic() + self.timeout
        with self.lock:
            self.waiting[rank] = (number, what, here(), len(ranks))
            came = self.awaited.setdefault(number, threading.Condition(self.lock))
            while len(self.brought.get(number, ())) < len(ranks):
                self._check(number, rank, what, ranks)
                if came.wait(min(SETTLED, max(0.0, deadline - time.monotonic()))):
                    continue
                if time.monotonic() >= deadline:
                    raise RankFailure(f"rank {rank} waited {self.timeout:g} s in {what}: {self.whereabouts()}")
                if self._stuck():
                    raise RankFailure(f"deadlock: every rank waits for another: {self.whereabouts()}")
            self.waiting.pop(rank, None)
            items = [self.brought[number][place] for place in ranks]
            self.taken[number] = self.taken.get(number, 0) + 1
            if self.taken[number] == readers:
                del self.brought[number], self.taken[number], self.awaited[number]
            return items

    def look_until(self, look: Callable[[], bool], rank: int, what: str, ranks: Sequence[int]) -> None:
        """Look until it is true. RankFailure if a rank has failed, all others have returned, or time runs out."""
        deadline = time.monotonic() + self.timeout
        while not look():
            with self.lock:
                if self.failure is not None:
                    failed, error = self.failure
                    raise RankFailure(f"rank {rank} was in {what} when rank {failed} failed: {error!r}", failed)
                alone = self.left.issuperset(set(ranks) - {rank})
                if time.monotonic() >= deadline:
                    raise RankFailure(f"rank {rank} waited {self.timeout:g} s in {what}: {self.whereabouts()}")
            if alone and not look():                 # what they sent before they left is there by now
                raise RankFailure(f"rank {rank} waits in {what}, but all other ranks have returned")
            time.sleep(1e-4)

    def _check(self, number: Any, rank: int, what: object, ranks: Sequence[int]) -> None:
        if self.failure is not None:
            failed, error = self.failure
            raise RankFailure(f"rank {rank} was in {what} when rank {failed} failed: {error!r}", failed)
        missing = sorted(place for place in self.left if place in ranks and place not in self.brought.get(number, ()))
        if missing:
            raise RankFailure(f"rank {rank} waits in {what}, but rank {missing[0]} has returned and will never come: "
                              f"{self.whereabouts()}", missing[0])

    def _stuck(self) -> bool:
        """Whether all ranks wait, none of them for what is complete."""
        return len(self.waiting) == self.size and all(
            len(self.brought.get(number, ())) < wanted for number, _, _, wanted in self.waiting.values())

    def whereabouts(self) -> str:
        """Where each rank is."""
        told = {place: f"waits in {what}{at(site)}" for place, (_, what, site, _) in self.waiting.items()}
        told.update(dict.fromkeys(self.left, "has returned"))
        return "; ".join(f"rank {place} {told.get(place, 'is not in a collective')}" for place in range(self.size))

    def leave(self, rank: int | None, error: BaseException | None) -> None:
        """Note that a rank has ended (None: that all must end)."""
        with self.lock:
            if rank is not None:
                self.left.add(rank)
            if error is not None and self.failure is None:
                self.failure = (rank, error)
            for condition in (*self.awaited.values(), self.end):
                condition.notify_all()

    def check_messages(self) -> None:
        """RankFailure if a message was never received; for when all ranks have ended."""
        lost = [f"rank {rank}: {call} to its group's place {number[3]}, tag {number[4]}" if number[4] >= 0 else
                f"rank {rank}: the gradient of a message, to its group's place {number[3]}"
                for number, brought in self.brought.items() if number[0] == MESSAGE
                for rank, (call, _) in brought.items() if not may_stay(number[4], call.value)]
        if lost:
            raise RankFailure("messages were sent and never received: " + "; ".join(lost[:8]))

    def ended(self) -> list[int]:
        """Wait until all ranks have ended, or GRACE seconds after a failure; the ranks that have not."""
        deadline = None
        with self.lock:
            while len(self.left) < self.size:
                if self.failure is not None:
                    deadline = time.monotonic() + GRACE if deadline is None else deadline
                    if time.monotonic() >= deadline:
                        break
                self.end.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
            return sorted(set(range(self.size)) - self.left)


class ThreadComm(Communicator):
    """One rank of a Meeting, or of a group of its ranks."""

    kind = "threads"

    def __init__(self, meeting: Meeting, rank: int, channel: tuple[int, ...] = (),
                 ranks: Sequence[int] | None = None) -> None:
        self._ranks = range(meeting.size) if ranks is None else ranks        # the meeting's, in this communicator's order
        self.size, self.held = len(self._ranks), (self._ranks.index(rank),)
        self._meeting, self._channel, self._me = meeting, channel, rank
        self._number = self._duplicates = 0
        self._lines: Counter[Any] = Counter()        # messages so far, by way and tag

    def _bring(self, call: Call, item: Any) -> tuple[Callable[[], tuple[list[Call], list[Any]]], Callable[[], bool]]:
        """Bring a call and an item to the next collective; functions to collect all ranks', and to test for them."""
        obligations.before_waiting()
        number, rank, meeting, ranks = (self._channel, self._number), self._me, self._meeting, self._ranks
        self._number += 1
        call.answers = self.answers
        meeting.bring(number, rank, (call, item, here()), len(ranks))

        def collect() -> tuple[list[Call], list[Any]]:
            brought = meeting.collect(number, rank, call, ranks, len(ranks))
            calls = [call for call, _, _ in brought]
            reason = verdict(calls)
            if reason:
                raise explain(reason, [f"{call}{at(site)}" for call, _, site in brought])
            return calls, [item for _, item, _ in brought]

        return collect, lambda: meeting.complete(number, ranks)

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
        return ThreadComm(self._meeting, self._me, (*self._channel, self._duplicates), self._ranks)

    def _groups(self, groups: list[list[int]], mine: list[int | None]) -> list[Any]:
        self._duplicates += 1
        number = mine[0]
        return [None if number is None else ThreadComm(self._meeting, self._me, (*self._channel, self._duplicates, number),
                                                       [self._ranks[place] for place in groups[number]])]

    # a message is brought by its sender alone, and collected by its receiver alone

    def _deliver(self, here: int, there: int, tag: int, call: Call, x: Array) -> Handle:
        key = self._line("send", here, there, tag)
        self._meeting.bring(key, self._me, (call, x.copy()), 1)
        return Handle(None)

    def _collect(self, here: int, there: int, tag: int, what: str) -> Handle:
        key, ranks = self._line("recv", there, here, tag), [self._ranks[there]]
        return Handle(lambda: self._meeting.collect(key, self._me, what, ranks, 1)[0],
                      lambda: self._meeting.complete(key, ranks))

    def _arrived(self, here: int, there: int, tag: int) -> bool:
        number = self._lines["recv", there, here, tag] + 1
        return self._meeting.complete((MESSAGE, self._channel, there, here, tag, number), [self._ranks[there]])

    def _look_until(self, look: Callable[[], bool], what: str) -> None:
        self._meeting.look_until(look, self._me, what, self._ranks)

    def _line(self, what: str, source: int, dest: int, tag: int) -> Any:
        """The key of the next message that is sent or received on a way with a tag."""
        self._lines[what, source, dest, tag] += 1
        return MESSAGE, self._channel, source, dest, tag, self._lines[what, source, dest, tag]

    def free(self) -> None:
        """Nothing else to do: what it holds goes with the meeting."""
        obligations.before_closing(self)

    def abort(self, message: str) -> None:
        """Fail this rank, and with it all."""
        raise RankFailure(f"rank {self.rank} aborted: {message}", self.rank)


def run_ranks(size: int, function: Callable[..., Any], *args: Any, timeout: float = 60.0,
              network: Any = None) -> list[Any]:
    """Call function(comm, *args) on `size` threads, each a rank with its own communicator; their results by rank.

    If a rank raises, the others are released from their collectives, and the first rank's exception is raised here,
    with its own traceback and a note that names the rank. RankFailure, naming who is where, if a rank returns while
    others wait for it, or if one waits in a collective for more than `timeout` seconds. With network, a simulated
    dparallel.testing.Network, calls arrive late and handles complete out of order. Each rank draws random numbers of its
    own, the same each time; manual_seed() on a rank is for this rank.

    >>> run_ranks(3, lambda comm: comm.allreduce([np.array(1.0)])[0].item())
    [3.0, 3.0, 3.0]
    """
    if not isinstance(size, (int, np.integer)) or size < 1:
        raise ValueError(f"run_ranks({size!r}): a whole number of ranks, at least one")
    meeting = Meeting(size, timeout)
    values: list[Any] = [None] * size

    def body(rank: int, stream: Generator) -> None:
        failure: BaseException | None = None
        try:
            comm = ThreadComm(meeting, rank)
            with using_generator(stream):
                if network is None:
                    values[rank] = function(comm, *args)
                    obligations.before_closing()
                else:
                    comm = network.joined(comm)
                    values[rank] = function(comm, *args)
                    obligations.before_closing()
                    comm.settle()
        except BaseException as error:               # whatever it is, it is raised in the caller's thread
            failure = error
        meeting.leave(rank, failure)

    with branches(size) as streams:
        started = [threading.Thread(target=contextvars.copy_context().run, args=(body, rank, stream), name=f"rank {rank}",
                                    daemon=True) for rank, stream in enumerate(streams)]
        for thread in started:
            thread.start()
        try:
            late = meeting.ended()
        except BaseException as error:               # the user's Ctrl-C: let no rank wait for ever
            meeting.leave(None, error)
            raise
        for rank, thread in enumerate(started):
            if rank not in late:                     # its last steps: nothing is left of it then
                thread.join()
    if meeting.failure is not None:
        failed, first = meeting.failure
        note(first, f"rank {failed} of {size} failed" + (f"; ranks {late} had not ended {GRACE:g} s later" if late else ""))
        raise first
    meeting.check_messages()
    return values


def note(error: BaseException, text: str) -> None:
    """Add a line to an exception's message."""
    if hasattr(error, "add_note"):
        error.add_note(text)
    elif error.args and isinstance(error.args[0], str):      # Python 3.10
        error.args = (f"{error.args[0]}\n{text}", *error.args[1:])
