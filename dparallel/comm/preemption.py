"""A job that is asked to end (SIGTERM, SIGUSR1) ends after the step that runs, on all ranks together.

Schedulers ask with a signal some time before they kill: Slurm's preemption and `scancel` with SIGTERM, `--signal` with
the signal that the user names, Kubernetes with SIGTERM 30 s before SIGKILL.
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
from .job import communicator
from .watchdog.stall import end_job, write_report

PREEMPTED = 75                       # sysexits.h: EX_TEMPFAIL, "try again later"
GRACE = 30.0                         # seconds from the signal to the end by force; torchrun's, Slurm's KillWait
SIGNALS = (signal.SIGTERM, signal.SIGUSR1)
ECHO = 1.0                           # seconds in which a signal that comes again is the same request: a scheduler signals
                                     # ranks, and so does the launcher that it signals too


class Preempted(SystemExit):
    """What leaves the block of graceful_exit() on all ranks. `together`: no rank has to be told by MPI_Abort."""

    together = True


class graceful_exit:
    """with graceful_exit() as stop: the block ends after a step when the job is asked to, with exit code 75 on all ranks.

    In the block SIGTERM and SIGUSR1 only set a flag. `stop.requested()` at the end of each step asks on all ranks of `comm`
    (world() by default) whether one of them has it. Once it has said so, leaving the block, by `break` or `stop.exit()`,
    calls `save`, if it is given, and exits with code 75 when all ranks are there.

    A second signal, one second or more after the first, ends the process at once. So does the end of `grace` seconds after
    the first (default: DPARALLEL_GRACE_SECONDS, which `dprun --grace` sets, or 30): then the whole job ends with 128 + the
    signal's number.

    >>> with graceful_exit() as stop:
    ...     for step in range(steps):
    ...         train(step)
    ...         if stop.requested():
    ...             save(step)
    ...             break
    """

    def __init__(self, comm: Communicator | None = None, *, save: Callable[[], object] | None = None,
                 grace: float | None = None, code: int = PREEMPTED) -> None:
        if grace is not None and not grace > 0:
            raise ValueError(f"grace is a number of seconds above 0, not {grace!r}")
        self.comm = communicator(comm)
        self.save, self.code = save, code
        self.grace = grace if grace is not None else environment.grace_seconds or GRACE
        self.signal = 0                              # the number of the one that came
        self.agreed = False                          # all ranks know of it
        self._since = 0.0                            # when it came
        self._process = os.getpid()
        self._timer: threading.Timer | None = None
        self._old: dict[int, Any] = {}

    def __enter__(self) -> graceful_exit:
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("graceful_exit() is for the main thread: Python runs signal handlers in no other")
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
            if self._timer is not None:
                self._timer.cancel()
        if leaving and kind is None:
            raise Preempted(self.code)

    def requested(self) -> bool:
        """Whether the job is to end now, since any rank was asked to. Collective: all ranks call it after the same step."""
        self.agreed = self.agreed or self.comm.any(self.signal != 0)
        return self.agreed

    def exit(self) -> NoReturn:
        """Leave the block from wherever this is called in it, on all ranks, after requested() has said True."""
        if not self.agreed:
            raise RuntimeError("exit() is for after requested() has returned True: all ranks have to leave together")
        raise Preempted(self.code)

    def _leave(self) -> None:
        """Save, and wait for the others: a rank that has gone takes those that still save with it."""
        if self.save is not None:
            self.save()
        self.comm.barrier()
        leave_mark("stopped", str(self.code))

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """Note the first signal; end this process on a second one, and a forked child (a loader's worker) on any."""
        now = time.monotonic()
        if os.getpid() != self._process or (self.signal and now - self._since >= ECHO):
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif not self.signal:
            self.signal, self._since = number, now
            self._timer = threading.Timer(self.grace, self._too_late)
            self._timer.daemon = True
            self._timer.start()

    def _too_late(self) -> None:
        """End the job: the grace time is over."""
        name = signal.Signals(self.signal).name
        text = f"dparallel: rank {self.comm.rank} had not ended its step and saved {self.grace:g} s after {name}"
        code = 128 + self.signal
        rank = environment.rank_in_reports
        if not write_report(int(rank or self.comm.rank), text, code):
            with contextlib.suppress(OSError):
                sys.stderr.write(text + "\n")
                sys.stderr.flush()
        end_job(code)


__all__ = ["GRACE", "PREEMPTED", "Preempted", "graceful_exit"]
