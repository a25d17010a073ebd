"""Ranks as threads of one process: MPI's semantics under a debugger, for tests and notebooks."""

from __future__ import annotations

import contextvars
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd.modes.random import Generator, branches, using_generator

from .base import Array, Communicator, Handle, vectors_of
from .handle import obligations
from .header import ROOT_RESULT, Call, collective_error, mismatch
from .messages import may_stay_unreceived
from .reference import combined, results
from .watchdog.call_site import Site, at_site, site_of, user_site

if TYPE_CHECKING:
    from threading import Condition

DEADLOCK_AFTER = 3.0                 # seconds after which a rank checks whether all ranks wait
MESSAGE = "message"                  # the first item of the keys of point-to-point messages
GRACE = 5.0                          # seconds in which the other ranks must end after one has failed


class RankFailure(RuntimeError):
    """A rank returned early, never joined a collective, or failed. `rank`: the one at fault, if known."""

    def __init__(self, message: str, rank: int | None = None) -> None:
        super().__init__(message)
        self.rank = rank


class ThreadExchange:
    """The shared state of the ranks of a run: for each collective (or message), by its number, each rank's item."""

    def __init__(self, size: int, timeout: float) -> None:
        self.size: int = size
        self.timeout: float = timeout
        self.lock: threading.Lock = threading.Lock()
        self.end: Condition = threading.Condition(self.lock)  # notified when a rank ends
        self.deposits: dict[Any, dict[int, Any]] = {}
        self.reads: dict[Any, int] = {}
        self.conditions: dict[Any, threading.Condition] = {}    # one for each number: waking a thread costs 5 to 50 us
        # rank -> the number of the collective that it waits in, its name, the user's line, how many ranks contribute
        self.waiting: dict[int, tuple[Any, object, Site | None, int]] = {}
        self.finished: set[int] = set()
        self.failure: tuple[int | None, BaseException] | None = None

    def put(self, number: Any, rank: int, item: Any, expected: int) -> None:
        """Deposit this rank's item for collective `number`, to which `expected` ranks contribute; does not block."""
        with self.lock:
            contributions = self.deposits.setdefault(number, {})
            contributions[rank] = item
            if len(contributions) == expected and number in self.conditions:
                self.conditions[number].notify_all()

    def is_complete(self, number: Any, ranks: Sequence[int]) -> bool:
        """Whether all these ranks have deposited their items."""
        with self.lock:
            return len(self.deposits.get(number, ())) == len(ranks)

    def get(self, number: Any, rank: int, what: object, ranks: Sequence[int], readers: int) -> list[Any]:
        """Block until these ranks have deposited their items, and return them in order; drop them after `readers` reads.

        RankFailure if a rank can't contribute any more, all ranks are deadlocked, or the timeout expires.
        """
        with self.lock:
            if len(self.deposits.get(number, ())) < len(ranks):
                self._wait(number, rank, what, ranks)
            items = list(map(self.deposits[number].__getitem__, ranks))
            self.reads[number] = self.reads.get(number, 0) + 1
            if self.reads[number] == readers:
                del self.deposits[number], self.reads[number]
                self.conditions.pop(number, None)
            return items

    def _wait(self, number: Any, rank: int, what: object, ranks: Sequence[int]) -> None:
        """Wait, with the lock, until these ranks have deposited their items."""
        deadline = time.monotonic() + self.timeout
        self.waiting[rank] = (number, what, user_site(), len(ranks))
        complete = self.conditions.setdefault(number, threading.Condition(self.lock))
        while len(self.deposits.get(number, ())) < len(ranks):
            self._check(number, rank, what, ranks)
            if complete.wait(min(DEADLOCK_AFTER, max(0.0, deadline - time.monotonic()))):
                continue
            if time.monotonic() >= deadline:
                raise RankFailure(f"rank {rank} waited {self.timeout:g} s in {what}: {self.status()}")
            if self._deadlocked():
                raise RankFailure(f"deadlock: every rank waits for another: {self.status()}")
        self.waiting.pop(rank, None)

    def poll_until(self, poll: Callable[[], bool], rank: int, what: str, ranks: Sequence[int]) -> None:
        """Call poll() until it is true. RankFailure if a rank fails, all others have returned, or the timeout expires."""
        deadline = time.monotonic() + self.timeout
        while not poll():
            with self.lock:
                if self.failure is not None:
                    failed, error = self.failure
                    raise RankFailure(f"rank {rank} was in {what} when rank {failed} failed: {error!r}", failed)
                alone = self.finished.issuperset(set(ranks) - {rank})
                if time.monotonic() >= deadline:
                    raise RankFailure(f"rank {rank} waited {self.timeout:g} s in {what}: {self.status()}")
            if alone and not poll():                 # after their last messages
                raise RankFailure(f"rank {rank} waits in {what}, but all other ranks have returned")
            time.sleep(1e-4)

    def _check(self, number: Any, rank: int, what: object, ranks: Sequence[int]) -> None:
        if self.failure is not None:
            failed, error = self.failure
            raise RankFailure(f"rank {rank} was in {what} when rank {failed} failed: {error!r}", failed)
        missing = sorted(other for other in self.finished if other in ranks and other not in self.deposits.get(number, ()))
        if missing:
            raise RankFailure(f"rank {rank} waits in {what}, but rank {missing[0]} has returned without it: "
                              f"{self.status()}", missing[0])

    def _deadlocked(self) -> bool:
        """Whether all ranks wait, each for a collective that is not complete."""
        return len(self.waiting) == self.size and all(
            len(self.deposits.get(number, ())) < expected for number, _, _, expected in self.waiting.values())

    def status(self) -> str:
        """What each rank is doing, in one line."""
        states = {rank: f"waits in {what}{at_site(site)}" for rank, (_, what, site, _) in self.waiting.items()}
        states.update(dict.fromkeys(self.finished, "has returned"))
        return "; ".join(f"rank {rank} {states.get(rank, 'is not in a collective')}" for rank in range(self.size))

    def finish(self, rank: int | None, error: BaseException | None) -> None:
        """Record that a rank has ended, with its error if it raised; rank None: all ranks must end."""
        with self.lock:
            if rank is not None:
                self.finished.add(rank)
            if error is not None and self.failure is None:
                self.failure = (rank, error)
            for condition in (*self.conditions.values(), self.end):
                condition.notify_all()

    def check_messages(self) -> None:
        """RankFailure if a message was never received; called when all ranks have ended."""
        lost = [f"rank {rank}: {call} to its group's rank {number[3]}, tag {number[4]}" if number[4] >= 0 else
                f"rank {rank}: the gradient of a message, to its group's rank {number[3]}"
                for number, contributions in self.deposits.items() if number[0] == MESSAGE
                for rank, (call, _) in contributions.items() if not may_stay_unreceived(number[4], call.value)]
        if lost:
            raise RankFailure("messages were sent and never received: " + "; ".join(lost[:8]))

    def join(self) -> list[int]:
        """Wait until all ranks have ended, or GRACE seconds after a failure. Returns the ranks that have not ended."""
        deadline = None
        with self.lock:
            while len(self.finished) < self.size:
                if self.failure is not None:
                    deadline = time.monotonic() + GRACE if deadline is None else deadline
                    if time.monotonic() >= deadline:
                        break
                self.end.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
            return sorted(set(range(self.size)) - self.finished)


class ThreadComm(Communicator):
    """One rank of a ThreadExchange, or of a group of its ranks."""

    kind = "threads"

    def __init__(self, exchange: ThreadExchange, rank: int, channel: tuple[int, ...] = (),
                 ranks: Sequence[int] | None = None) -> None:
        self._ranks = range(exchange.size) if ranks is None else ranks        # the exchange's, in this communicator's order
        self.size: int = len(self._ranks)
        self.held: tuple[int] = (self._ranks.index(rank),)
        self._exchange_point, self._channel, self._exchange_rank = exchange, channel, rank
        self._number = self._duplicates = 0
        self._message_counts: Counter[Any] = Counter()       # messages so far, by operation, source, dest and tag

    def _put(self, call: Call, item: Any) -> tuple[Callable[[], tuple[Sequence[Call], Sequence[Any]]], Callable[[], bool]]:
        """Deposit a call and an item for the next collective. Returns functions that wait and test for all ranks' items."""
        if obligations.settle is not None:
            obligations.before_waiting()
        number, rank, exchange, ranks = (self._channel, self._number), self._exchange_rank, self._exchange_point, self._ranks
        self._number += 1
        call.backward_of = self.backward_of
        exchange.put(number, rank, (call, item, site_of(sys._getframe())), len(ranks))

        def collect() -> tuple[Sequence[Call], Sequence[Any]]:
            calls, items, sites = zip(*exchange.get(number, rank, call, ranks, len(ranks)), strict=True)
            reason = mismatch(calls)
            if reason:
                raise collective_error(reason, [f"{call}{at_site(site)}" for call, site in zip(calls, sites, strict=True)])
            return calls, items

        return collect, lambda: exchange.is_complete(number, ranks)

    def _exchange(self, calls: list[Call]) -> list[Call]:
        return list(self._put(calls[0], None)[0]()[0])

    def _issue(self, calls: list[Call], xs: list[Array], blocking: bool) -> Handle:
        collect, test = self._put(calls[0], np.array(xs[0], order="C"))      # others may read it after this rank continues

        def finish() -> Any:
            value = results(*collect(), self.held)
            return value[0] if calls[0].name in ROOT_RESULT else value

        return Handle(finish, test)

    def start_sum_in_place(self, arrays: Sequence[Array]) -> Handle:
        """The sum in rank order."""
        array = arrays[0] if type(arrays[0]) is np.ndarray else vectors_of(arrays)[0]
        collect, test = self._put(Call("sum_in_place", self.size, array), array.copy())
        return Handle(lambda: np.copyto(array, combined(collect()[1], "sum")), test)

    def duplicate(self) -> ThreadComm:
        """A communicator of the same ranks whose collectives are numbered separately."""
        self._duplicates += 1
        return ThreadComm(self._exchange_point, self._exchange_rank, (*self._channel, self._duplicates), self._ranks)

    def _groups(self, groups: list[list[int]], group_numbers: list[int | None]) -> list[Any]:
        self._duplicates += 1
        number = group_numbers[0]
        if number is None:
            return [None]
        return [ThreadComm(self._exchange_point, self._exchange_rank, (*self._channel, self._duplicates, number),
                           [self._ranks[rank] for rank in groups[number]])]

    # only its sender deposits a message, and only its receiver reads it

    def _send_message(self, local_rank: int, peer: int, tag: int, call: Call, x: Array) -> Handle:
        key = self._message_key("send", local_rank, peer, tag)
        self._exchange_point.put(key, self._exchange_rank, (call, x.copy()), 1)
        return Handle(None)

    def _receive_message(self, local_rank: int, peer: int, tag: int, what: str) -> Handle:
        key, ranks = self._message_key("recv", peer, local_rank, tag), [self._ranks[peer]]
        return Handle(lambda: self._exchange_point.get(key, self._exchange_rank, what, ranks, 1)[0],
                      lambda: self._exchange_point.is_complete(key, ranks))

    def _probe(self, local_rank: int, peer: int, tag: int) -> bool:
        number = self._message_counts["recv", peer, local_rank, tag] + 1
        key = MESSAGE, self._channel, peer, local_rank, tag, number
        return self._exchange_point.is_complete(key, [self._ranks[peer]])

    def _poll_until(self, poll: Callable[[], bool], what: str) -> None:
        self._exchange_point.poll_until(poll, self._exchange_rank, what, self._ranks)

    def _message_key(self, what: str, source: int, dest: int, tag: int) -> Any:
        """The key of the next message that is sent or received from source to dest with a tag."""
        self._message_counts[what, source, dest, tag] += 1
        return MESSAGE, self._channel, source, dest, tag, self._message_counts[what, source, dest, tag]

    def free(self) -> None:
        """Send this rank's pending messages; the memory is freed with the exchange."""
        obligations.before_closing(self)

    def abort(self, message: str) -> None:
        """Raise RankFailure here, which ends all ranks."""
        raise RankFailure(f"rank {self.rank} aborted: {message}", self.rank)


def run_ranks(size: int, function: Callable[..., Any], *args: Any, timeout: float = 60.0,
              network: Any = None) -> list[Any]:
    """Call function(comm, *args) on `size` threads, each a rank with its own communicator. Returns their results, by rank.

    If a rank raises, the others leave their collectives, and the caller gets the first exception, with its traceback and a
    note that names the rank. Each rank has its own random stream, the same in every call; manual_seed() seeds only its
    rank's.
    """
    if not isinstance(size, (int, np.integer)) or size < 1:
        raise ValueError(f"run_ranks({size!r}): size must be an integer of at least 1")
    exchange = ThreadExchange(size, timeout)
    values: list[Any] = [None] * size

    def body(rank: int, stream: Generator) -> None:
        failure: BaseException | None = None
        try:
            comm = ThreadComm(exchange, rank)
            with using_generator(stream):
                if network is None:
                    values[rank] = function(comm, *args)
                    obligations.before_closing()
                else:
                    comm = network.joined(comm)
                    values[rank] = function(comm, *args)
                    obligations.before_closing()
                    comm.settle()
        except BaseException as error:               # raised in the caller's thread
            failure = error
        exchange.finish(rank, failure)

    with branches(size) as streams:
        started = [threading.Thread(target=contextvars.copy_context().run, args=(body, rank, stream), name=f"rank {rank}",
                                    daemon=True) for rank, stream in enumerate(streams)]
        for thread in started:
            thread.start()
        try:
            late = exchange.join()
        except BaseException as error:               # the user's Ctrl-C: ranks must not wait for ever
            exchange.finish(None, error)
            raise
        for rank, thread in enumerate(started):
            if rank not in late:                     # until its thread has ended
                thread.join()
    if exchange.failure is not None:
        failed, first = exchange.failure
        add_note(first, f"rank {failed} of {size} failed"
                 + (f"; ranks {late} had not ended {GRACE:g} s later" if late else ""))
        raise first
    exchange.check_messages()
    return values


def add_note(error: BaseException, text: str) -> None:
    """Add a line to an exception's message."""
    if hasattr(error, "add_note"):
        error.add_note(text)
    elif error.args and isinstance(error.args[0], str):      # Python 3.10
        error.args = (f"{error.args[0]}\n{text}", *error.args[1:])
