"""The mean in two levels: reduce within each node, allreduce over one rank of each, broadcast. Faster on slow networks."""

from __future__ import annotations

from typing import Any

from ..comm import Communicator, Handle
from .bucket_hook import GradBucket, requires_state


class HierarchicalState:
    """The state of hierarchical_hook. Its communicators are created in the first step, collectively."""

    def __init__(self, process_group: Communicator | None = None, ranks_per_node: int | None = None) -> None:
        if ranks_per_node is not None and ranks_per_node < 1:
            raise ValueError(f"ranks_per_node={ranks_per_node}: a node has at least one rank")
        self.process_group: Communicator | None = process_group
        self.ranks_per_node: int | None = ranks_per_node
        self._levels: tuple[Communicator, Communicator | None] | None = None

    def levels(self, comm: Communicator) -> tuple[Communicator, Communicator | None]:
        """The communicator of this rank's node, and that of the nodes' first ranks (None on other ranks)."""
        if self._levels is None:
            node = comm.split_node() if self.ranks_per_node is None else comm.split(comm.rank // self.ranks_per_node)
            self._levels = node, comm.split(0 if node.rank == 0 else None)
        return self._levels


@requires_state(HierarchicalState)
def hierarchical_hook(state: HierarchicalState, bucket: GradBucket) -> Handle:
    """Average over ranks in two levels: within nodes, and between their first ranks."""
    comm = bucket.over(state.process_group)
    node, leaders = state.levels(comm)

    def allreduce_and_broadcast(handle: Handle) -> Any:
        total = handle.value()
        if leaders is not None:
            total = leaders.allreduce([total])[0]
        return node.broadcast(total, 0)[0]

    return node.start_reduce([bucket.array / comm.size], 0).then(allreduce_and_broadcast)
