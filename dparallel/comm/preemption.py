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
from .job import communicator, world
from .watchdog.stall import end_job, write_report

PREEMPTED = 75                       # sysexits.h: EX_TEMPFAIL, "try again later"
GRACE = 30.0                         # seconds from the signal to the end by force; torchrun's, Slurm's KillWait
SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGUSR1") if hasattr(signal, name))     # Windows: the first
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
    signal's number, also where the main thread is in C code that has released the GIL. Where it keeps the GIL, no thread of
    this process can act; `dprun` ends the job 2 s later.

    Args:
        comm (Communicator): The ranks, by default world().
        save (Callable[[], object]): Called before the end, if all have agreed to it.
        grace (float): Seconds from the signal to the end by force. Default: DPARALLEL_GRACE_SECONDS, or 30.
        code (int): The exit code. Default: 75.

    Raises:
        ValueError: grace is not above 0.

    Example:
        >>> import signal, dparallel
        >>> def train():
        ...     with dparallel.graceful_exit(save=lambda: print("saved")) as stop:
        ...         for step in range(10):
        ...             if step == 3:
        ...                 signal.raise_signal(signal.SIGTERM)          # the scheduler's
        ...             if stop.requested():
        ...                 print("stop after step", step)
        ...                 break
        >>> try:
        ...     train()
        ... except SystemExit as end:
        ...     print("exit code", end.code)
        stop after step 3
        saved
        exit code 75
        >>> try:
        ...     with dparallel.graceful_exit(code=3) as stop:
        ...         signal.raise_signal(signal.SIGTERM)
        ...         for batch in range(stop.comm.size):
        ...             if stop.requested():
        ...                 stop.exit()                      # where a break would leave an inner loop only
        ... except SystemExit as end:
        ...     print("exit code", end.code)
        exit code 3
    """

    def __init__(self, comm: Communicator | None = None, *, save: Callable[[], object] | None = None,
                 grace: float | None = None, code: int = PREEMPTED) -> None:
        if grace is not None and not grace > 0:
            raise ValueError(f"grace is a number of seconds above 0, not {grace!r}")
        self._comm = None if comm is None else communicator(comm)
        world()                                      # a spare waits here, and has not asked for signals yet
        self.save: Callable[[], object] | None = save
        self.code: int = code
        self.grace: float = grace if grace is not None else environment.grace_seconds or GRACE
        self.signal: int = 0                         # the number of the one that came
        self.agreed: bool = False                    # all ranks know of it
        self._since = 0.0                            # when it came
        self._process = os.getpid()
        self._pipe = self._old_pipe = -1             # into which numbers of signals are written; where they went before
        self._clock: threading.Thread | None = None  # reads them
        self._old: dict[int, Any] = {}

    @property
    def comm(self) -> Communicator:
        """Whose ranks end together; by default those that world() has now, others after a rank was lost."""
        return self._comm or world()

    def __enter__(self) -> graceful_exit:
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("graceful_exit() is for the main thread: Python runs signal handlers in no other")
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
        """Whether the job is to end now, since any rank was asked to. Collective: all ranks call it after the same step."""
        self.agreed = self.agreed or self.comm.any(self.signal != 0)
        return self.agreed

    def exit(self) -> NoReturn:
        """Leave the block from wherever this is called in it, on all ranks, after requested() has said True.

        Raises:
            Preempted: requested() has returned True; a SystemExit with the exit code, which leaves the block.
            RuntimeError: requested() has not returned True.
        """
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
            os.write(self._pipe, bytes([number]))    # again: others may have called set_wakeup_fd() since

    def _start_clock(self) -> None:
        """Have a thread count the grace time from when a signal comes.

        Python runs _handle between byte codes of the main thread, which may be in C code for long. The C half of its signal
        handling writes the number into a pipe at once.
        """
        numbers, self._pipe = os.pipe()
        if hasattr(os, "set_blocking"):              # set_wakeup_fd() demands it; not on Windows
            os.set_blocking(self._pipe, False)
        self._old_pipe = signal.set_wakeup_fd(self._pipe, warn_on_full_buffer=False)
        self._clock = threading.Thread(target=self._count_down, args=(numbers,), name="dparallel grace", daemon=True)
        self._clock.start()

    def _stop_clock(self) -> None:
        """Stop counting, unless this is a forked child."""
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
    """The signals of a forked child (a loader ends its workers by SIGTERM) are not its parent's."""
    if any(isinstance(getattr(signal.getsignal(number), "__self__", None), graceful_exit) for number in SIGNALS):
        signal.set_wakeup_fd(-1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

__all__ = ["GRACE", "PREEMPTED", "Preempted", "graceful_exit"]
