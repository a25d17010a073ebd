"""The mean in two levels: within each node, then over one rank of each, then back. Worth it where the network between
nodes is slow; MPI libraries often do the same by themselves."""

from __future__ import annotations

from typing import Any

from ..comm import Communicator, Handle
from .bucket_hook import GradBucket, takes


class HierarchicalState:
    """For hierarchical_hook. ranks_per_node: neighbouring ranks that make a node; None: those on one host.

    Its communicators are made on the first step, on all ranks.
    """

    def __init__(self, process_group: Communicator | None = None, ranks_per_node: int | None = None) -> None:
        if ranks_per_node is not None and ranks_per_node < 1:
            raise ValueError(f"ranks_per_node={ranks_per_node}: a node has at least one rank")
        self.process_group, self.ranks_per_node = process_group, ranks_per_node
        self._levels: tuple[Any, Any] | None = None

    def levels(self, comm: Any) -> tuple[Any, Any]:
        """The communicator of this rank's node, and that of the nodes' first ranks (None on other ranks)."""
        if self._levels is None:
            node = comm.split_node() if self.ranks_per_node is None else comm.split(comm.rank // self.ranks_per_node)
            self._levels = node, comm.split(0 if node.rank == 0 else None)
        return self._levels


@takes(HierarchicalState)
def hierarchical_hook(state: HierarchicalState, bucket: GradBucket) -> Handle:
    """The mean over ranks: a reduce within each node, an allreduce over their first ranks, a broadcast within each node."""
    comm: Any = bucket.over(state.process_group)
    node, leaders = state.levels(comm)

    def upwards(handle: Handle) -> Any:
        total = handle.value()
        if leaders is not None:
            total = leaders.allreduce([total])[0]
        return node.broadcast(total, 0)[0]

    return node.start_reduce([bucket.array / comm.size], 0).then(upwards)
