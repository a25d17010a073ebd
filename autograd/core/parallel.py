"""Lanes: independent pieces of work, each in a thread. NumPy and BLAS release the GIL, so lanes run at once.

What a lane records carries its number, and the engine runs it backward in parallel again.
"""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .modes import modes
from .spans import LANE, begin, end, number_of, recorders

if TYPE_CHECKING:
    from queue import SimpleQueue
    from threading import Thread

REST = 100                           # jobs until a thread that was moved for nothing may be moved again


class Lane(int):
    """A lane's number, the processor cores that its threads run on (None: any), and what names it in an exception, forward
    and backward."""

    cores: frozenset[int] | None = None
    named: Callable[[Exception], Exception] | None = None

    @classmethod
    def on(cls, number: int, cores: frozenset[int] | None, named: Callable[[Exception], Exception] | None = None) -> Lane:
        """Lane `number`, on these cores."""
        lane = cls(number)
        lane.cores, lane.named = cores, named
        return lane


@contextlib.contextmanager
def bound_to(cores: frozenset[int]) -> Iterator[None]:
    """This thread on these cores only; afterwards on those from before."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def run_lanes(thunks: Sequence[Callable[[], Any]], lanes: Sequence[int] | None = None) -> list[Any]:
    """Call all thunks at once, each in a thread, with the caller's modes; their results in order.

    The first thunk runs in the calling thread. If some raise, the first one's exception (by position) is raised here
    after all have ended, with its own traceback; if its lane has a name for it, as the cause of what that gives.
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


def _this_core() -> Callable[[], int]:
    """What tells the number of the core that this thread runs on, -1 where nothing does."""
    try:
        if hasattr(os, "sched_setaffinity"):
            return ctypes.PyDLL(None).sched_getcpu   # PyDLL: it is not worth letting go of the GIL
    except (AttributeError, OSError, TypeError):     # the C library has none
        pass
    return lambda: -1


this_core: Callable[[], int] = _this_core()


class _Job:
    """One thunk, the modes that it is called in, and what came of it; `done` can be acquired once it has run."""

    def __init__(self, thunk: Callable[[], Any], changes: dict[str, Any]) -> None:
        self.thunk = thunk
        self.modes = {**modes.__dict__, **changes}
        self.value: Any = None
        self.since = 0.0                             # when it was handed to another thread
        self.error: BaseException | None = None
        self.done = threading.Lock()

    def start(self, taken: set[int] | None = None) -> None:
        """Run in another thread, which sees the caller's context variables; beside what runs on the cores `taken`."""
        self.done.acquire()
        self.since = time.perf_counter()
        worker = workers.take()
        if taken is not None:
            worker.keep_off(taken)
        worker.jobs.put((contextvars.copy_context(), self))

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


class _Worker:
    """A thread that waits for jobs, for ever: starting one for each would cost 0.15 ms."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[tuple[contextvars.Context, _Job]] = import_module("queue").SimpleQueue()     # 0.8 ms
        self.core: int = -1                          # where the last job ran
        self.crowded: bool = False  # whether it waited there; jobs to go until it may be moved
        self.rest: int = 0
        self.allowed: set[int] | None = None         # the cores it may use, while it is kept off some
        self.thread: Thread = threading.Thread(target=self._serve, name="lane", daemon=True)
        self.thread.start()

    def keep_off(self, taken: set[int]) -> None:
        """Wake up on none of these cores, and add the one it will wake on.

        Linux wakes a thread where it last ran. If that is the caller's core, both may take turns on it for milliseconds,
        step after step, while another core is idle: two lanes then take as long as one. So it is moved where it waited; not
        again for a while if it waits there, too, for others that are on that core or for the GIL.
        """
        if self.core in taken and self.core >= 0 and self.crowded and not self.rest:
            thread = self.thread.native_id or 0
            allowed = os.sched_getaffinity(thread)
            free = allowed - taken
            if free:
                self.core = min(free)
                with contextlib.suppress(OSError):   # some containers forbid it
                    os.sched_setaffinity(thread, {self.core})
                    self.allowed = allowed
        taken.add(self.core)

    def _serve(self) -> None:
        while True:
            context, job = self.jobs.get()
            moved = self.allowed is not None
            if self.allowed is not None:
                with contextlib.suppress(OSError):   # the process has lost them: the caller must not wait in vain
                    os.sched_setaffinity(0, self.allowed)
                self.allowed = None
            worked = time.thread_time()
            context.run(job.run)
            worked = time.thread_time() - worked
            self.core, self.crowded = this_core(), time.perf_counter() - job.since > 1.5 * worked
            self.rest = REST if moved and self.crowded else max(0, self.rest - 1)
            workers.idle.append(self)
            job.done.release()
            del context, job                # or what they hold would live until the next job


class _Workers:
    """The threads of this process that run lanes."""

    def __init__(self) -> None:
        self.idle: list[_Worker] = []                # those without a job; appending and popping are atomic
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.idle.clear)      # threads do not survive a fork

    def take(self) -> _Worker:
        """An idle worker, or a new one."""
        try:
            return self.idle.pop()
        except IndexError:
            return _Worker()


workers: _Workers = _Workers()
