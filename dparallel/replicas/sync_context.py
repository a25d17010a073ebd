"""The ranks and replicas over which a layer such as SyncBatchNorm synchronizes, set by DataParallel and parallel_apply()."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from autograd.core.parallel import outside_lanes

from ..comm import Communicator, RankFailure

if TYPE_CHECKING:
    from threading import Condition

LossWeight = Callable[[], float]                     # the weight of this rank's loss, in this pass
BeforeCollective = Callable[[], object]


class SyncContext(NamedTuple):
    """The ranks and replicas that run the same module at the same time.

    weight: of this rank's loss (None: equal weights). before_collective: called before a layer's collective, if ranks must
    agree that all of them run one. replica: this thread's among those of parallel_apply() in this process.
    """

    comm: Communicator | None = None
    weight: LossWeight | None = None
    replica: Replica | None = None
    before_collective: BeforeCollective | None = None


_context: contextvars.ContextVar[SyncContext] = contextvars.ContextVar("sync_context")
_NO_CONTEXT = SyncContext()


def current_context() -> SyncContext:
    """The context that this thread's code runs in; an empty SyncContext outside DataParallel and parallel_apply()."""
    return _context.get(_NO_CONTEXT)


class set_context:
    """`with set_context(comm=...)` sets all fields but `replica`; `with set_context(replica=...)` sets that field only."""

    def __init__(self, comm: Communicator | None = None, weight: LossWeight | None = None, replica: Replica | None = None,
                 before_collective: BeforeCollective | None = None) -> None:
        outer = current_context()
        self._inner = (outer._replace(replica=replica) if replica is not None else
                       SyncContext(comm, weight, outer.replica, before_collective))

    def __enter__(self) -> None:
        """Set the context of this thread."""
        self._token = _context.set(self._inner)

    def __exit__(self, *exception: object) -> None:
        """Restore the outer context."""
        _context.reset(self._token)


class ReplicaGroup:
    """The state of one parallel_apply(): the items of its replicas' exchanges, which have ended, and the first failure."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.condition: Condition = threading.Condition()
        self.items: dict[int, dict[int, Any]] = {}   # of each exchange under way: by the number of the replica
        self.ended: set[int] = set()
        self.failure: BaseException | None = None

    def exchange(self, exchange: int, number: int, item: Any, what: str) -> list[Any]:
        """All replicas' items of the exchange of this number, as an allgather. RankFailure if one ended without passing
        one."""
        with self.condition:
            items = self.items.setdefault(exchange, {})
            items[number] = item
            self.condition.notify_all()
            while len(items) < self.size:
                missing = sorted(self.ended - set(items))
                if missing:
                    raise RankFailure(f"replica {number} waits in {what}, but replica {missing[0]} has "
                                      f"{'failed' if self.failure else 'returned'}: all replicas call the same layers",
                                      missing[0])
                self.condition.wait()
            self.items.pop(exchange, None)           # the other replicas that wait have a reference to the dict
            return [items[replica] for replica in range(self.size)]


class Replica:
    """One of several replicas that parallel_apply() runs in threads of one process."""

    def __init__(self, group: ReplicaGroup, number: int) -> None:
        self.group: ReplicaGroup = group
        self.number: int = number
        self._exchanges = 0

    def call_once(self, item: Any, function: Callable[[list[Any]], list[Any]], what: str) -> Any:
        """This replica's element of function([every replica's item]). Replica 0 calls it, recorded outside lanes."""
        items = self._exchange(item, what)
        results = None
        if self.number == 0:
            with outside_lanes():
                results = function(items)
        return self._exchange(results, what)[0][self.number]

    def _exchange(self, item: Any, what: str) -> list[Any]:
        self._exchanges += 1
        return self.group.exchange(self._exchanges, self.number, item, what)

    def end(self, error: BaseException | None = None) -> None:
        """Mark this replica as ended, by an error or not, so that no other replica waits for it."""
        with self.group.condition:
            self.group.ended.add(self.number)
            self.group.failure = self.group.failure or error
            self.group.condition.notify_all()
