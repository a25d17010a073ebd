"""Preemption: a job that gets SIGTERM or SIGUSR1 ends after the current step, on all ranks together.

Schedulers send a signal before they kill: Slurm's preemption and `scancel` SIGTERM, `--signal` a chosen one, Kubernetes
SIGTERM 30 s before SIGKILL.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

from .base import Communicator
from .environment import environment, leave_mark
from .job import communicator, world
from .watchdog.stall import end_job, write_report

PREEMPTED = 75                       # sysexits.h: EX_TEMPFAIL, "try again later"
GRACE = 30.0                         # seconds from the signal to the forced end; as torchrun and Slurm's KillWait
SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGUSR1") if hasattr(signal, name))     # Windows: the first
ECHO = 1.0                           # seconds in which a repeated signal is the same request: the scheduler signals ranks,
                                     # and so does the launcher, which gets the signal too


class Preempted(SystemExit):
    """Leaves the block of graceful_exit() on all ranks. `together`: no rank needs MPI_Abort."""

    together = True


class graceful_exit:
    """with graceful_exit() as stop: end the block after a step when a stop of the job is requested, with exit code 75 on all
    ranks.

    In the block SIGTERM and SIGUSR1 only set a flag. Call `stop.requested()` at the end of each step: it is True on all
    ranks of `comm` if one has the flag. Then leave the block with `break` or `stop.exit()`: it calls `save`, if passed, and
    exits when all ranks have arrived. A second signal, at least one second later, ends the process at once. When the grace
    time is over, the job ends with 128 + the signal's number, even if the main thread is in C code that has released the
    GIL; otherwise `dprun` ends it 2 s later.
    """

    def __init__(self, comm: Communicator | None = None, *, save: Callable[[], object] | None = None,
                 grace: float | None = None, code: int = PREEMPTED) -> None:
        if grace is not None and not grace > 0:
            raise ValueError(f"grace must be a number of seconds above 0, not {grace!r}")
        self._comm = None if comm is None else communicator(comm)
        world()                                      # a spare waits here, before it installs signal handlers
        self.save: Callable[[], object] | None = save
        self.code: int = code
        self.grace: float = grace if grace is not None else environment.grace_seconds or GRACE
        self.signal: int = 0                         # the number of the received signal
        self.agreed: bool = False                    # all ranks know of it
        self._since = 0.0                            # when it arrived
        self._process = os.getpid()
        self._pipe = self._old_pipe = -1             # gets the numbers of signals; the pipe that got them before
        self._clock: threading.Thread | None = None  # reads them
        self._old: dict[int, Any] = {}

    @property
    def comm(self) -> Communicator:
        """The ranks that end together. By default those of the current world(), which changes after a rank is lost."""
        return self._comm or world()

    def __enter__(self) -> graceful_exit:
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("call graceful_exit() in the main thread: Python runs signal handlers in no other thread")
        self._start_clock()
        self._old = {number: signal.signal(number, self._handle) for number in SIGNALS}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        leaving = self.agreed and (kind is None or isinstance(error, Preempted))
        try:
            if leaving:
                self._leave()
        finally:
            for number, old in self._old.items():
                signal.signal(number, old)
            self._stop_clock()
        if leaving and kind is None:
            raise Preempted(self.code)

    def requested(self) -> bool:
        """Whether a signal has reached any rank. Collective: all ranks call it after the same step."""
        self.agreed = self.agreed or self.comm.any(self.signal != 0)
        return self.agreed

    def exit(self) -> NoReturn:
        """Leave the block, on all ranks: raises Preempted, a SystemExit, after requested() was True, else RuntimeError."""
        if not self.agreed:
            raise RuntimeError("call exit() only after requested() has returned True: all ranks must leave together")
        raise Preempted(self.code)

    def _leave(self) -> None:
        """Save, and wait for the others: if a rank exits early, ranks that still save are killed with it."""
        if self.save is not None:
            self.save()
        self.comm.barrier()
        leave_mark("stopped", str(self.code))

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """Record the first signal; end this process on a second one, and a forked child (a loader's worker) on any."""
        now = time.monotonic()
        if os.getpid() != self._process or (self.signal and now - self._since >= ECHO):
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif not self.signal:
            self.signal, self._since = number, now
            os.write(self._pipe, bytes([number]))    # again: other code may have called set_wakeup_fd() since

    def _start_clock(self) -> None:
        """Start a thread that measures the grace time from the arrival of a signal: the C half of Python's handling writes
        its number to a pipe at once, while _handle waits for the main thread, which may be in C code for long."""
        numbers, self._pipe = os.pipe()
        if hasattr(os, "set_blocking"):              # set_wakeup_fd() requires it; not on Windows
            os.set_blocking(self._pipe, False)
        self._old_pipe = signal.set_wakeup_fd(self._pipe, warn_on_full_buffer=False)
        self._clock = threading.Thread(target=self._count_down, args=(numbers,), name="dparallel grace", daemon=True)
        self._clock.start()

    def _stop_clock(self) -> None:
        """Stop the thread, unless this is a forked child."""
        if self._clock is not None and os.getpid() == self._process:
            signal.set_wakeup_fd(self._old_pipe)
            os.write(self._pipe, b"\0")              # not by closing it: a forked child may have it, too
            self._clock.join()
            os.close(self._pipe)

    def _count_down(self, numbers: int) -> None:
        """Start a timer at the first signal of SIGNALS; stop it at 0, the end of the block."""
        timer = None
        while (byte := os.read(numbers, 1)) != b"\0":
            if self._old_pipe >= 0:
                with contextlib.suppress(OSError):
                    os.write(self._old_pipe, byte)
            if timer is None and byte[0] in SIGNALS:
                timer = threading.Timer(self.grace, self._too_late, byte)
                timer.daemon = True
                timer.start()
        os.close(numbers)
        if timer is not None:
            timer.cancel()

    def _too_late(self, number: int) -> None:
        """End the job: the grace time is over."""
        name = signal.Signals(number).name
        text = f"dparallel: rank {self.comm.rank} had not ended its step and saved {self.grace:g} s after {name}"
        code = 128 + number
        rank = environment.rank_in_reports
        if not write_report(int(rank or self.comm.rank), text, code):
            with contextlib.suppress(OSError):
                sys.stderr.write(text + "\n")
                sys.stderr.flush()
        end_job(code)


def _after_fork() -> None:
    """Restore signal handling in a forked child: its signals (a loader ends its workers by SIGTERM) are not its parent's."""
    if any(isinstance(getattr(signal.getsignal(number), "__self__", None), graceful_exit) for number in SIGNALS):
        signal.set_wakeup_fd(-1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
