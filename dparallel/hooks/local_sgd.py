"""Post-local SGD: averages over all ranks, later over groups only (Lin et al. 2020); of models: model_averaging.py."""

from __future__ import annotations

from typing import Any

from ..autograd import Tensor
from ..comm import Communicator, Handle
from .bucket_hook import GradBucket, requires_state
from .plain import start_mean


class PostLocalSGDState:
    """The state of post_localSGD_hook."""

    def __init__(self, process_group: Communicator | None = None, subgroup: Communicator | None = None,
                 start_localSGD_iter: int = 1000, post_local_gradient_allreduce: bool = True) -> None:
        self.process_group: Communicator | None = process_group
        self.subgroup: Communicator | None = subgroup
        self.start_localSGD_iter = start_localSGD_iter
        self.post_local_gradient_allreduce = post_local_gradient_allreduce
        self.iter: int = 0

    def state_dict(self) -> dict[str, Any]:
        """The number of steps, as {"iter": n}, for a checkpoint."""
        return {"iter": self.iter}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the number of steps."""
        self.iter = int(state["iter"])


@requires_state(PostLocalSGDState)
def post_localSGD_hook(state: PostLocalSGDState, bucket: GradBucket) -> Handle | Tensor:
    """Average over all ranks, and from step start_localSGD_iter on over the subgroup.

    Ranks then have different gradients and weights, until a PeriodicModelAverager averages the weights.
    """
    over_all_ranks = state.iter < state.start_localSGD_iter
    state.iter += bucket.is_last()
    if over_all_ranks:
        return start_mean(bucket.over(state.process_group), bucket.array)
    if state.subgroup is None or not state.post_local_gradient_allreduce:
        bucket.bytes_sent = 0
        return bucket.buffer()
    return start_mean(bucket.over(state.subgroup), bucket.array)
