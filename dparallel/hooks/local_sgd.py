"""Post-local SGD: plain averages of gradients at first, later each group of ranks by itself (Lin et al. 2020,
arXiv:1808.07217), with the models averaged every now and then: see dparallel.hooks.model_averaging."""

from __future__ import annotations

from typing import Any

from ..comm import Communicator
from .bucket_hook import GradBucket, takes
from .plain import start_mean


class PostLocalSGDState:
    """State of post_localSGD_hook.

    Gradients are averaged over all ranks for the first start_localSGD_iter steps; after that over `subgroup`, a
    communicator of some ranks (comm.split), or not at all if subgroup is None or post_local_gradient_allreduce is
    False. PyTorch's default subgroup is the ranks of one machine.
    """

    def __init__(self, process_group: Communicator | None = None, subgroup: Communicator | None = None,
                 start_localSGD_iter: int = 1000, post_local_gradient_allreduce: bool = True) -> None:
        self.process_group, self.subgroup = process_group, subgroup
        self.start_localSGD_iter = start_localSGD_iter
        self.post_local_gradient_allreduce = post_local_gradient_allreduce
        self.iter = 0

    def state_dict(self) -> dict[str, Any]:
        """The number of steps taken, as {"iter": n}, for a checkpoint."""
        return {"iter": self.iter}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the number of steps from what state_dict() returned."""
        self.iter = int(state["iter"])


@takes(PostLocalSGDState)
def post_localSGD_hook(state: PostLocalSGDState, bucket: GradBucket) -> Any:
    """The mean over all ranks, and from step start_localSGD_iter on that over the subgroup. Ranks then have different
    gradients and weights, until a PeriodicModelAverager averages these."""
    together = state.iter < state.start_localSGD_iter
    state.iter += bucket.is_last()
    if together:
        return start_mean(bucket.over(state.process_group), bucket.array)
    if state.subgroup is None or not state.post_local_gradient_allreduce:
        bucket.bytes_sent = 0
        return bucket.buffer()
    return start_mean(bucket.over(state.subgroup), bucket.array)
