"""Whether this process had its core to itself: nanoseconds that its main thread was ready to run and did not.

Field 2 of /proc/self/schedstat; between computations a look takes 4 us, and 22 if it opens the file, so that stays open. On
shared cores 0 to 22 % of steps of 3 ms were quiet, and medians of the others were up to five times too long, so whatever is
measured to predict from, or to compare with, asks here.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np
import numpy.typing as npt

LEAST = 1e-4                         # seconds that a quiet step may have waited for a core
SHARE = 0.01                         # or this share of it
FEWEST = 5                           # quiet samples that are enough


def stolen() -> int:
    """Nanoseconds so far; 0 where the system does not tell."""
    file = _file(os.getpid())
    return int(os.pread(file, 64, 0).split()[1]) if file >= 0 else 0


@functools.cache
def _file(process: int) -> int:
    """The descriptor of this process's file, which is open as long as it lives; -1 where there is none."""
    try:
        file = os.open(f"/proc/{process}/schedstat", os.O_RDONLY)
        if len(os.pread(file, 64, 0).split()) == 3:
            return file
        os.close(file)
    except OSError:
        pass
    return -1


def quietest(seconds: npt.ArrayLike, lost: npt.ArrayLike) -> tuple[np.ndarray[Any, Any], bool]:
    """The numbers of the samples to look at: those of `seconds` that lost next to nothing; where these are fewer than
    FEWEST, the quietest third. And whether they were quiet."""
    taken, stole = np.asarray(seconds, float), np.asarray(lost, float)
    quiet = np.flatnonzero(stole <= np.maximum(SHARE * taken, min(LEAST, 0.1 * float(np.median(taken)))))
    if len(quiet) >= min(FEWEST, len(taken)):
        return quiet, True
    return np.argsort(stole, kind="stable")[:max(1, -(-len(taken) // 3))], False


__all__ = ["FEWEST", "quietest", "stolen"]
