"""Lanes: independent pieces of work, each in a thread of its own. NumPy and BLAS release the GIL, so lanes run at once.

What a lane records carries its number, and the engine runs it backward in parallel again.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .mode import modes


def run_lanes(thunks: Sequence[Callable[[], Any]], lanes: Sequence[int] | None = None) -> list[Any]:
    """Call all thunks at once, one thread each, with the caller's modes; their results in order.

    The first thunk runs in the calling thread. If some raise, the first one's exception (by position) is raised here
    after all have ended, with its own traceback.
    """
    numbers = range(len(thunks)) if lanes is None else lanes
    jobs = [_Job(thunk, {"lane": lane}) for thunk, lane in zip(thunks, numbers, strict=True)]
    threads = [job.start(f"lane {lane}") for job, lane in zip(jobs[1:], list(numbers)[1:], strict=True)]
    if jobs:
        jobs[0].run()
    for thread in threads:
        thread.join()
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
    job.start("deeper").join()
    if job.error is not None:
        raise job.error
    return job.value


class _Job:
    """One thunk, the modes that it is called in, and what came of it."""

    def __init__(self, thunk: Callable[[], Any], changes: dict[str, Any]) -> None:
        self.thunk = thunk
        self.modes = {**modes.__dict__, **changes}
        self.value: Any = None
        self.error: BaseException | None = None

    def start(self, name: str) -> threading.Thread:
        """Run in a new thread, which sees the caller's context variables."""
        thread = threading.Thread(target=contextvars.copy_context().run, args=(self.run,), name=name)
        thread.start()
        return thread

    def run(self) -> None:
        """Call the thunk in its modes; keep its result or its exception."""
        before = dict(modes.__dict__)
        modes.__dict__.update(self.modes)
        try:
            self.value = self.thunk()
        except BaseException as error:      # raised again in the caller's thread, by run_lanes or on_fresh_stack
            self.error = error
        finally:
            modes.__dict__.update(before)
