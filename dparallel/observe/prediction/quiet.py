"""Whether this process had its core to itself during a measurement.

On cores shared by several processes, 0 to 22 % of steps of 3 ms were undisturbed, and the others' median was up to five
times too long. So predictions are made from measurements beside stolen().
"""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from ...comm.run_delay import RunDelay

LEAST = 1e-4                         # seconds that an undisturbed step may have waited for a core
SHARE = 0.01                         # or this share of it
FEWEST = 5                           # number of undisturbed samples that suffices


def stolen() -> int:
    """Nanoseconds so far in which the main thread was ready but did not run; 0 if the system does not report it."""
    return _counter(os.getpid()).read()[0]


@functools.cache
def _counter(process: int) -> RunDelay:
    """This process's counter, which stays open. process: its number, which differs in a forked child."""
    return RunDelay()


def quietest(seconds: npt.ArrayLike, lost: npt.ArrayLike) -> tuple[np.ndarray[Any, Any], bool]:
    """The indices of the least disturbed samples (at least a third), and whether they were undisturbed."""
    taken, stole = np.asarray(seconds, float), np.asarray(lost, float)
    quiet = np.flatnonzero(stole <= np.maximum(SHARE * taken, min(LEAST, 0.1 * float(np.median(taken)))))
    if len(quiet) >= min(FEWEST, len(taken)):
        return quiet, True
    return np.argsort(stole, kind="stable")[:max(1, -(-len(taken) // 3))], False
