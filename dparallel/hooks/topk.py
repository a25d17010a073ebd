"""Top-k: each rank sends its largest elements and adds the others to its next gradients (Aji & Heafield 2017)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..comm import Communicator, Handle
from .bucket_hook import GradBucket, requires_state
from .error_feedback import Residuals, in_single_precision

Array = np.ndarray[Any, Any]


class TopKState:
    """The state of topk_hook."""

    def __init__(self, ratio: float = 0.01, process_group: Communicator | None = None, use_error_feedback: bool = True,
                 start_iter: int = 0) -> None:
        if not 0 < ratio <= 1:
            raise ValueError(f"ratio={ratio} must be above 0 and at most 1")
        self.ratio: float = ratio
        self.process_group: Communicator | None = process_group
        self.use_error_feedback: bool = use_error_feedback
        self.start_iter: int = start_iter
        self.iter: int = 0
        self.residuals: Residuals = Residuals()

    def state_dict(self) -> dict[str, Any]:
        """The step, and the errors of this rank's messages, which differ between ranks."""
        return {"iter": self.iter, "residuals": self.residuals.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state."""
        self.iter = int(state["iter"])
        self.residuals.load_state_dict(state["residuals"])


@requires_state(TopKState)
def topk_hook(state: TopKState, bucket: GradBucket) -> Handle:
    """Average over ranks of each rank's largest elements, sent as (position, float32) pairs of 8 bytes."""
    comm = bucket.over(state.process_group)
    plain = state.iter < state.start_iter
    state.iter += bucket.is_last()
    bucket.refuse_complex()
    x = in_single_precision(bucket) / comm.size
    if plain or not x.size:
        return comm.start_allreduce([x]).then(lambda handle: handle.value()[0])
    if state.use_error_feedback:
        x = state.residuals.add_to(bucket, x)
    positions = largest_positions(x, math.ceil(state.ratio * x.size))
    values = x[positions].astype(np.float32)
    if state.use_error_feedback:
        error = x.copy()
        error[positions] -= values
        state.residuals.store(bucket, error)
    pairs = np.stack([positions.astype(np.uint32), values.view(np.uint32)])
    bucket.bytes_sent = pairs.nbytes

    def sum_pairs(handle: Handle) -> Array:
        """Sum in rank order. A rank's positions are distinct, so the result is bitwise the same on all ranks."""
        total = np.zeros_like(x)
        for rank_positions, rank_values in handle.value()[0].reshape(comm.size, 2, -1):
            total[rank_positions] += rank_values.view(np.float32)
        return total

    return comm.start_allgather([pairs]).then(sum_pairs)


def largest_positions(x: Array, count: int) -> Array:
    """The positions, in order, of the `count` elements of largest magnitude; a nan is larger than all."""
    magnitude = np.nan_to_num(np.abs(x), nan=np.inf, posinf=np.inf)
    return np.sort(np.argpartition(magnitude, x.size - count)[x.size - count:])
