"""How a bucket travels: summed in place with its weight behind it, or scaled beforehand and handed to a comm hook."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..comm import Communicator, Handle
from ..hooks.bucket_hook import CommHook, GradBucket
from .buckets import Bucket

HOOKED = 2.0                         # in the place of flags, which are 0 or 1: this rank has a hook
MSG_HOOKS = ("the comm hook {} is registered here, and not the same one on all ranks (those that are not named have none): "
             "call register_comm_hook, with the same hook, on every rank before the same backward()")


class Transport:
    """How the buckets of a pass reach the other ranks. `Summed` and `ScaledSum` sum gradients, `Hooked` hands them to the
    user's comm hook, the sharded `Scattered` leaves each rank the sum of its slice. They share no more than this interface:
    what travels differs (weight and flags with the gradients, before them, or after them), and so does the result."""

    same_everywhere = True                           # the result is bitwise the same on all ranks
    can_match = True                                 # a rank that has failed may send zeros for the rest of a pass
    unsure = False                                   # the next pass finds out whether all ranks have this transport
    problem = ""                                     # a mistake that it found, to be raised on all ranks
    blocks = False                                   # what it starts may wait for other ranks
    keeps_buckets = False                            # buckets must not be filled anew
    bytes_sent: Sequence[int] = ()                   # of each bucket; empty: the bytes of the buckets

    def agree(self, factor: float, weight: float, buckets: Sequence[Any]) -> float:
        """Before the first of `buckets` leaves: what this rank's gradients are multiplied by. May be a collective."""
        raise NotImplementedError

    def next_factor(self, factor: float, weight: float) -> float:
        """The same for later buckets of the pass, whose weight may have become not finite. Not a collective."""
        raise NotImplementedError

    def ready(self, bucket: Any, final: bool) -> bool:
        """Whether a full bucket may leave now. final: all are to."""
        return True

    def start(self, bucket: Any, weight: float, index: int, last: bool) -> None:
        """Send a bucket, the index-th of the pass."""
        raise NotImplementedError

    def under_way(self) -> Iterable[Any]:
        """The handles of what has been sent."""
        return ()

    def progress(self) -> bool:
        """Continue what is under way as far as that needs no waiting; whether all of it has arrived. MPI works on messages
        only while it is called, and a sum over several hosts takes a series of them."""
        return all(handle.done() for handle in self.under_way())

    def collect(self, buckets: Sequence[Any]) -> bool:
        """Wait for all; whether they are still to be divided by the sum of weights."""
        raise NotImplementedError

    def drop(self) -> None:
        """Wait for what is under way, and forget it."""
        raise NotImplementedError


class Summed(Transport):
    """Gradients times weight, flags and the weight itself in one allreduce; divided when they are back.

    Weights are counted in a unit, a power of two near their mean in the first pass. Equal ones that are powers of two
    themselves, as batch sizes mostly are, become 1, and nothing is multiplied; no other bit of a result changes.
    """

    def __init__(self, comm: Communicator, counts: bool = False) -> None:
        self.comm, self.blocks = comm, comm.sum_start_blocks
        self.unit = 0.0 if counts else 1.0           # 0: not known yet
        self._under_way: list[tuple[Bucket, Any]] = []

    def agree(self, factor: float, weight: float, buckets: Sequence[Bucket]) -> float:
        """The factor, in units."""
        return factor / (self.unit or 1.0)

    def next_factor(self, factor: float, weight: float) -> float:
        """The factor, in units."""
        return factor / (self.unit or 1.0)

    def start(self, bucket: Bucket, weight: float, index: int, last: bool) -> None:
        """Send a bucket."""
        bucket.buffer[-1] = weight / (self.unit or 1.0)
        self._under_way.append((bucket, bucket.sum.start(bucket.elements)))

    def progress(self) -> bool:
        """Go on with the sums."""
        return all(handle.done() for _, handle in self._under_way)

    def collect(self, buckets: Sequence[Bucket]) -> bool:
        """Wait for all; whether they are still to be divided by the sum of weights."""
        under_way, self._under_way = self._under_way, []
        for number, (bucket, handle) in enumerate(under_way):
            handle.wait()
            if number == 0 and not self.unit and 0.0 < (total := bucket.weight) < math.inf:
                # the same on all ranks: those that drop(), and those for which one of the next sums is an error
                self.unit = 2.0 ** round(math.log2(total / self.comm.size))
        return False

    def drop(self) -> None:
        """Wait for what is on its way."""
        self.collect([])


class Scaled(Transport):
    """Gradients are multiplied by weight over the sum of weights before they leave. So weights are summed first, on the
    user's communicator `comm`."""

    blocks = True
    keeps_buckets = True

    def __init__(self, comm: Communicator) -> None:
        self.comm = comm
        self._total = self._scale = 0.0

    def _sum_weights(self, weight: float, multiple: int) -> float:
        """What gradients are multiplied by beyond their weight: `multiple` over the sum of weights. Collective."""
        self._total = math.nan if self.problem else self.comm.total(weight)
        if not math.isfinite(self._total):
            return 0.0
        self._scale = multiple / (self._total or 1.0)
        return self._scale

    def next_factor(self, factor: float, weight: float) -> float:
        """The factor times the scale that agree() found."""
        if not math.isfinite(weight):
            self._total = weight
        return factor * self._scale if math.isfinite(self._total) else 0.0


class ScaledSum(Scaled):
    """The sum of scaled gradients: for float16, where gradients times rows would overflow."""

    def __init__(self, comm: Communicator) -> None:
        super().__init__(comm)
        self._under_way: list[Any] = []

    def agree(self, factor: float, weight: float, buckets: Sequence[Bucket]) -> float:
        """The factor times the scale. Collective."""
        self._under_way = []
        return factor * self._sum_weights(weight, 1)

    def start(self, bucket: Bucket, weight: float, index: int, last: bool) -> None:
        """Start the sum."""
        bucket.buffer[-1] = 0.0 if math.isfinite(weight) else weight
        self._under_way.append(bucket.sum.start())

    def under_way(self) -> Iterable[Any]:
        """The handles of the sums that have started in this pass."""
        return self._under_way

    def collect(self, buckets: Sequence[Bucket]) -> bool:
        """Wait for all sums."""
        self.drop()
        if not math.isfinite(self._total):
            buckets[0].buffer[-1] = self._total
        return False

    def drop(self) -> None:
        """Wait for all sums."""
        under_way, self._under_way = self._under_way, []
        for handle in under_way:
            handle.wait()


class Hooked(Scaled):
    """Gradients scaled so that their plain mean over ranks is right, handed to a comm hook. `before`: the transport that the
    hook replaces.

    Hooks communicate where the user's collectives do. So buckets of passes that have some leave at the end. Buckets are not
    filled anew: hooks keep state by the bucket's number.

    Ranks without a hook do not wait for those that have one, and wait on another communicator. So the first pass with a
    hook begins with the sums that such ranks come to, those of the buckets, on `bucket_comm`.
    """

    same_everywhere = can_match = False

    def __init__(self, comm: Communicator, bucket_comm: Communicator, hook: CommHook, before: Transport) -> None:
        super().__init__(comm)
        self.bucket_comm, self.hook, self.before = bucket_comm, hook, before
        self.unsure = comm.size > 1
        self._under_way: list[tuple[Bucket, GradBucket, Any]] = []

    def agree(self, factor: float, weight: float, buckets: Sequence[Bucket]) -> float:
        """The factor times the scale, and whether all ranks have this hook. Collective."""
        self._under_way = []
        if self.unsure:
            self._compare_hooks(buckets, weight)
        return factor * self._sum_weights(weight, self.comm.size)

    def start(self, bucket: Bucket, weight: float, index: int, last: bool) -> None:
        """Call the hook, unless ranks have different ones: then the sums that were compared have ended the pass."""
        if self.problem:
            bucket.buffer[-1] = math.nan
            return
        bucket.buffer[-1] = 0.0 if math.isfinite(weight) else weight
        grad_bucket = GradBucket(bucket, index, last, self.comm)
        self._under_way.append((bucket, grad_bucket, self.hook.start(grad_bucket)))

    def under_way(self) -> Iterable[Any]:
        """What the hook returned."""
        return [returned for *_, returned in self._under_way if isinstance(returned, Handle)]

    def collect(self, buckets: Sequence[Bucket]) -> bool:
        """Wait for all, and sum the flags that did not travel with them."""
        under_way, self._under_way = self._under_way, []
        if self.problem:
            buckets[0].buffer[-1] = self._total
            return False
        for bucket, grad_bucket, returned in under_way:
            self.hook.finish(grad_bucket, returned, bucket.gradients)
        self.bytes_sent = [grad_bucket.bytes_sent for _, grad_bucket, _ in under_way]
        flags = np.concatenate([bucket.used for bucket in buckets]).astype(np.float64)
        summed = self.comm.allreduce([np.append(flags, self._total)])[0]
        for bucket in buckets:
            bucket.used[...], summed = summed[:len(bucket.params)], summed[len(bucket.params):]
        self._total = float(summed[-1])
        for bucket in buckets:
            bucket.buffer[-1] = self._total
        return False

    def _compare_hooks(self, buckets: Sequence[Bucket], weight: float) -> None:
        """Whether all ranks have this hook. If not, all take part in the sums of those that have none, with weights that
        are no numbers, and raise at the end of the pass."""
        if isinstance(self.before, ScaledSum):
            self.comm.total(weight)                  # which comes first on ranks that still have that one
        gradients = [bucket.buffer.copy() for bucket in buckets]
        for bucket in buckets:
            bucket.buffer[...] = 0
            bucket.used[...] = HOOKED
            bucket.buffer[-1] = math.nan
        for handle in [bucket.sum.start() for bucket in buckets]:
            handle.wait()
        everywhere = buckets[0].used[0] == HOOKED * self.bucket_comm.size
        for bucket, before in zip(buckets, gradients, strict=True):
            bucket.buffer[...] = before
        same = everywhere and len(set(self.bucket_comm.allgather_object([self.hook.identity]))) == 1
        self.unsure = not same
        self.problem = "" if same else MSG_HOOKS.format(self.hook.name)

    def drop(self) -> None:
        """What hooks returned is left alone: ranks may be at different ones."""
        self._under_way = []
