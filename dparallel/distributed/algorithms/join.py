"""torch.distributed.algorithms.join: ranks with different numbers of batches."""

from ...model.join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]
