"""Sharding over ranks: optimiser state, gradients and parameters in slices (ZeRO, Rajbhandari et al., arXiv 1910.02054).

May import: clipping, comm, consistency, hooks, pytree, reduction. Read first: unit.py.
"""

from __future__ import annotations

from .parameters import ParameterSlice, Shard
from .reducer import ShardedReducer, stage_of
from .zero import ZeroRedundancyOptimizer

__all__ = ["ParameterSlice", "Shard", "ShardedReducer", "ZeroRedundancyOptimizer", "stage_of"]
