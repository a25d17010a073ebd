"""torch.distributed.optim: the sharded optimizer, and that of local SGD."""

from ..hooks.model_averaging import PostLocalSGDOptimizer
from ..sharding import ZeroRedundancyOptimizer

__all__ = ["PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]
