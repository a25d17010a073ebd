"""Sums that are made again and again over the same memory, as MPI 4's persistent collectives (MPI 4.0, section 6.13)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .handle import Handle


class PersistentSum:
    """A vector of `size` elements, one on each place, that is summed over all places into itself, again and again."""

    def __init__(self, comm: Any, size: int, dtype: Any) -> None:
        self._comm, self.array = comm, np.zeros(size, dtype)

    def start(self) -> Handle:
        """Begin a sum; all places do, in the same order. The vector is not to be touched before wait()."""
        handle: Handle = self._comm.start_sum_in_place([self.array])
        return handle
