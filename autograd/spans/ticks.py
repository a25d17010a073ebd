"""The clock, this thread's ring, and raw access to an array's memory, for spans.py; for the compiled core see ticks.pxd."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# on Linux CLOCK_MONOTONIC: one clock for all processes of a host
now: Callable[[], int] = time.perf_counter_ns


class _Held(threading.local):
    """The ring of this thread and the recording it belongs to."""

    ring: Any = None
    recording = 0


_held = _Held()


def held(recording: int) -> Any:
    """The ring that this thread has in a recording; None if it has none yet."""
    return _held.ring if _held.recording == recording else None


def hold(ring: Any, recording: int) -> None:
    """Make `ring` this thread's; the recording keeps it alive."""
    _held.ring, _held.recording = ring, recording


def memory(numbers: Any) -> Any:
    """The fastest way to index these 64-bit integers."""
    return numbers
