"""How many threads work: the number, and how OpenBLAS and oneDNN are told.

The number is what set_num_threads() was given, else OMP_NUM_THREADS, else what this process may use of the machine: the
cores of its affinity mask, at most the quota of its control groups, divided by the ranks that a launcher has started on
this host. It belongs to the process. What is computed depends on the number and on sizes, never on how busy the cores are.

Threads that wait by spinning are a disaster where other work runs on the cores: an LSTM's step took 16 to 100 times as long.
So oneDNN's workers sleep (libgomp is loaded with GOMP_SPINCOUNT=0, unless the user has set that or OMP_WAIT_POLICY) and get
work from WIDE multiplications on only; and OpenBLAS, whose workers can't be told to sleep, works with one thread in the
products made here, of which large ones are cut into pieces for threads of our own: the caller takes pieces too, so a worker
that gets no core costs nothing. Compiled kernels use one thread.
"""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import math
import os
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from ..base.environment import environment, usable_cores
from ..base.types import Array

WIDE = 1 << 24                       # multiplications, 0.2 ms, from which several threads take part
WIDE_PASS = 1 << 20                  # elements of a pass over memory, likewise
NARROW = 1 << 13                     # elements of a matrix below which OpenBLAS uses one thread anyway
WHOLE, PART = 1 << 26, 1 << 24       # multiplications of a product in OpenBLAS that is cut, and of its pieces


class ThreadSettings:
    """How many threads this process uses, and what runs on them."""

    def __init__(self) -> None:
        # of the affinity mask, as autograd is imported: later a lane may have bound the thread that asks to a part of them
        self.cores: int = usable_cores()
        self.number = 0                              # of threads; 0: not asked for yet
        self.given = False                           # by set_num_threads()
        self.changed: list[Callable[[], Any]] = []   # what is called when another number is set
        self.finding: threading.Lock = threading.Lock()  # around making the two below
        self.blas: OpenBlas | None = None
        self.blas_sought = False
        self.workers: _Workers | None = None




def number() -> int:
    """At most so many threads work at a time for one thread of the user's."""
    return thread_settings.number or _first()


def _first() -> int:
    thread_settings.number = environment.threads or max(1, available() // environment.ranks_here)
    return thread_settings.number


def set_number(count: int) -> None:
    """From now on, in the whole process: oneDNN's products and convolutions, and NumPy's products."""
    number()
    thread_settings.given = True
    if count != thread_settings.number:
        thread_settings.number = count
        for call in thread_settings.changed:
            call()
    blas = openblas()
    if blas is not None:
        blas.set(count)


def available() -> int:
    """The cores that this process may use at a time."""
    return max(1, math.ceil(min(thread_settings.cores, quota())))


def quota(root: str = "/sys/fs/cgroup", membership: str = "/proc/self/cgroup") -> float:
    """How many cores' time the control groups (version 1 or 2) of this process get; infinity if they are not limited."""
    least = math.inf
    try:
        with open(membership) as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        return least
    for _, controllers, path in lines:
        if controllers and "cpu" not in controllers.split(","):
            continue
        homes = [root] if not controllers else [os.path.join(root, name) for name in (controllers, "cpu")]
        parts = [part for part in path.split("/") if part]
        for home in homes:
            for depth in range(len(parts) + 1):      # those above limit it too; a container may see itself as the root
                least = min(least, _limit(os.path.join(home, *parts[:depth])))
    return least


def _limit(folder: str) -> float:
    try:
        with open(os.path.join(folder, "cpu.max")) as file:
            share, period = file.read().split()
    except (OSError, ValueError):
        try:
            with open(os.path.join(folder, "cpu.cfs_quota_us")) as file:
                share = file.read().strip()
            with open(os.path.join(folder, "cpu.cfs_period_us")) as file:
                period = file.read().strip()
        except OSError:
            return math.inf
    try:
        limit = float(share) / float(period)
    except (ValueError, ZeroDivisionError):          # "max"
        return math.inf
    return limit if limit > 0 else math.inf          # -1: none


# --- oneDNN's threads --------------------------------------------------------------------------------------------------

@contextlib.contextmanager
def sleeping_workers() -> Iterator[None]:
    """Around loading a library of OpenMP: its workers sleep while they wait. Only libgomp reads the variable, as it is
    loaded; neither os.environ nor other processes see it. Where PyTorch has loaded libgomp before, that is shared and waits
    as it did."""
    if environment.sets_waiting or sys.platform == "win32":
        yield
        return
    libc = ctypes.CDLL(None)
    libc.setenv(b"GOMP_SPINCOUNT", b"0", 1)
    try:
        yield
    finally:
        libc.unsetenv(b"GOMP_SPINCOUNT")


def prepare(library: Any) -> None:
    """Find the functions by which a library's OpenMP is told how many threads the calling thread's next regions have."""
    try:
        library.get_threads, library.set_threads = library.omp_get_max_threads, library.omp_set_num_threads
        library.set_threads.argtypes, library.set_threads.restype = [ctypes.c_int], None
    except AttributeError:                           # it has no OpenMP
        library.get_threads, library.set_threads = int, lambda count: None
    library.single = environment.threads == 1         # its regions have one thread without being told


def using(library: Any, count: int, call: Callable[..., Any], *args: Any) -> Any:
    """call(*args) of a library, with so many threads. The number is put back: PyTorch may have the same libgomp. 0.7 us."""
    if count == 1 and library.single:
        return call(*args)
    before = library.get_threads()
    library.set_threads(count)
    try:
        return call(*args)
    finally:
        library.set_threads(before)


# --- OpenBLAS ----------------------------------------------------------------------------------------------------------

class OpenBlas:
    """The number of threads of the library that NumPy's products are made by; `with blas.alone:` for one thread."""

    get: Any
    set: Any

    def __init__(self, library: Any, suffix: tuple[str, str]) -> None:
        self.get, self.set = (getattr(library, suffix[0].format(verb) + suffix[1]) for verb in ("get", "set"))
        self.set.argtypes, self.set.restype = [ctypes.c_int], None
        self._lock, self._inside, self._before = threading.Lock(), 0, 1

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = self.get()
                if self._before > 1:
                    self.set(1)
            self._inside += 1

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and self._before > 1:
                self.set(self._before)


NAMES = (("scipy_openblas_{}_num_threads", "64_"), ("scipy_openblas_{}_num_threads", ""),
         ("openblas_{}_num_threads", "64_"), ("openblas_{}_num_threads", ""))


def openblas() -> OpenBlas | None:
    """The OpenBLAS that this process has loaded; None if there is none, or its functions are not known."""
    if not thread_settings.blas_sought:
        with thread_settings.finding:
            if not thread_settings.blas_sought:
                thread_settings.blas = _find()
                thread_settings.blas_sought = True
    return thread_settings.blas


def _find() -> OpenBlas | None:
    try:
        with open("/proc/self/maps") as file:
            paths = {line.split(None, 5)[5].rstrip("\n") for line in file if "openblas" in line}
    except OSError:
        return None
    numpys = os.path.dirname(np.__file__)
    for path in sorted(paths, key=lambda path: not path.startswith(numpys)):     # scipy may have brought another
        for name in NAMES:
            try:
                found = OpenBlas(ctypes.CDLL(path), name)
            except (OSError, AttributeError):
                continue
            if not thread_settings.given and found.get() > number() and not environment.sets_openblas_threads:
                found.set(number())                  # it asks for cores, not for quotas and other ranks
            return found
    return None


class _Nothing:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass


_nothing = _Nothing()


def alone() -> Any:
    """A context in which OpenBLAS works with one thread."""
    return (openblas() or _nothing) if (thread_settings.number or _first()) > 1 else _nothing


def few(work: int) -> Any:
    """The same for less than WHOLE multiplications; NumPy's own number of threads for more."""
    return alone() if work < WHOLE else _nothing


def matmul(x: Array, y: Array, out: Array | None = None) -> Array:
    """np.matmul(x, y, out), the result in C order: with one thread of OpenBLAS, large ones in pieces on several threads."""
    if (thread_settings.number or _first()) == 1 or x.size + y.size < NARROW:
        return np.matmul(x, y, order="C") if out is None else np.matmul(x, y, out=out)
    with openblas() or _nothing:
        parts = _parts(x, y)
        if parts < 2:
            return np.matmul(x, y, order="C") if out is None else np.matmul(x, y, out=out)
        if out is None:
            stack = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
            out = np.empty((*stack, x.shape[-2], y.shape[-1]), x.dtype)
        shared([_piece(x, y, out, part, parts) for part in range(parts)])
        return out


def _parts(x: Array, y: Array) -> int:
    """Into how many pieces a product is cut."""
    if x.ndim < 2 or y.ndim < 2 or x.dtype.kind not in "fc" or x.dtype != y.dtype or x.dtype.itemsize < 4:
        return 1
    stack = max(prod(x.shape[:-2]), prod(y.shape[:-2]))          # at least so many matrices
    rows, columns, deep = x.shape[-2], y.shape[-1], max(x.ndim, y.ndim)
    length = max(len(z) for z in (x, y) if z.ndim == deep)
    work = stack * rows * x.shape[-1] * columns
    return 1 if work < WHOLE else min(2 * number(), work // PART, max(rows, columns) if stack == 1 else length)


def _piece(x: Array, y: Array, out: Array, part: int, parts: int) -> Callable[[], Any]:
    """One of the pieces: rows of the result, or columns where there are more of these; of a stack a part of its first
    dimension."""
    def part_of(length: int) -> slice:
        return slice(length * part // parts, length * (part + 1) // parts)

    if prod(out.shape[:-2]) != 1:
        some, deep = part_of(len(out)), out.ndim
        return lambda: np.matmul(x[some] if x.ndim == deep and len(x) > 1 else x,
                                 y[some] if y.ndim == deep and len(y) > 1 else y, out=out[some])
    if out.shape[-1] > out.shape[-2]:
        some = part_of(out.shape[-1])
        return lambda: np.matmul(x, y[..., some], out=out[..., some])
    some = part_of(out.shape[-2])
    return lambda: np.matmul(x[..., some, :], y, out=out[..., some, :])


# --- threads of our own ------------------------------------------------------------------------------------------------

class _Job:
    """Pieces of work, taken by whoever comes; the caller goes on when all are done, and none waits for who has none."""

    def __init__(self, pieces: list[Callable[[], Any]]) -> None:
        self.pieces: list[Callable[[], Any]] = pieces
        self.left: int = len(pieces)
        self.error: BaseException | None = None
        self.context: contextvars.Context = contextvars.copy_context()  # NumPy's handling of nan and overflow
        self._lock = threading.Lock()
        self.done: threading.Lock = threading.Lock()
        self.done.acquire()

    def help(self) -> None:
        """Take pieces until there are none."""
        while True:
            try:
                piece = self.pieces.pop()
            except IndexError:
                return
            try:
                piece()
            except BaseException as error:
                self.error = error
            with self._lock:
                self.left -= 1
                if not self.left:
                    self.done.release()


class _Workers:
    """Threads that sleep until there is a job."""

    def __init__(self) -> None:
        self.jobs: Any = import_module("queue").SimpleQueue()
        self.count: int = 0
        self.lock: threading.Lock = threading.Lock()

    def call(self, job: _Job, count: int) -> None:
        """Have up to so many of them help."""
        with self.lock:
            while self.count < count:
                threading.Thread(target=self._run, name=f"autograd-{self.count}", daemon=True).start()
                self.count += 1
        for _ in range(count):
            self.jobs.put(job)

    def _run(self) -> None:
        while True:
            job = self.jobs.get()
            job.context.copy().run(job.help)
            del job


thread_settings: ThreadSettings = ThreadSettings()


def shared(pieces: list[Callable[[], Any]]) -> None:
    """Run all pieces, on this thread and on up to number() - 1 others. An error of one of them is raised."""
    workers = thread_settings.workers
    if workers is None:
        with thread_settings.finding:
            workers = thread_settings.workers = thread_settings.workers or _Workers()
    job = _Job(pieces)
    workers.call(job, min(number(), len(pieces)) - 1)
    job.help()
    job.done.acquire()
    if job.error is not None:
        raise job.error


def _after_fork() -> None:
    """Neither our threads nor libgomp's survive a fork: the child works with one."""
    thread_settings.workers, thread_settings.finding = None, threading.Lock()
    thread_settings.number = 1
    for call in thread_settings.changed:
        call()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
