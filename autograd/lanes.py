"""Lanes: independent pieces of work, each in a thread of its own. NumPy and BLAS release the GIL, so lanes run at once.

What a lane records carries its number, and the engine runs it backward in parallel again.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Any

from .mode import modes


def run_lanes(thunks: Sequence[Callable[[], Any]], lanes: Sequence[int] | None = None) -> list[Any]:
    """Call all thunks at once, one thread each, with the caller's modes; their results in order.

    The first thunk runs in the calling thread. If some raise, the first one's exception (by position) is raised here
    after all have ended, with its own traceback.
    """
    numbers = range(len(thunks)) if lanes is None else lanes
    jobs = [_Job(thunk, lane, modes.recording, modes.level) for thunk, lane in zip(thunks, numbers, strict=True)]
    threads = [threading.Thread(target=contextvars.copy_context().run, args=(job.run,), name=f"lane {job.lane}")
               for job in jobs[1:]]
    for thread in threads:
        thread.start()
    if jobs:
        jobs[0].run()
    for thread in threads:
        thread.join()
    for job in jobs:
        if job.error is not None:
            raise job.error
    return [job.value for job in jobs]


class _Job:
    """One thunk, its lane, and what came of it."""

    def __init__(self, thunk: Callable[[], Any], lane: int, recording: int, level: int | None) -> None:
        self.thunk, self.lane, self.recording, self.level = thunk, lane, recording, level
        self.value: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Call the thunk with the lane's modes; keep its result or its exception."""
        before = modes.recording, modes.lane, modes.level
        modes.recording, modes.lane, modes.level = self.recording, self.lane, self.level
        try:
            self.value = self.thunk()
        except BaseException as error:      # raised again in the caller's thread, by run_lanes
            self.error = error
        finally:
            modes.recording, modes.lane, modes.level = before
