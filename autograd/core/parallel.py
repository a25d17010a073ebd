"""Lanes: independent pieces of work, each in its own thread. NumPy and BLAS release the GIL, so lanes run in parallel.

Nodes that a lane records carry its number, and the engine runs their backward in parallel too.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..base.thread_pool import this_core, workers
from ..spans.spans import LANE, begin, end, number_of, recorders
from .modes import modes


class Lane(int):
    """A lane's number, the cores that its threads run on (None: any), and a function that names it in exceptions."""

    cores: frozenset[int] | None = None
    named: Callable[[Exception], Exception] | None = None

    @classmethod
    def on(cls, number: int, cores: frozenset[int] | None, named: Callable[[Exception], Exception] | None = None) -> Lane:
        """The lane `number` on these cores."""
        lane = cls(number)
        lane.cores, lane.named = cores, named
        return lane


@contextlib.contextmanager
def bound_to(cores: frozenset[int]) -> Iterator[None]:
    """Bind this thread to these cores, and restore its previous affinity afterwards."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def run_lanes(thunks: Sequence[Callable[[], Any]], lanes: Sequence[int] | None = None) -> list[Any]:
    """Call all thunks in parallel, each in a thread, with the caller's modes. Returns their results in order.

    The first thunk runs in the calling thread. If thunks raise, the exception of the first (by position) is raised after all
    have ended, with its own traceback. If its lane names it, it becomes the cause of the exception that names it.
    """
    numbers = range(len(thunks)) if lanes is None else lanes
    jobs = [_Job(thunk, {"lane": lane}) for thunk, lane in zip(thunks, numbers, strict=True)]
    taken = {this_core()}
    for job in jobs[1:]:
        job.start(taken)
    if jobs:
        jobs[0].run()
    for job in jobs[1:]:
        job.done.acquire()
    for job, lane in zip(jobs, numbers, strict=True):
        if job.error is None:
            continue
        named = getattr(lane, "named", None)
        told = named(job.error) if named is not None and isinstance(job.error, Exception) else job.error
        if told is job.error:
            raise told
        raise told from job.error
    return [job.value for job in jobs]


@contextlib.contextmanager
def outside_lanes() -> Iterator[None]:
    """A block whose nodes belong to no lane, as when lanes synchronize and one of them works for all."""
    before, modes.lane = modes.lane, None
    try:
        yield
    finally:
        modes.lane = before


def on_fresh_stack(thunk: Callable[[], Any]) -> Any:
    """Call thunk in a new thread, with the caller's modes and Python's whole recursion limit."""
    job = _Job(thunk, {})
    job.start()
    job.done.acquire()
    if job.error is not None:
        raise job.error
    return job.value


class _Job:
    """A thunk, the modes in which it is called, and its result; `done` can be acquired after it has run."""

    def __init__(self, thunk: Callable[[], Any], changes: dict[str, Any]) -> None:
        self.thunk = thunk
        self.modes = {**modes.__dict__, **changes}
        self.value: Any = None
        self.beside = False                          # whether the caller works as well
        self.error: BaseException | None = None
        self.done = threading.Lock()

    def start(self, taken: set[int] | None = None) -> None:
        """Run in a worker; if the caller works too, not on the cores `taken`."""
        self.done.acquire()
        worker = workers.take()
        if taken is not None:
            self.beside = workers.enter()
            worker.keep_off(taken)
        worker.start(self.run, self.end)

    def end(self, result: None) -> None:
        """Let the caller continue."""
        if self.beside:
            workers.leave()
        self.done.release()

    def run(self) -> None:
        """Call the thunk in its modes; keep its result or its exception."""
        before = dict(modes.__dict__)
        modes.__dict__.update(self.modes)
        lane = self.modes.get("lane")
        span = begin(number_of(f"lane {lane:d}", LANE)) if recorders and lane is not None else 0
        try:
            cores = getattr(lane, "cores", None)
            if cores is None:
                self.value = self.thunk()
            else:
                with bound_to(cores):
                    self.value = self.thunk()
        except BaseException as error:      # raised again in the caller's thread, by run_lanes or on_fresh_stack
            self.error = error
        finally:
            end(span)
            modes.__dict__.update(before)
