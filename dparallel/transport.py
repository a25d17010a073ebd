"""How a bucket travels: summed in place with its weight behind it, or scaled beforehand and handed to a comm hook."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .bucket_hook import CommHook, GradBucket
from .buckets import Bucket
from .comm import Communicator


class Summed:
    """Gradients times weight, flags and the weight itself in one allreduce; divided when they are back.

    Weights are counted in a unit, a power of two near their mean in the first pass. Equal ones that are powers of two
    themselves, as batch sizes mostly are, become 1, and nothing is multiplied; no other bit of a result changes.
    """

    same_everywhere = True                           # what comes back is bitwise the same on all ranks
    can_match = True                                 # a rank that has failed may send zeros for the rest of a pass

    def __init__(self, comm: Communicator, counts: bool = False) -> None:
        self.comm = comm
        self.unit = 0.0 if counts else 1.0           # 0: not known yet
        self.bytes_sent: list[int] = []              # by hooks, of each bucket; empty: as many as the buckets have
        self._under_way: list[Any] = []

    def agree(self, factor: float, weight: float) -> float:
        """What this rank's gradients are multiplied by."""
        return factor / (self.unit or 1.0)

    again = agree

    def start(self, bucket: Bucket, weight: float, index: int, last: bool) -> None:
        """Send a bucket."""
        bucket.buffer[-1] = weight / (self.unit or 1.0)
        self._under_way.append(self.comm.start_sum_in_place([bucket.buffer]))

    def collect(self, buckets: Sequence[Bucket]) -> bool:
        """Wait for all; whether they are still to be divided by the sum of weights."""
        handles, self._under_way = self._under_way, []
        for handle in handles:
            handle.wait()
        if not self.unit and buckets and 0.0 < buckets[0].weight < math.inf:
            self.unit = 2.0 ** round(math.log2(buckets[0].weight / self.comm.size))    # the same on all ranks
        return True

    def drop(self) -> None:
        """Wait for what is on its way."""
        self.collect([])


class Hooked:
    """Gradients scaled so that their plain mean over ranks is right: what comm hooks get. Without a hook they are summed,
    which float16 needs: gradients times rows would overflow."""

    def __init__(self, comm: Communicator, own: Communicator, hook: CommHook | None) -> None:
        self.comm, self.own, self.hook = comm, own, hook
        self.same_everywhere = self.can_match = hook is None
        self._total = self._scale = 0.0
        self._under_way: list[tuple[Bucket, Any, Any]] = []
        self.bytes_sent: list[int] = []

    def agree(self, factor: float, weight: float) -> float:
        """Sum the weights over ranks; what this rank's gradients are multiplied by. Collective."""
        self._total = self.comm.total(weight)
        self._under_way = []
        if not math.isfinite(self._total):
            return 0.0
        self._scale = (self.comm.size if self.hook is not None else 1) / (self._total or 1.0)
        return factor * self._scale

    def again(self, factor: float, weight: float) -> float:
        """The same for a later bucket of the pass."""
        if not math.isfinite(weight):
            self._total = weight
        return factor * self._scale if math.isfinite(self._total) else 0.0

    def start(self, bucket: Bucket, weight: float, index: int, last: bool) -> None:
        """Call the hook."""
        bucket.buffer[-1] = 0.0 if math.isfinite(weight) else weight
        if self.hook is None:
            self._under_way.append((bucket, None, self.own.start_sum_in_place([bucket.buffer])))
            return
        given = GradBucket(bucket, index, last, self.comm)
        self._under_way.append((bucket, given, self.hook.start(given)))

    def collect(self, buckets: Sequence[Bucket]) -> bool:
        """Wait for all, and sum the flags that did not travel with them."""
        under_way, self._under_way = self._under_way, []
        for bucket, given, returned in under_way:
            if self.hook is None:
                returned.wait()
            else:
                self.hook.finish(given, returned, bucket.gradients)
        if self.hook is not None:
            self.bytes_sent = [given.bytes_sent for _, given, _ in under_way]
            flags = np.concatenate([bucket.used for bucket in buckets]).astype(np.float64)
            summed = self.comm.allreduce([np.append(flags, self._total)])[0]
            for bucket in buckets:
                bucket.used[...], summed = summed[:len(bucket.params)], summed[len(bucket.params):]
            self._total = float(summed[-1])
            for bucket in buckets:
                bucket.buffer[-1] = self._total
        elif not math.isfinite(self._total):
            buckets[0].buffer[-1] = self._total
        return False

    def drop(self) -> None:
        """Wait for sums that are on their way; what hooks returned is left alone: ranks may be at different ones."""
        under_way, self._under_way = self._under_way, []
        for _, given, returned in under_way:
            if given is None:
                returned.wait()
