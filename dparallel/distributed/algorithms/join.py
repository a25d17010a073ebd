"""torch.distributed.algorithms.join: ranks with different numbers of batches."""

from ...reduction.join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]
