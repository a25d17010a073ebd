"""Waiting: how long ranks wait for each other, and what a timeline or a profiler records of collectives."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any

from autograd.spans.spans import FLIGHT, MESSAGE, begin, complete, end_message, number_of, recorders

from .reference import Array

WAIT = "wait"                                        # the name of a wait for an operation that was started before


class Waiting(threading.local):
    """The waiting of one thread.

    ns: for other ranks, in collectives, messages and Handle.wait(). sends: (name, ns) of the bucket whose sum starts now:
    its name in a timeline, and how long it has been full; or None.
    """

    def __init__(self) -> None:
        self.ns = 0
        self.nested = False                          # inside blocked(): only the outermost wait counts
        self.sends: tuple[str, int] | None = None


class Waited:
    """How long all threads of this process have waited, in ns."""

    def __init__(self) -> None:
        self.ns = 0


waiting: Waiting = Waiting()
waited: Waited = Waited()


class Flight:
    """A collective between start and completion, for timelines, while something records. number: comm.flight() at its
    start."""

    __slots__ = ("ended", "name", "nbytes", "number", "queued", "started")

    name: str
    queued: int
    nbytes: int
    number: int
    started: int
    ended: int

    def __init__(self, name: str, nbytes: int, number: int) -> None:
        self.name, self.queued = waiting.sends or (f"dparallel::{name}", -1)
        self.nbytes, self.number = nbytes, number
        self.started, self.ended = perf_counter_ns(), 0

    def land(self) -> None:
        """Record that it was found complete; further calls do nothing."""
        if not self.ended:
            self.ended = perf_counter_ns()
            complete(self.name, FLIGHT, self.started, self.ended, self.nbytes, self.number, self.queued)


@functools.cache
def _number(name: str) -> int:
    """number_of(), 130 ns faster: the full name is cached."""
    return number_of(f"dparallel::{name}", MESSAGE)


def blocked(name: str, arrays: Sequence[Array], flight: Callable[[], int], function: Callable[..., Any], *args: Any) -> Any:
    """function(*args), in which this thread may wait for other ranks: counted as waiting, and recorded as a span
    `dparallel::<name>` with the bytes of the arrays. flight(), called at the end, returns the collective's number, the
    same on all its ranks."""
    own = waiting.__dict__                           # attributes of a thread take 50 ns each
    outer, own["nested"] = own["nested"], True
    token = begin(_number(name)) if recorders else 0
    began = perf_counter_ns()
    try:
        return function(*args)
    finally:
        own["nested"] = outer
        if not outer:
            time = perf_counter_ns() - began
            own["ns"] += time
            waited.ns += time
        if token:
            end_message(token, sum([x.nbytes for x in arrays]) if arrays else 0, flight())
