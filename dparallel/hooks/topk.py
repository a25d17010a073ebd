"""Sparse gradients: each rank sends its largest elements, and keeps the rest for later (Aji & Heafield 2017)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..comm import Communicator, Handle
from .bucket_hook import GradBucket, takes
from .feedback import Residuals, wide

Array = np.ndarray[Any, Any]


class TopKState:
    """For topk_hook. ratio: the share of a bucket's elements that each rank sends, at least one; start_iter: steps of
    plain averages before; without use_error_feedback, what is not sent is lost."""

    def __init__(self, ratio: float = 0.01, process_group: Communicator | None = None, use_error_feedback: bool = True,
                 start_iter: int = 0) -> None:
        if not 0 < ratio <= 1:
            raise ValueError(f"ratio={ratio}: the share of elements to send is above 0, and at most 1")
        self.ratio, self.process_group, self.use_error_feedback = ratio, process_group, use_error_feedback
        self.start_iter, self.iter = start_iter, 0
        self.residuals = Residuals()

    def state_dict(self) -> dict[str, Any]:
        """The step, and what this rank has not sent yet; other ranks have other values."""
        return {"iter": self.iter, "residuals": self.residuals.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """What state_dict() gave on this rank."""
        self.iter = int(state["iter"])
        self.residuals.load_state_dict(state["residuals"])


@takes(TopKState)
def topk_hook(state: TopKState, bucket: GradBucket) -> Handle:
    """The mean over ranks of each one's largest elements, sent as (position, float32) pairs of 8 bytes."""
    comm = bucket.over(state.process_group)
    plain = state.iter < state.start_iter
    state.iter += bucket.is_last()
    bucket.refuse_complex()
    mine = wide(bucket) / comm.size
    if plain or not mine.size:
        return comm.start_allreduce([mine]).then(lambda handle: handle.value()[0])
    if state.use_error_feedback:
        mine = state.residuals.added(bucket, mine)
    positions = largest(mine, math.ceil(state.ratio * mine.size))
    values = mine[positions].astype(np.float32)
    if state.use_error_feedback:
        left = mine.copy()
        left[positions] -= values
        state.residuals.keep(bucket, left)
    pairs = np.stack([positions.astype(np.uint32), values.view(np.uint32)])
    bucket.bytes_sent = pairs.nbytes

    def add_up(handle: Handle) -> Array:
        """In rank order, and a rank's positions are different ones: bitwise the same everywhere."""
        total = np.zeros_like(mine)
        for where, what in handle.value()[0].reshape(comm.size, 2, -1):
            total[where] += what.view(np.float32)
        return total

    return comm.start_allgather([pairs]).then(add_up)


def largest(x: Array, count: int) -> Array:
    """The positions, in order, of the `count` elements of largest magnitude; a nan is larger than all."""
    magnitude = np.nan_to_num(np.abs(x), nan=np.inf, posinf=np.inf)
    return np.sort(np.argpartition(magnitude, x.size - count)[x.size - count:])
