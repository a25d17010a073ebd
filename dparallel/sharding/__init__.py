"""Sharding over ranks: optimizer state, gradients and parameters in slices (ZeRO, Rajbhandari et al., arXiv 1910.02054).

May import: comm, consistency, hooks, pytree, reduction. Read first: unit.py.
"""

from __future__ import annotations

from .memory import model_memory
from .parameters import ParameterSlice, Shard
from .reducer import ShardedReducer, stage_of
from .zero import ZeroRedundancyOptimizer

__all__ = ["ParameterSlice", "Shard", "ShardedReducer", "ZeroRedundancyOptimizer", "model_memory", "stage_of"]
