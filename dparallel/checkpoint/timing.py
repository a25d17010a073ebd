"""When it is time for a save, by the clock of rank 0, without a message at every step."""

from __future__ import annotations

import time
from collections.abc import Callable

from .errors import Ranks


class Due:
    """Whether this many seconds have passed since the last save: the same answer on all ranks, at the same call. Ranks read
    rank 0's clock together, and again after half of the remaining calls by their estimate: about 2 log2(calls) messages
    between two saves."""

    calls: int

    def __init__(self, ranks: Ranks, clock: Callable[[], float] = time.monotonic) -> None:
        self.ranks: Ranks = ranks
        self.clock: Callable[[], float] = clock
        self.saved()

    def saved(self) -> None:
        """A save was made, or a run has begun: start counting."""
        self.start: float = self.clock()
        self.calls = 0
        self.next: int = 1

    def now(self, seconds: float) -> bool:
        """Whether it is time. Collective at some calls."""
        self.calls += 1
        if self.calls < self.next:
            return False
        gone = self.ranks.from_first(self.clock() - self.start)
        if gone >= seconds:
            return True
        self.next = self.calls + max(1, int((seconds - gone) / max(gone, 1e-9) * self.calls / 2))
        return False
