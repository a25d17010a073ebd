"""The last calls of a communicator in check mode: when, from which line; and where the ranks parted."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from ..header import Call
from .call_site import Site, here

LENGTH = 64


class History:
    """What one rank called: (number, call, line, time) each."""

    def __init__(self) -> None:
        self.calls: deque[tuple[int, Call, Site | None, float]] = deque(maxlen=LENGTH)

    def note(self, number: int, call: Call) -> Site | None:
        """Keep a call that begins now; the user's line that makes it."""
        site = here()
        self.calls.append((number, call, site, time.monotonic()))
        return site

    def waited(self) -> str:
        """How long the last call has waited for the other ranks."""
        return f" (waited {time.monotonic() - self.calls[-1][-1]:.1f} s)" if self.calls else ""

    def before(self) -> list[tuple[int, str, str]]:
        """All calls but the last, as can be sent."""
        return [(number, str(call), str(site or "an unknown line")) for number, call, site, _ in list(self.calls)[:-1]]


def parted(histories: Sequence[Sequence[Any]]) -> str:
    """Where the earlier calls of all places, as before() gives them, first came from different lines; "" if they did not.

    These calls fitted, but a place that left one out meets the others' with its next one, until one does not fit.
    """
    for entries in zip(*histories, strict=False):
        if len({line for _, _, line in entries}) > 1:
            lines = [f"\n  place {place}: {call} at {line}" for place, (_, call, line) in enumerate(entries)]
            return f"\nthe places first came from different lines in collective number {entries[0][0]}:" + "".join(lines)
    return ""
