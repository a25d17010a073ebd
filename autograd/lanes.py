"""Lanes: independent pieces of work, each in a thread. NumPy and BLAS release the GIL, so lanes run at once.

What a lane records carries its number, and the engine runs it backward in parallel again.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .mode import modes

if TYPE_CHECKING:
    from queue import SimpleQueue


class Lane(int):
    """A lane's number, and the processor cores that its threads run on (None: any), forward and backward."""

    cores: frozenset[int] | None = None

    @classmethod
    def on(cls, number: int, cores: frozenset[int] | None) -> Lane:
        """Lane `number`, on these cores."""
        lane = cls(number)
        lane.cores = cores
        return lane


@contextlib.contextmanager
def bound_to(cores: frozenset[int] | None) -> Iterator[None]:
    """This thread on these cores only; afterwards on those from before."""
    if cores is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def run_lanes(thunks: Sequence[Callable[[], Any]], lanes: Sequence[int] | None = None) -> list[Any]:
    """Call all thunks at once, each in a thread, with the caller's modes; their results in order.

    The first thunk runs in the calling thread. If some raise, the first one's exception (by position) is raised here
    after all have ended, with its own traceback.
    """
    numbers = range(len(thunks)) if lanes is None else lanes
    jobs = [_Job(thunk, {"lane": lane}) for thunk, lane in zip(thunks, numbers, strict=True)]
    for job in jobs[1:]:
        job.start()
    if jobs:
        jobs[0].run()
    for job in jobs[1:]:
        job.done.acquire()
    for job in jobs:
        if job.error is not None:
            raise job.error
    return [job.value for job in jobs]


@contextlib.contextmanager
def outside_lanes() -> Iterator[None]:
    """What a lane records in here belongs to none, as where lanes have met and one of them works for all."""
    before, modes.lane = modes.lane, None
    try:
        yield
    finally:
        modes.lane = before


def on_fresh_stack(thunk: Callable[[], Any]) -> Any:
    """Call thunk in a thread of its own, with the caller's modes: it has all of Python's recursion limit before it."""
    job = _Job(thunk, {})
    job.start()
    job.done.acquire()
    if job.error is not None:
        raise job.error
    return job.value


class _Job:
    """One thunk, the modes that it is called in, and what came of it; `done` can be acquired once it has run."""

    def __init__(self, thunk: Callable[[], Any], changes: dict[str, Any]) -> None:
        self.thunk = thunk
        self.modes = {**modes.__dict__, **changes}
        self.value: Any = None
        self.error: BaseException | None = None
        self.done = threading.Lock()

    def start(self) -> None:
        """Run in another thread, which sees the caller's context variables."""
        self.done.acquire()
        try:
            worker = idle.pop()
        except IndexError:
            worker = _Worker()
        worker.jobs.put((contextvars.copy_context(), self))

    def run(self) -> None:
        """Call the thunk in its modes; keep its result or its exception."""
        before = dict(modes.__dict__)
        modes.__dict__.update(self.modes)
        try:
            with bound_to(getattr(self.modes.get("lane"), "cores", None)):
                self.value = self.thunk()
        except BaseException as error:      # raised again in the caller's thread, by run_lanes or on_fresh_stack
            self.error = error
        finally:
            modes.__dict__.update(before)


class _Worker:
    """A thread that waits for jobs, for ever: starting one for each would cost 0.15 ms."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[tuple[contextvars.Context, _Job]] = import_module("queue").SimpleQueue()     # 0.8 ms
        threading.Thread(target=self._serve, name="lane", daemon=True).start()

    def _serve(self) -> None:
        while True:
            context, job = self.jobs.get()
            context.run(job.run)
            idle.append(self)
            job.done.release()
            del context, job                # or what they hold would live until the next job


idle: list[_Worker] = []                    # appending and popping are atomic
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=idle.clear)      # threads do not survive a fork
