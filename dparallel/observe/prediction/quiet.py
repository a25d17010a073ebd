"""Whether this process had its core to itself while something was measured.

On cores that several processes share, 0 to 22 % of steps of 3 ms were undisturbed, and the median of the others was up to
five times too long. So whatever a prediction is made from, or compared with, is measured beside stolen().
"""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from ...comm.run_delay import RunDelay

LEAST = 1e-4                         # seconds that a quiet step may have waited for a core
SHARE = 0.01                         # or this share of it
FEWEST = 5                           # quiet samples that are enough


def stolen() -> int:
    """Nanoseconds so far that the main thread was ready to run and did not; 0 where the system does not tell."""
    return _counter(os.getpid()).read()[0]


@functools.cache
def _counter(process: int) -> RunDelay:
    """The counter of this process, which stays open. process: its number, another one in a forked child."""
    return RunDelay()


def quietest(seconds: npt.ArrayLike, lost: npt.ArrayLike) -> tuple[np.ndarray[Any, Any], bool]:
    """The numbers of the samples to look at: those of `seconds` that lost next to nothing; where these are fewer than
    FEWEST, the quietest third. And whether they were quiet."""
    taken, stole = np.asarray(seconds, float), np.asarray(lost, float)
    quiet = np.flatnonzero(stole <= np.maximum(SHARE * taken, min(LEAST, 0.1 * float(np.median(taken)))))
    if len(quiet) >= min(FEWEST, len(taken)):
        return quiet, True
    return np.argsort(stole, kind="stable")[:max(1, -(-len(taken) // 3))], False


__all__ = ["FEWEST", "quietest", "stolen"]
