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
    """What the reducer asks of one."""

    same_everywhere = True                           # what comes back is bitwise the same on all ranks
    can_match = True                                 # a rank that has failed may send zeros for the rest of a pass
    unsure = False                                   # the next pass finds out whether all ranks have this transport
    problem = ""                                     # what it found: all ranks are to hear of it
    blocks = False                                   # what it starts may wait for other ranks

    def ready(self, bucket: Any, final: bool) -> bool:
        """Whether a full bucket may leave now. final: all are to."""
        return True

    def under_way(self) -> Iterable[Any]:
        """The handles of what has been sent."""
        return ()

    def progress(self) -> bool:
        """Go on with what is on its way as far as that needs no waiting; whether all of it has come. MPI works on messages
        only while it is called, and a sum over several hosts takes a row of them."""
        return all(handle.done() for handle in self.under_way())


class Summed(Transport):
    """Gradients times weight, flags and the weight itself in one allreduce; divided when they are back.

    Weights are counted in a unit, a power of two near their mean in the first pass. Equal ones that are powers of two
    themselves, as batch sizes mostly are, become 1, and nothing is multiplied; no other bit of a result changes.
    """

    def __init__(self, comm: Communicator, counts: bool = False) -> None:
        self.comm, self.blocks = comm, comm.sums_meet
        self.unit = 0.0 if counts else 1.0           # 0: not known yet
        self.bytes_sent: list[int] = []              # by hooks, of each bucket; empty: as many as the buckets have
        self._under_way: list[tuple[Bucket, Any]] = []

    def agree(self, factor: float, weight: float, buckets: Sequence[Bucket] = ()) -> float:
        """What this rank's gradients are multiplied by. buckets: those that are to leave."""
        return factor / (self.unit or 1.0)

    again = agree

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


class Hooked(Transport):
    """Gradients scaled so that their plain mean over ranks is right: what comm hooks get. Without a hook they are summed,
    which float16 needs: gradients times rows would overflow. `before`: the transport whose place it takes.

    Hooks communicate where the user's collectives do. So buckets of passes that have some leave at the end.

    Ranks without a hook do not wait for those that have one, and wait on another communicator. So the first pass with a
    hook begins with the sums that such ranks come to, those of the buckets.
    """

    blocks = True

    def __init__(self, comm: Communicator, own: Communicator, hook: CommHook | None, before: Any = None) -> None:
        self.comm, self.own, self.hook, self.before = comm, own, hook, before
        self.same_everywhere = self.can_match = hook is None
        self.unsure = hook is not None and comm.size > 1
        self._plain = hook is None                   # in this pass, buckets are summed
        self._total = self._scale = 0.0
        self._under_way: list[tuple[Bucket, Any, Any]] = []
        self.bytes_sent: list[int] = []

    def agree(self, factor: float, weight: float, buckets: Sequence[Bucket] = ()) -> float:
        """Sum the weights over ranks; what this rank's gradients are multiplied by. Collective."""
        if self.unsure:
            self._compare_hooks(buckets, weight)
        self._total = math.nan if self.problem else self.comm.total(weight)
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
        if self.problem:
            weight = math.nan
        bucket.buffer[-1] = 0.0 if math.isfinite(weight) else weight
        if self._plain or self.hook is None:
            if not self.problem:                     # else the sums that were compared told of it
                self._under_way.append((bucket, None, bucket.sum.start()))
            return
        given = GradBucket(bucket, index, last, self.comm)
        self._under_way.append((bucket, given, self.hook.start(given)))

    def under_way(self) -> Iterable[Any]:
        """Sums, and what hooks returned."""
        return [returned for *_, returned in self._under_way if isinstance(returned, Handle)]

    def collect(self, buckets: Sequence[Bucket]) -> bool:
        """Wait for all, and sum the flags that did not travel with them."""
        under_way, self._under_way = self._under_way, []
        for bucket, given, returned in under_way:
            if self._plain or self.hook is None:
                returned.wait()
            else:
                self.hook.finish(given, returned, bucket.gradients)
        if not self._plain:
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

    def _compare_hooks(self, buckets: Sequence[Bucket], weight: float) -> None:
        """Whether all ranks have this hook. If not, all take part in the sums of those that have none, with weights that
        are no numbers, and raise at the end of the pass."""
        assert self.hook is not None
        if isinstance(self.before, Hooked):
            self.comm.total(weight)                  # which comes first on ranks that still have that one
        held = [bucket.buffer.copy() for bucket in buckets]
        for bucket in buckets:
            bucket.buffer[...] = 0
            bucket.used[...] = HOOKED
            bucket.buffer[-1] = math.nan
        for handle in [bucket.sum.start() for bucket in buckets]:
            handle.wait()
        everywhere = buckets[0].used[0] == HOOKED * self.own.size
        for bucket, before in zip(buckets, held, strict=True):
            bucket.buffer[...] = before
        same = everywhere and len(set(self.own.allgather_object([self.hook.identity]))) == 1
        self.unsure, self._plain = not same, not same
        self.problem = "" if same else MSG_HOOKS.format(self.hook.name)

    def drop(self) -> None:
        """Wait for sums that are on their way; what hooks returned is left alone: ranks may be at different ones."""
        under_way, self._under_way = self._under_way, []
        for _, given, returned in under_way:
            if given is None:
                returned.wait()
