"""The thread pool of this process. Its workers sleep until another thread starts them.

Two kinds of jobs run on it. A lane (core/parallel.py) requires a worker of its own, because lanes may wait for each other.
Pieces of one operation need none: share() starts workers only while fewer threads than the limit are busy. The calling
thread runs pieces as well, and never waits for a worker that has not started one."""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import os
import threading
import time
from collections.abc import Callable
from typing import Any

REST = 100                           # jobs before a worker that was moved in vain may be moved again
FEWEST, MOST = 16, 1024              # requests for pieces that a worker refuses after it had to wait for a core
LATENCY = 2e-4                       # seconds of waiting that are no sign of other work: waking up takes 50 us


def _this_core() -> Callable[[], int]:
    """A function that returns the core that this thread runs on, -1 where the system does not report it."""
    try:
        if hasattr(os, "sched_setaffinity"):
            return ctypes.PyDLL(None).sched_getcpu   # PyDLL: releasing the GIL would cost more than the call
    except (AttributeError, OSError, TypeError):     # the C library has none
        pass
    return lambda: -1


this_core: Callable[[], int] = _this_core()


class Worker:
    """A thread that runs one job after another. Starting a thread for each would cost 0.15 ms."""

    def __init__(self) -> None:
        self.job: Any = None
        self.wake: threading.Lock = threading.Lock()
        self.wake.acquire()
        self.since: float = 0.0                      # when the job was started
        self.core: int = -1                          # where the last job ran
        self.crowded: bool = False                   # whether it waited there
        self.rest: int = 0                           # jobs to go until it may be moved
        self.allowed: set[int] | None = None         # the cores it may use, while it is kept off some
        self.avoided: int = -1                       # the core that it is kept off between jobs
        self.refused: int = 0                        # requests to go until it runs pieces again
        self.penalty: int = FEWEST                   # requests to refuse after the next wait
        self.thread: threading.Thread = threading.Thread(target=self._serve, name="autograd worker", daemon=True)
        self.thread.start()

    def start(self, run: Callable[[], Any], end: Callable[[Any], Any], avoided: int = -1) -> None:
        """Call run(), which must not raise, with the caller's context variables; then end(result) to notify the caller. The
        worker must be idle, and is idle again when it calls end(). It stays off the core `avoided`, if there is another."""
        if avoided != self.avoided:
            self._avoid(avoided)
        self.job = contextvars.copy_context(), run, end
        self.since = time.perf_counter()
        self.wake.release()

    def _avoid(self, core: int) -> None:
        """Stay off a core until another is given; -1 for none, and then the thread itself goes back to all of its cores.

        Linux often wakes a thread on its caller's core, although others are idle. There it takes the caller's time: a loop
        in pieces then takes 25 us longer than on one thread."""
        if core >= 0:
            thread = self.thread.native_id or 0
            now = os.sched_getaffinity(thread)
            if self.allowed is None or now != self.allowed - {self.avoided}:     # not moved, or by the user since
                self.allowed = now
            with contextlib.suppress(OSError):       # there is no other core, or some containers forbid it
                os.sched_setaffinity(thread, self.allowed - {core})
        self.avoided = core

    def refuses(self) -> bool:
        """Whether the worker is not to run pieces for now: its cores have other work. It refuses 16 requests once it had to
        wait, and twice as many each time, up to 1,024: a piece that is interrupted costs its caller 4 ms."""
        self.refused -= 1
        return self.refused >= 0

    def _judge(self, elapsed: float, worked: float) -> None:
        """Decide whether to refuse pieces, from how long the last ones took."""
        if elapsed > 2 * worked + LATENCY:
            self.refused, self.penalty = self.penalty, min(2 * self.penalty, MOST)
        else:
            self.refused, self.penalty = 0, FEWEST

    def keep_off(self, taken: set[int]) -> None:
        """Wake up on none of these cores, and add the one it will wake on.

        Linux wakes a thread where it last ran. If that is the caller's core, both may take turns on it for milliseconds,
        step after step, while another core is idle: two lanes then take as long as one. So the worker is moved if it had to
        wait there, and not again for a while if it waits on the new core, too, for another thread or for the GIL."""
        if self.core in taken and self.core >= 0 and self.crowded and not self.rest:
            thread = self.thread.native_id or 0
            allowed = self.allowed or os.sched_getaffinity(thread)
            free = allowed - taken
            if free:
                self.core = min(free)
                with contextlib.suppress(OSError):   # some containers forbid it
                    os.sched_setaffinity(thread, {self.core})
                    self.allowed = allowed
        taken.add(self.core)

    def _serve(self) -> None:
        while True:
            self.wake.acquire()
            context, run, end = self.job
            moved = self.allowed is not None and self.avoided < 0
            if self.allowed is not None and moved:
                with contextlib.suppress(OSError):   # the process has lost them: the caller must not wait in vain
                    os.sched_setaffinity(0, self.allowed)
                self.allowed = None
            worked = time.thread_time()
            result = context.run(run)
            worked = time.thread_time() - worked
            elapsed = time.perf_counter() - self.since
            if self.avoided >= 0:
                self._judge(elapsed, worked)
            self.core, self.crowded = this_core(), elapsed > 1.5 * worked
            self.rest = REST if moved and self.crowded else max(0, self.rest - 1)
            self.job = None                          # or what it refers to would live until the next job
            workers.idle.append(self)                # first: the caller may need a worker at once
            end(result)
            del context, run, end, result


class Workers:
    """The workers of this process. Threads do not survive a fork: a child process starts its own."""

    def __init__(self) -> None:
        self.idle: list[Worker] = []                 # appending to a list and popping from it are atomic
        self._busy: list[None] = []                  # one entry for each thread that works beside its caller
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.idle.clear)
            os.register_at_fork(after_in_child=self._busy.clear)

    def take(self) -> Worker:
        """An idle worker, or a new one."""
        try:
            return self.idle.pop()
        except IndexError:
            return Worker()

    def enter(self, limit: float = float("inf")) -> bool:
        """Count one more busy thread, unless `limit` threads are busy, this one included."""
        self._busy.append(None)
        if len(self._busy) < limit:
            return True
        self.leave()
        return False

    def leave(self) -> None:
        """Count one less."""
        del self._busy[-1:]                          # there is none after a fork inside a job


workers: Workers = Workers()


class Pieces:
    """A queue of calls. Any thread takes calls from it; `done` can be acquired once all have returned."""

    def __init__(self, calls: list[Callable[[], Any]]) -> None:
        self.calls: list[Callable[[], Any]] = calls
        self.left: int = len(calls)
        self.error: BaseException | None = None
        self.lock: threading.Lock = threading.Lock()
        self.done: threading.Lock = threading.Lock()
        self.done.acquire()

    def run(self) -> int:
        """Make calls until the queue is empty; their number."""
        made = 0
        while True:
            try:
                call = self.calls.pop()
            except IndexError:
                return made
            made += 1
            try:
                call()
            except BaseException as error:           # raised again in the caller's thread, by share()
                self.error = error

    def end(self, result: int) -> None:
        """Count what a worker has done."""
        workers.leave()
        self.finish(result)

    def finish(self, made: int) -> None:
        """Let the caller continue once all calls have been made."""
        if made:
            with self.lock:
                self.left -= made
                if not self.left:
                    self.done.release()


def share(calls: list[Callable[[], Any]], threads: int) -> None:
    """Make all calls, on this thread and on up to threads - 1 workers. If one raises, its exception is raised here."""
    helpers = min(threads, len(calls)) - 1
    if helpers < 1:
        for call in calls:
            call()
        return
    pieces, core = Pieces(calls), this_core()
    for _ in range(helpers):
        if not workers.enter(threads):
            break
        try:
            worker = workers.take()
        except RuntimeError:                         # too many threads in the system, or Python is shutting down
            workers.leave()
            break
        if worker.refuses():
            workers.idle.append(worker)
            workers.leave()
            break
        worker.start(pieces.run, pieces.end, core)
    pieces.finish(pieces.run())
    pieces.done.acquire()
    if pieces.error is not None:
        raise pieces.error
