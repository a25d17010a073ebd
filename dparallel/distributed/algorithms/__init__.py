"""torch.distributed.algorithms: uneven inputs, and comm hooks for DistributedDataParallel."""

from . import ddp_comm_hooks, join

__all__ = ["ddp_comm_hooks", "join"]
