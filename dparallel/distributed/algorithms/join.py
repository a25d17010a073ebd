"""torch.distributed.algorithms.join: ranks with different numbers of batches."""

from ...join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]
