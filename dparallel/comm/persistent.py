"""Sums that are made again and again over the same memory, as MPI 4's persistent collectives (MPI 4.0, section 6.13)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .definition import Array
from .handle import Handle


class PersistentSum:
    """A vector of `size` elements, one on each place, that is summed over all places into itself, again and again."""

    def __init__(self, comm: Any, size: int, dtype: Any) -> None:
        self._comm, self.array = comm, np.zeros(size, dtype)

    def start(self, divided: int = 0) -> Handle:
        """Begin a sum; all places do, in the same order. The vector is not to be touched before wait(). The first `divided`
        elements of the sum are divided by its last one, unless that is 0 or not finite."""
        handle: Handle = self._comm.start_sum_in_place([self.array])
        if not divided:
            return handle
        return handle.then(lambda _: divide(self.array[:divided], float(self.array[-1])))


def divide(x: Array, total: float) -> None:
    """x /= total, unless that is 0 or not finite; by a power of two, as weights mostly add up to, in half the time and with
    the same bits."""
    if math.isfinite(total) and total not in (0.0, 1.0):
        if math.frexp(total)[0] == 0.5:
            x *= 1 / total
        else:
            x /= total
