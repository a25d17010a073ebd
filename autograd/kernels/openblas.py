"""The threads of OpenBLAS, the library behind NumPy's products: one where this package calls it for small products.

Its workers spin while they wait, which cannot be changed. So matmul.py cuts large products into pieces for the thread pool,
each with one thread of OpenBLAS.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from typing import Any

import numpy as np

from ..base.environment import environment
from .threads import number, thread_settings

WHOLE = 1 << 26                      # multiplications of a product from which it is cut


class OpenBlas:
    """The number of threads of the library that NumPy's products are made by; `with blas.alone:` for one thread."""

    get: Any
    set: Any

    def __init__(self, library: Any, suffix: tuple[str, str]) -> None:
        self.library: Any = library
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


_found: list[OpenBlas | None] = []               # one entry, once the library was looked for
_finding = threading.Lock()
_nothing = contextlib.nullcontext()


def openblas() -> OpenBlas | None:
    """The OpenBLAS that this process has loaded; None if there is none, or its functions are not known."""
    if not _found:
        with _finding:
            if not _found:
                _found.append(_find())
    return _found[0]


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
                blas = OpenBlas(ctypes.CDLL(path), name)
            except (OSError, AttributeError):
                continue
            if not thread_settings.given and blas.get() > number() and not environment.sets_openblas_threads:
                blas.set(number())                   # it counts cores, not quotas and other ranks
            return blas
    return None


def alone() -> Any:
    """A context in which OpenBLAS works with one thread."""
    return (openblas() or _nothing) if (thread_settings.number or number()) > 1 else _nothing


def few(work: int) -> Any:
    """The same for less than WHOLE multiplications; NumPy's own number of threads for more."""
    return alone() if work < WHOLE else _nothing
