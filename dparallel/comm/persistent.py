"""Sums repeated over the same memory, like MPI 4's persistent collectives (MPI 4.0, section 6.13)."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from autograd.base.arguments import whole_number
from autograd.spans.spans import recorders

from .handle import Handle
from .header import CollectiveError
from .reference import Array
from .waiting import Flight

EXACT = 1 << 24                      # float32 has all integers up to this

MSG_MISMATCH = "ranks sum different vectors"
MSG_CAUGHT = "\nDid only some ranks catch an exception inside backward()? `with model.skipping()` catches it on all ranks"


class PersistentSum:
    """A vector of `size` elements on each rank that is repeatedly summed over all ranks, in place.

    Its number on the communicator and the number's square are summed, too: if ranks sum different vectors of one length, the
    variance of these numbers is not 0, and all ranks notice.
    """

    def __init__(self, comm: Any, size: int, dtype: DTypeLike) -> None:
        size = whole_number("persistent_sum(size", size)
        comm.vectors += 1
        self._numbered = comm.size > 1 and np.dtype(dtype).itemsize >= 4     # narrower dtypes have too few integers
        self._number = comm.vectors % math.isqrt(EXACT // comm.size)
        self._comm, self._sent = comm, np.zeros(size + 2 * self._numbered, dtype)
        self.array: Array = self._sent[:size]

    def start(self, divided: int = 0) -> Handle:
        """Start a sum; all ranks start the same sums in the same order.

        The vector must not be touched before wait(), which raises CollectiveError on all ranks if they summed different
        vectors. The first `divided` elements of the sum are divided by its last one, unless that is 0 or not finite.
        """
        if self._numbered:
            self._sent[-2:] = self._number, self._number ** 2
        handle: Handle = self._comm.start_sum_in_place([self._sent])
        if recorders and handle.flight is None:
            handle.flight = Flight("sum_in_place", self._sent.nbytes, self._comm.flight())
        handle.after = partial(self._finish, divided)
        return handle

    def _finish(self, divided: int) -> None:
        if self._numbered:
            total, squares = self._sent[-2:].real.tolist()
            if total * total != self._comm.size * squares:
                raise CollectiveError(f"collective of {self._comm.size} ranks rejected, {MSG_MISMATCH}: this rank sums "
                                      f"{self.array.dtype} {self.array.shape}, vector {self._number}.{MSG_CAUGHT}")
        if divided:
            divide(self.array[:divided], float(self.array[-1]))


def divide(x: Array, total: float) -> None:
    """x /= total, unless that is 0 or not finite. By a power of two it multiplies: the same bits in half the time."""
    if math.isfinite(total) and total not in (0.0, 1.0):
        if math.frexp(total)[0] == 0.5:
            x *= 1 / total
        else:
            x /= total
