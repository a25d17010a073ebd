"""Ranks as threads of one process: MPI's semantics where a debugger can follow, for tests and notebooks."""

from __future__ import annotations

import contextvars
import copy
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .base import Array, Communicator, Handle, checked
from .call import Call
from .devices import compute


class RankFailure(RuntimeError):
    """A rank raised, left early or never came. `rank` says which."""

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
        self.waiting: dict[int, str] = {}           # rank -> the collective that it waits in
        self.left: set[int] = set()
        self.failure: tuple[int, BaseException] | None = None

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
                    raise RankFailure(f"rank {rank} waited {self.timeout:g} s in {what}; {self._whereabouts(number)}")
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
        missing = [place for place in self.left if place not in self.brought[number]]
        if missing:
            raise RankFailure(f"rank {rank} waits in {what}, but rank {missing[0]} has returned and will never come; "
                              f"{self._whereabouts(number)}")

    def _whereabouts(self, number: Any) -> str:
        lines = []
        for place in range(self.size):
            if place not in self.brought.get(number, ()):
                where = "has returned" if place in self.left else self.waiting.get(place, "is not in a collective")
                lines.append(f"rank {place} {where if where.startswith(('has', 'is')) else 'waits in ' + where}")
        return "; ".join(lines)

    def leave(self, rank: int, error: BaseException | None) -> None:
        """Note that a rank has ended."""
        with self.change:
            self.left.add(rank)
            if error is not None and self.failure is None:
                self.failure = (rank, error)
            self.change.notify_all()


class ThreadComm(Communicator):
    """One rank of a Meeting."""

    kind = "threads"

    def __init__(self, meeting: Meeting, rank: int, channel: tuple[int, ...] = ()) -> None:
        self.size, self.held = meeting.size, (rank,)
        self._meeting, self._channel = meeting, channel
        self._number = self._duplicates = 0

    def _start(self, what: str, item: Any) -> tuple[Callable[[], list[Any]], Callable[[], bool]]:
        """Bring an item to the next collective; functions to collect all ranks' items, and to test for them."""
        number, rank, meeting = (self._channel, self._number), self.rank, self._meeting
        self._number += 1
        meeting.bring(number, rank, item)
        return lambda: meeting.collect(number, rank, what), lambda: meeting.complete(number)

    def _run(self, calls: list[Call], xs: Sequence[Array], sizes: Any) -> Handle:
        brought = np.array(np.asarray(xs[0]), order="C")
        collect, test = self._start(str(calls[0]), (calls[0], brought, sizes))

        def finish() -> Any:
            items = collect()
            checked([call for call, _, _ in items])
            call, arrays = calls[0], [x for _, x, _ in items]
            cut = items[call.root][2] if call.name == "scatter" else \
                [s[0] for _, _, s in items] if call.name == "alltoall" else \
                next((s for _, _, s in items if s is not None), None)
            value = compute(call, arrays, cut, self.rank)
            return value if call.name in ("reduce", "gather") else [value]

        return Handle(finish, test)

    def any(self, flag: bool) -> bool:
        """One exchange of flags."""
        return any(self.allgather_object([bool(flag)]))

    def start_sum_in_place(self, arrays: Sequence[Array]) -> Handle:
        """The sum in rank order."""
        collect, test = self._start("sum_in_place", arrays[0].copy())

        def finish() -> None:
            items = collect()
            np.copyto(arrays[0], items[0])
            for item in items[1:]:
                arrays[0][...] += item

        return Handle(finish, test)

    def allgather_object(self, objects: Sequence[Any]) -> list[Any]:
        """A copy of each rank's object."""
        return [copy.deepcopy(item) for item in self._start("allgather_object", objects[0])[0]()]

    def duplicate(self) -> ThreadComm:
        """The same meeting, with collectives numbered apart."""
        self._duplicates += 1
        return ThreadComm(self._meeting, self.rank, (*self._channel, self._duplicates))

    def abort(self, message: str) -> None:
        """Fail this rank, and with it all."""
        raise RankFailure(f"rank {self.rank} aborted: {message}", self.rank)


def run_ranks(size: int, function: Callable[..., Any], *args: Any, timeout: float = 60.0) -> list[Any]:
    """Call function(comm, *args) on `size` threads, each a rank with its own communicator; their results by rank.

    If a rank raises, the others are released from their collectives, and the first failure is raised here: an
    exception of the same type where that can be built from a message, which names the rank, with the rank's own as
    its cause. A rank that never comes makes the others fail after `timeout` seconds, naming who is where.

    >>> run_ranks(3, lambda comm: comm.allreduce([np.array(1.0)])[0].item())
    [3.0, 3.0, 3.0]
    """
    if size < 1:
        raise ValueError(f"run_ranks({size}): at least one rank")
    meeting = Meeting(size, timeout)
    results: list[Any] = [None] * size
    errors: dict[int, BaseException] = {}

    def body(rank: int) -> None:
        error: BaseException | None = None
        try:
            results[rank] = function(ThreadComm(meeting, rank), *args)
        except BaseException as caught:              # kept, and raised in the caller's thread
            error = errors[rank] = caught
        meeting.leave(rank, error)

    threads = [threading.Thread(target=contextvars.copy_context().run, args=(body, rank), name=f"rank {rank}",
                                daemon=True) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if meeting.failure is not None:
        raise named(*meeting.failure, size) from meeting.failure[1]
    return results


def named(rank: int, error: BaseException, size: int) -> BaseException:
    """An exception of the same type that says which rank raised it."""
    text = f"rank {rank} of {size} failed: {error}"
    if sys.version_info < (3, 11):                   # no notes: the cause shows the traceback
        text += "\n" + "".join(traceback.format_exception(error))
    try:
        made = type(error)(text)
    except Exception:                                # a type whose constructor wants something else
        return RankFailure(text, rank)
    return made if isinstance(made, type(error)) and str(made) else RankFailure(text, rank)
