"""Departure: in which order buckets leave, and when. To change either, change this file.

A bucket leaves when it is full and every bucket before it in the list has left, so that all ranks start their sums in one
order, whatever order their gradients come in. At the end of the pass the rest leave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograd.kernels.halves import scale

from .buckets import GradientBucket
from .stats import Stats
from .transport import Transport


class Departure:
    """The buckets of one reducer, in the order in which they leave, and how far this pass has come in it."""

    def __init__(self, buckets: list[Any], transport: Transport, stats: Stats) -> None:
        self.buckets, self.transport, self.stats = buckets, transport, stats
        self._next = 0                               # the first bucket that has not left
        self._agreed = False                         # what gradients are multiplied by, see Transport.agree()
        self._meanwhile: list[Callable[[], object]] = []     # of the pass: what is called between its nodes

    def start_pass(self) -> None:
        """No bucket has left."""
        self._next, self._agreed = 0, False

    def has_left(self, bucket: GradientBucket) -> bool:
        """Whether a bucket's sum over ranks has begun."""
        return any(left is bucket for left in self.buckets[:self._next])

    def remaining(self) -> Sequence[Any]:
        """The buckets that have not left."""
        return self.buckets[self._next:]

    def may_leave(self, final: bool) -> bool:
        """Whether the next bucket may leave. final: the pass has ended, and all do."""
        return self._next < len(self.buckets) and (final or self.buckets[self._next].left == 0)

    def leave(self, factor: float, weight: float, final: bool, complete: Callable[[Any], None], walk: Any) -> None:
        """Start the sums of all buckets that may leave: gradients are multiplied by factor, and weight goes along.
        complete(bucket) brings its gradients into the form in which they are summed."""
        transport = self.transport
        if self._next == 0 and self.stats.sampling:
            self.stats.communication_begins()
        if self._agreed:
            factor = transport.next_factor(factor, weight)
        else:                                        # once in a pass: it may be a collective
            self._agreed = True
            factor = transport.agree(factor, weight, self.buckets)
        while self.may_leave(final):
            bucket = self.buckets[self._next]
            if not transport.ready(bucket, final):
                return
            complete(bucket)
            gradients = bucket.gradients
            if factor == 0.0:
                gradients[...] = 0                   # also what is nan: the mean over no rows
            elif factor != 1.0:
                scale(gradients, factor)
            transport.start(bucket, weight, self._next, self._next == len(self.buckets) - 1)
            self._next += 1
            if walk is not None and self.progress not in walk.meanwhile:
                self._meanwhile = walk.meanwhile
                walk.meanwhile.append(self.progress)

    def progress(self) -> None:
        """Between two nodes of the pass: go on with sums that are under way, until all are back."""
        if self.transport.progress():
            self._meanwhile.remove(self.progress)
