"""Ends a test in this process that takes too long, and says where each thread was."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

HERE = os.path.dirname(__file__)
INNERMOST = 6                        # frames of a stack that are shown


@contextlib.contextmanager
def time_limit(seconds: float, what: str) -> Iterator[None]:
    """pytest.fail() inside after so many seconds, by SIGALRM: it interrupts Python code and waiting for locks.

    Does nothing outside the main thread, without SIGALRM, or where somebody else has set an alarm.
    """
    here = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    if not here or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return
    others = {thread.ident for thread in threading.enumerate()}      # ranks of an earlier test that still hang, perhaps

    def alarm(number: int, frame: Any) -> None:
        pytest.fail(f"{what} took longer than {seconds:g} s{stacks(frame, others)}", pytrace=False)

    before = signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def stacks(frame: Any, others: set[Any]) -> str:
    """Where the ranks of run_ranks are, or where this thread is if there are none; the most recent call last."""
    frames = sys._current_frames()
    ranks = [(thread.name, frames[thread.ident]) for thread in threading.enumerate()
             if thread.name.startswith("rank ") and thread.ident not in others and thread.ident in frames]
    return "".join(f"\n{name} is at:\n{own(at)}" for name, at in ranks or [("it", frame)])


def own(frame: Any) -> str:
    """A stack from the test on."""
    found = traceback.extract_stack(frame)
    start = max((number + 1 for number, entry in enumerate(found) if entry.filename.startswith(HERE)), default=0)
    return "".join(traceback.format_list(found[start:][-INNERMOST:])).rstrip()
