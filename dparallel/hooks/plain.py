"""The mean as it is, and no mean at all."""

from __future__ import annotations

from typing import Any

from ..comm import Communicator, Handle
from .bucket_hook import GradBucket


def start_mean(comm: Any, x: Any) -> Handle:
    """The mean over ranks of one array of each, under way; the handle's value is the array."""
    return comm.start_allreduce([x / comm.size]).then(lambda handle: handle.value()[0])


def allreduce_hook(process_group: Communicator | None, bucket: GradBucket) -> Handle:
    """The plain mean over ranks. process_group: a communicator of the same ranks; None for the model's."""
    return start_mean(bucket.over(process_group), bucket.array)


def noop_hook(state: Any, bucket: GradBucket) -> Any:
    """Each rank's own gradients: nothing is sent, and ranks drift apart. To measure what communication costs."""
    bucket.bytes_sent = 0
    return bucket.buffer()
