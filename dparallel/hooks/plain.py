"""allreduce_hook, the plain mean, and noop_hook, which sends nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..autograd import Tensor
from ..comm import Communicator, Handle
from .bucket_hook import GradBucket


def start_mean(comm: Communicator, x: np.ndarray[Any, Any]) -> Handle:
    """Start the mean over ranks of one array of each. The handle's value is the array."""
    return comm.start_allreduce([x / comm.size]).then(lambda handle: handle.value()[0])


def allreduce_hook(process_group: Communicator | None, bucket: GradBucket) -> Handle:
    """Average over ranks. Returns a Handle, whose wait() gives the flat mean."""
    return start_mean(bucket.over(process_group), bucket.array)


def noop_hook(state: Any, bucket: GradBucket) -> Tensor:
    """Return the rank's own gradients, to measure the cost of communication. Nothing is sent, so ranks diverge."""
    bucket.bytes_sent = 0
    return bucket.buffer()
