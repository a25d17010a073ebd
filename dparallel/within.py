"""What a layer may know of the DataParallel or parallel_apply that it runs in: over whom it is to synchronise."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from autograd.lanes import outside_lanes

from .comm import Communicator
from .comm.threads import Meeting


class Around(NamedTuple):
    """comm: the ranks that run the same module. weight: what this rank's loss counts (None: as much as any other's).
    replicas: those of parallel_apply that run beside this one, in one process."""

    comm: Communicator | None = None
    weight: Callable[[], float] | None = None
    replicas: Replicas | None = None


_around: contextvars.ContextVar[Around] = contextvars.ContextVar("around")
_NOTHING = Around()


def around() -> Around:
    """What this thread's code runs in."""
    return _around.get(_NOTHING)


class inside:
    """with inside(...): run the block in other surroundings: fields of Around."""

    def __init__(self, **changes: Any) -> None:
        self._new = around()._replace(**changes)

    def __enter__(self) -> None:
        """From here on."""
        self._token = _around.set(self._new)

    def __exit__(self, *exception: object) -> None:
        """Back to what was before."""
        _around.reset(self._token)


class Replicas:
    """One of several replicas that run in threads, and where they meet."""

    def __init__(self, meeting: Meeting, number: int) -> None:
        self.meeting, self.number, self._met = meeting, number, 0

    @classmethod
    def crew(cls, size: int) -> list[Replicas]:
        """`size` replicas that may meet."""
        meeting = Meeting(size, threading.TIMEOUT_MAX)        # as long as the slowest one's work takes
        return [cls(meeting, number) for number in range(size)]

    def together(self, item: Any, function: Callable[[list[Any]], list[Any]], what: str) -> Any:
        """This replica's part of function([every replica's item]), which the first one runs, recorded outside lanes."""
        gathered = self._exchange(item, what)
        results = None
        if self.number == 0:
            with outside_lanes():
                results = function(gathered)
        return self._exchange(results, what)[0][self.number]

    def _exchange(self, item: Any, what: str) -> list[Any]:
        self._met += 1
        size = self.meeting.size
        self.meeting.bring(self._met, self.number, item)
        return self.meeting.collect(self._met, self.number, what, range(size), size)

    def leave(self, error: BaseException | None = None) -> None:
        """Say that this replica has ended, and how: nobody needs to wait for it."""
        self.meeting.leave(self.number, error)
