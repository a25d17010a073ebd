"""time_limit(): ends a test in this process that takes too long, with the stacks of its threads."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from types import FrameType

import pytest

HERE = os.path.dirname(__file__)
INNERMOST = 6                        # frames of a stack in the message


@contextlib.contextmanager
def time_limit(seconds: float, what: str) -> Iterator[None]:
    """Call pytest.fail() in the block after so many seconds, by SIGALRM, which interrupts Python code and waits for locks.

    Does nothing outside the main thread, without SIGALRM, or if another alarm is set.
    """
    possible = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    if not possible or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return
    earlier = {thread.ident for thread in threading.enumerate()}     # may include hanging ranks of an earlier test

    def alarm(number: int, frame: FrameType | None) -> None:
        pytest.fail(f"{what} took longer than {seconds:g} s{stacks(frame, earlier)}", pytrace=False)

    before = signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def stacks(frame: FrameType | None, earlier: set[int | None]) -> str:
    """The stacks of run_ranks()'s ranks, or of this thread; most recent call last. earlier: threads from before the test."""
    frames = sys._current_frames()
    ranks: list[tuple[str, FrameType | None]] = [(thread.name, frames[thread.ident]) for thread in threading.enumerate()
             if thread.name.startswith("rank ") and thread.ident not in earlier and thread.ident in frames]
    return "".join(f"\n{name} is at:\n{frames_of_test(at)}" for name, at in ranks or [("it", frame)])


def frames_of_test(frame: FrameType | None) -> str:
    """The last frames of a stack, from the test function on."""
    entries = traceback.extract_stack(frame)
    start = max((number + 1 for number, entry in enumerate(entries) if entry.filename.startswith(HERE)), default=0)
    return "".join(traceback.format_list(entries[start:][-INNERMOST:])).rstrip()
