"""What a layer may know of the DataParallel or parallel_apply that it runs in: over whom it is to synchronise."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from autograd.core.parallel import outside_lanes

from .comm import Communicator, RankFailure


class Around(NamedTuple):
    """comm: the ranks that run the same module. weight: what this rank's loss counts (None: as much as any other's).
    meet: called before a collective of a layer, where ranks have to agree that they are there (None: they need not).
    replicas: those of parallel_apply that run beside this one, in one process."""

    comm: Communicator | None = None
    weight: Callable[[], float] | None = None
    replicas: Replicas | None = None
    meet: Callable[[], object] | None = None


_around: contextvars.ContextVar[Around] = contextvars.ContextVar("around")
_NOTHING = Around()


def around() -> Around:
    """What this thread's code runs in."""
    return _around.get(_NOTHING)


class inside:
    """with inside(...): run the block in other surroundings: fields of Around, which replicas leave as they are."""

    def __init__(self, comm: Any = None, weight: Any = None, replicas: Any = None, meet: Any = None) -> None:
        old = around()
        self._new = Around(comm, weight, old.replicas, meet) if replicas is None else old._replace(replicas=replicas)

    def __enter__(self) -> None:
        """From here on."""
        self._token = _around.set(self._new)

    def __exit__(self, *exception: object) -> None:
        """Back to what was before."""
        _around.reset(self._token)


class Crew:
    """The replicas of one parallel_apply: what each has brought to each of their meetings, who has ended, and how."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.change = threading.Condition()
        self.brought: dict[int, dict[int, Any]] = {}
        self.left: set[int] = set()
        self.failure: BaseException | None = None

    def exchange(self, meeting: int, number: int, item: Any, what: str) -> list[Any]:
        """What all replicas bring to a meeting. RankFailure if one has ended and can't come."""
        with self.change:
            items = self.brought.setdefault(meeting, {})
            items[number] = item
            self.change.notify_all()
            while len(items) < self.size:
                missing = sorted(self.left - set(items))
                if missing:
                    raise RankFailure(f"replica {number} waits in {what}, but replica {missing[0]} has "
                                      f"{'failed' if self.failure else 'returned'}: all replicas call the same layers",
                                      missing[0])
                self.change.wait()
            self.brought.pop(meeting, None)          # whoever else waits has the items in hand
            return [items[place] for place in range(self.size)]


class Replicas:
    """One of several replicas that run in threads, and where they meet."""

    def __init__(self, crew: Crew, number: int) -> None:
        self.crew, self.number, self._met = crew, number, 0

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
        return self.crew.exchange(self._met, self.number, item, what)

    def leave(self, error: BaseException | None = None) -> None:
        """Say that this replica has ended, and how: nobody needs to wait for it."""
        with self.crew.change:
            self.crew.left.add(self.number)
            self.crew.failure = self.crew.failure or error
            self.crew.change.notify_all()
