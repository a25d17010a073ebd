"""Sharding over ranks: optimiser state, gradients and parameters in slices (ZeRO, Rajbhandari et al., arXiv 1910.02054).

May import: clipping, comm, consistency, hooks, nests, reduction. Read first: unit.py.
"""

from __future__ import annotations

from .model import ShardedModel, check_sharding
from .reducer import ShardedReducer, stage_of
from .slices import Shard, Slice
from .zero import ZeroRedundancyOptimizer

__all__ = ["Shard", "ShardedModel", "ShardedReducer", "Slice", "ZeroRedundancyOptimizer", "check_sharding", "stage_of"]
