"""Transports: how the gradients of a bucket reach the other ranks, by an in-place allreduce or by a comm hook."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..comm import Communicator, Handle
from ..consistency.checksum import same, sample
from ..hooks.bucket_hook import CommHook, GradBucket
from .buckets import Bucket

HOOK_FLAG = 2.0                      # instead of a flag, which is 0 or 1: this rank has a hook
MSG_HOOKS = ("the comm hook {} is registered here, but not on all ranks (ranks that are not named have none): "
             "call register_comm_hook, with the same hook, on every rank before the same backward()")


class Transport:
    """How the buckets of a pass reach the other ranks.

    `AllReduceTransport` and `ScaledAllReduceTransport` sum gradients, `HookTransport` passes them to the user's comm hook,
    `ReduceScatterTransport` of a sharded model gives each rank the sum of its shard. They share this interface only: they
    send different things (weight and flags with the gradients, before them, or after them) and have different results.
    """

    same_on_all_ranks = True                         # the result is bitwise the same on all ranks
    can_send_zeros = True                            # a rank that has failed may send zeros for the rest of a pass
    compares_hooks = False                           # the next pass begins with a comparison of the ranks' hooks
    problem = ""                                     # an error that it detected, to be raised on all ranks
    blocks = False                                   # start() may wait for other ranks
    fixed_buckets = False                            # buckets must not be assigned again
    bytes_sent: Sequence[int] = ()                   # of each bucket; empty: the bytes of the buckets
    parted = False                                   # ranks have had different results, as in local SGD

    def agree(self, factor: float, weight: float, buckets: Sequence[Any]) -> float:
        """Called before the first of `buckets` is launched. Returns the factor of this rank's gradients. May be
        collective.
        """
        raise NotImplementedError

    def next_factor(self, factor: float, weight: float) -> float:
        """The same for later buckets of the pass, whose weight may have become nan or infinite. Not collective."""
        raise NotImplementedError

    def ready(self, bucket: Any, final: bool) -> bool:
        """Whether a full bucket may be launched now. final: the pass has ended."""
        return True

    def start(self, bucket: Any, weight: float, index: int, last: bool) -> None:
        """Send a bucket, the index-th of the pass."""
        raise NotImplementedError

    def handles(self) -> Iterable[Any]:
        """The handles of the pending operations."""
        return ()

    def progress(self) -> bool:
        """Progress the pending operations without waiting. Returns whether all have completed. MPI processes messages only
        while it is called, and a sum over several hosts is a series of messages."""
        return all(handle.done() for handle in self.handles())

    def collect(self, buckets: Sequence[Any]) -> bool:
        """Wait for all. Returns whether the results must still be divided by the sum of weights."""
        raise NotImplementedError

    def drop(self) -> None:
        """Wait for the pending operations, and drop their results."""
        raise NotImplementedError


class AllReduceTransport(Transport):
    """One allreduce per bucket of gradients times weight, flags, and the weight; the sum is divided afterwards.

    Weights are divided by a unit, a power of two near their mean in the first pass. Equal weights that are powers of two, as
    batch sizes mostly are, become 1, and no gradient is multiplied. A power of two changes no bit of the result.
    """

    def __init__(self, comm: Communicator, counts: bool = False) -> None:
        self.comm: Communicator = comm
        self.blocks: bool = comm.sum_start_blocks
        self.weight_unit: float = 0.0 if counts else 1.0    # 0: not determined yet
        self._pending: list[tuple[Bucket, Any]] = []

    def agree(self, factor: float, weight: float, buckets: Sequence[Bucket]) -> float:
        """The factor divided by the unit of weights."""
        return factor / (self.weight_unit or 1.0)

    def next_factor(self, factor: float, weight: float) -> float:
        """The factor divided by the unit of weights."""
        return factor / (self.weight_unit or 1.0)

    def start(self, bucket: Bucket, weight: float, index: int, last: bool) -> None:
        """Start the sum of a bucket."""
        bucket.buffer[-1] = weight / (self.weight_unit or 1.0)
        self._pending.append((bucket, bucket.sum.start(bucket.elements)))

    def progress(self) -> bool:
        """Progress the sums."""
        return all(handle.done() for _, handle in self._pending)

    def collect(self, buckets: Sequence[Bucket]) -> bool:
        """Wait for all. The first sum of weights determines their unit."""
        handles, self._pending = self._pending, []
        for number, (bucket, handle) in enumerate(handles):
            handle.wait()
            if number == 0 and not self.weight_unit and 0.0 < (total := bucket.weight) < math.inf:
                # the same on all ranks, also on those that drop() and those that raise at a later sum
                self.weight_unit = 2.0 ** round(math.log2(total / self.comm.size))
        return False

    def drop(self) -> None:
        """Wait for the pending sums."""
        self.collect([])


class ScaledTransport(Transport):
    """Gradients are multiplied by weight over the sum of weights before they are sent. Therefore the weights are summed
    first, on the user's communicator `comm`.
    """

    blocks = True
    fixed_buckets = True

    def __init__(self, comm: Communicator) -> None:
        self.comm = comm
        self._total = self._scale = 0.0

    def _sum_weights(self, weight: float, multiple: int) -> float:
        """`multiple` over the sum of weights, by which gradients are multiplied beside their weight. Collective."""
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


class ScaledAllReduceTransport(ScaledTransport):
    """The allreduce of scaled gradients, for float16, where gradients times rows would overflow."""

    def __init__(self, comm: Communicator) -> None:
        super().__init__(comm)
        self._pending: list[Any] = []

    def agree(self, factor: float, weight: float, buckets: Sequence[Bucket]) -> float:
        """The factor times the scale. Collective."""
        self._pending = []
        return factor * self._sum_weights(weight, 1)

    def start(self, bucket: Bucket, weight: float, index: int, last: bool) -> None:
        """Start the sum of a bucket."""
        bucket.buffer[-1] = 0.0 if math.isfinite(weight) else weight
        self._pending.append(bucket.sum.start())

    def handles(self) -> Iterable[Any]:
        """The handles of the sums that have started in this pass."""
        return self._pending

    def collect(self, buckets: Sequence[Bucket]) -> bool:
        """Wait for all sums."""
        self.drop()
        if not math.isfinite(self._total):
            buckets[0].buffer[-1] = self._total
        return False

    def drop(self) -> None:
        """Wait for all sums."""
        handles, self._pending = self._pending, []
        for handle in handles:
            handle.wait()


class HookTransport(ScaledTransport):
    """Gradients scaled so that their plain mean over ranks is right, and passed to a comm hook. `replaced`: the transport
    before the hook.

    Hooks use the user's communicator, so buckets are launched at the end of passes that have other collectives. Buckets are
    not assigned again, because hooks may keep state by the bucket's index.

    Ranks without a hook do not wait for those that have one, and they wait on another communicator. Therefore the first pass
    with a hook begins with the sums in which such ranks wait: those of the buckets, on `bucket_comm`.
    """

    same_on_all_ranks = can_send_zeros = False

    def __init__(self, comm: Communicator, bucket_comm: Communicator, hook: CommHook, replaced: Transport) -> None:
        super().__init__(comm)
        self.bucket_comm: Communicator = bucket_comm
        self.hook: CommHook = hook
        self.replaced: Transport = replaced
        self.compares_hooks: bool = comm.size > 1
        self._pending: list[tuple[Bucket, GradBucket, Any]] = []

    def agree(self, factor: float, weight: float, buckets: Sequence[Bucket]) -> float:
        """The factor times the scale, and whether all ranks have this hook. Collective."""
        self._pending = []
        if self.compares_hooks:
            self._compare_hooks(buckets, weight)
        return factor * self._sum_weights(weight, self.comm.size)

    def start(self, bucket: Bucket, weight: float, index: int, last: bool) -> None:
        """Call the hook. If ranks have different hooks, the pass has ended with their comparison."""
        if self.problem:
            bucket.buffer[-1] = math.nan
            return
        bucket.buffer[-1] = 0.0 if math.isfinite(weight) else weight
        grad_bucket = GradBucket(bucket, index, last, self.comm)
        self._pending.append((bucket, grad_bucket, self.hook.start(grad_bucket)))

    def handles(self) -> Iterable[Any]:
        """The handles that the hook returned."""
        return [returned for *_, returned in self._pending if isinstance(returned, Handle)]

    def collect(self, buckets: Sequence[Bucket]) -> bool:
        """Wait for all, then sum the flags, which the hook does not send, and bits that show whether results differ."""
        handles, self._pending = self._pending, []
        if self.problem:
            buckets[0].buffer[-1] = self._total
            return False
        for bucket, grad_bucket, returned in handles:
            self.hook.finish(grad_bucket, returned, bucket.gradients)
        self.bytes_sent: list[int] = [grad_bucket.bytes_sent for _, grad_bucket, _ in handles]
        results = sample([bucket.gradients for bucket in buckets])
        summed = self.comm.allreduce([np.concatenate([*(bucket.flags for bucket in buckets), results, [self._total]],
                                                     dtype=np.float64, casting="unsafe")])[0]
        for bucket in buckets:
            bucket.flags[...], summed = summed[:bucket.flags.size], summed[bucket.flags.size:]
        *agreed, self._total = summed.tolist()
        self.parted = self.parted or not same(agreed, self.comm.size)
        for bucket in buckets:
            bucket.buffer[-1] = self._total
        return False

    def _compare_hooks(self, buckets: Sequence[Bucket], weight: float) -> None:
        """Determine whether all ranks have this hook. If not, all take part in the sums of the ranks without one, with nan
        as their weight, and raise at the end of the pass.
        """
        if isinstance(self.replaced, ScaledAllReduceTransport):
            self.comm.total(weight)                  # ranks that still have that transport begin with it
        gradients = [bucket.buffer.copy() for bucket in buckets]
        for bucket in buckets:
            bucket.buffer[...] = 0
            bucket.used[...] = HOOK_FLAG
            bucket.buffer[-1] = math.nan
        for handle in [bucket.sum.start() for bucket in buckets]:
            handle.wait()
        on_all_ranks = buckets[0].used[0] == HOOK_FLAG * self.bucket_comm.size
        for bucket, replaced in zip(buckets, gradients, strict=True):
            bucket.buffer[...] = replaced
        same = on_all_ranks and len(set(self.bucket_comm.allgather_object([self.hook.identity]))) == 1
        self.compares_hooks = not same
        self.problem: str = "" if same else MSG_HOOKS.format(self.hook.name)

    def drop(self) -> None:
        """Drop the handles without waiting: ranks may have started different numbers of them."""
        self._pending = []
