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
    """Average over ranks. Returns a Handle, whose wait() gives the flat mean.

    Args:
        process_group (Communicator): Ranks of the mean; None: the model's.
        bucket (GradBucket): Gradients in one flat buffer, from DataParallel.

    Example:
        >>> def train(comm):
        ...     model = dparallel.DataParallel(ag.nn.Linear(2, 1), comm=comm)
        ...     model.register_comm_hook(None, dparallel.hooks.allreduce_hook)
        ...     model(ag.full((1, 2), 1.0 + comm.rank)).sum().backward()
        ...     return model.module.weight.grad.tolist()
        >>> dparallel.run_ranks(2, train)[0]
        [[1.5, 1.5]]
    """
    return start_mean(bucket.over(process_group), bucket.array)


def noop_hook(state: Any, bucket: GradBucket) -> Tensor:
    """Return the rank's own gradients, to measure the cost of communication. Nothing is sent, so ranks diverge. For bucket,
    see allreduce_hook().

    Args:
        state: Ignored.

    Example:
        >>> def train(comm):
        ...     model = dparallel.DataParallel(ag.nn.Linear(2, 1), comm=comm)
        ...     model.register_comm_hook(None, dparallel.hooks.noop_hook)
        ...     model(ag.full((1, 2), 1.0 + comm.rank)).sum().backward()
        ...     return model.module.weight.grad.tolist()
        >>> dparallel.run_ranks(2, train)[0]
        [[1.0, 1.0]]
    """
    bucket.bytes_sent = 0
    return bucket.buffer()
