"""The last calls of a communicator in check mode, with time and line, and the first one made from different lines."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from ..header import Call
from .call_site import Site, user_site

LENGTH = 64


class History:
    """The last LENGTH calls of one rank, each as (number, call, line, time)."""

    def __init__(self) -> None:
        self.calls: deque[tuple[int, Call, Site | None, float]] = deque(maxlen=LENGTH)

    def record(self, number: int, call: Call) -> Site | None:
        """Record a call that begins. Returns the user's line that makes it."""
        site = user_site()
        self.calls.append((number, call, site, time.monotonic()))
        return site

    def waiting_time(self) -> str:
        """How long the last call has waited for the other ranks, as text."""
        return f" (waited {time.monotonic() - self.calls[-1][-1]:.1f} s)" if self.calls else ""

    def earlier_calls(self) -> list[tuple[int, str, str]]:
        """All calls but the last, as (number, call, line) of texts that can be pickled."""
        return [(number, str(call), str(site or "an unknown line")) for number, call, site, _ in list(self.calls)[:-1]]


def first_divergence(histories: Sequence[Sequence[Any]]) -> str:
    """The text that names the first call that ranks made from different lines; "" if there is none.

    histories: each rank's earlier_calls(). These calls matched: a rank that skips a call has its next one matched with it.
    """
    for entries in zip(*histories, strict=False):
        if len({line for _, _, line in entries}) > 1:
            lines = [f"\n  rank {rank}: {call} at {line}" for rank, (_, call, line) in enumerate(entries)]
            return f"\nranks first diverged in collective number {entries[0][0]}:" + "".join(lines)
    return ""
