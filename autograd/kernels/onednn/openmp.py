"""The threads of oneDNN, which are OpenMP's: how many run the next call, and that they sleep while they wait.

Threads that spin while they wait cost much where the cores have other work: an LSTM's step took 16 to 100 times as long.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ...base.environment import environment


@contextlib.contextmanager
def sleeping_workers() -> Iterator[None]:
    """Around loading a library that uses OpenMP: its workers sleep while they wait, unless the user has set how.

    Only libgomp reads the variable, when it is loaded; neither os.environ nor other processes see it. If PyTorch has loaded
    libgomp before, both share it, and it waits as PyTorch's did.
    """
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
    """Find the functions that set the number of threads of the calling thread's next regions in a library's OpenMP."""
    try:
        library.get_threads, library.set_threads = library.omp_get_max_threads, library.omp_set_num_threads
        library.set_threads.argtypes, library.set_threads.restype = [ctypes.c_int], None
    except AttributeError:                           # it has no OpenMP
        library.get_threads, library.set_threads = int, lambda count: None
    library.single = environment.threads == 1         # its regions have one thread anyway


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
