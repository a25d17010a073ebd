"""Departure: the order in which buckets are launched (their sums over ranks start), and when.

A bucket is launched when it is full and every bucket before it in the list has been launched. So all ranks start their sums
in one order, whatever the order in which their gradients arrive. At the end of the pass the remaining buckets are launched.

Initially the list has the order in which the reducer creates the buckets, oldest parameters last. Only this class changes
it: replace(), once after the first pass, by buckets in the order in which rank 0's gradients arrived; order_by(), for
sharded models after each pass, in the reverse of the order in which the forward used the units. Both happen between passes,
equally on all ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any

from autograd.core.engine import BackwardPass
from autograd.kernels.halves import scale
from autograd.spans.spans import recorders

from ..comm.waiting import waiting
from .buckets import GradientBucket
from .stats import Stats
from .transport import Transport


class Departure:
    """The buckets of one reducer in launch order, and which of them have been launched in this pass."""

    def __init__(self, buckets: Sequence[GradientBucket], transport: Transport, stats: Stats) -> None:
        self.buckets: list[Any] = list(buckets)      # GradientBuckets: Buckets, or the Units of a sharded model
        self.transport: Transport = transport
        self.stats: Stats = stats
        self._next = 0                               # the first bucket that has not been launched
        self._agreed = False                         # whether Transport.agree() has been called in this pass
        self._meanwhile: list[Callable[[], object]] = []     # the pass's list of functions called between nodes
        self._full: dict[int, int] = {}              # while a timeline records: since when buckets that wait are full, in ns

    def start_pass(self) -> None:
        """Start a pass, in which no bucket has been launched."""
        self._next, self._agreed = 0, False
        self._full.clear()

    def note_full(self) -> None:
        """For a timeline: record which of the remaining buckets are full and wait."""
        for bucket in self.buckets[self._next:]:
            if bucket.left == 0:
                self._full.setdefault(id(bucket), perf_counter_ns())

    def replace(self, buckets: Sequence[GradientBucket]) -> None:
        """Launch these buckets from the next pass on, in this order, which must be the same on all ranks."""
        self.buckets = list(buckets)

    def order_by(self, key: Callable[[Any], int]) -> None:
        """Launch the buckets from the next pass on by increasing key(bucket), which must be the same on all ranks."""
        self.buckets.sort(key=key)

    def is_launched(self, bucket: GradientBucket) -> bool:
        """Whether a bucket's sum over ranks has started."""
        return any(launched is bucket for launched in self.buckets[:self._next])

    def remaining(self) -> Sequence[Any]:
        """The buckets that have not been launched."""
        return self.buckets[self._next:]

    def may_launch(self, final: bool) -> bool:
        """Whether the next bucket may be launched. final: the pass has ended, so all may."""
        return self._next < len(self.buckets) and (final or self.buckets[self._next].left == 0)

    def launch(self, factor: float, weight: float, final: bool, complete: Callable[[Any], None],
               backward_pass: BackwardPass | None) -> None:
        """Start the sums of all buckets that may be launched. Gradients are multiplied by factor, and weight is sent with
        them. complete(bucket) is called first, to complete its gradients.
        """
        transport = self.transport
        if self._next == 0:
            self.stats.communication_begins()
        if self._agreed:
            factor = transport.next_factor(factor, weight)
        else:                                        # once in a pass, as it may be a collective
            self._agreed = True
            factor = transport.agree(factor, weight, self.buckets)
        while self.may_launch(final):
            bucket = self.buckets[self._next]
            if not transport.ready(bucket, final):
                return
            complete(bucket)
            gradients = bucket.gradients
            if factor == 0.0:
                gradients[...] = 0                   # also where it is nan: the mean over no rows
            elif factor != 1.0:
                scale(gradients, factor)
            if recorders:
                full = self._full.pop(id(bucket), 0) if self._full else 0
                waiting.sends = f"bucket {self._next}", perf_counter_ns() - full if full else 0
            transport.start(bucket, weight, self._next, self._next == len(self.buckets) - 1)
            waiting.sends = None
            self._next += 1
            if backward_pass is not None and self.progress not in backward_pass.meanwhile:
                self._meanwhile = backward_pass.meanwhile
                backward_pass.meanwhile.append(self.progress)

    def progress(self) -> None:
        """Called between two nodes of the pass: progress the pending sums, until all have completed."""
        if self.transport.progress():
            self._meanwhile.remove(self.progress)
