"""torch.distributed.optim: the sharded optimiser, and that of local SGD."""

from ..local_sgd import PostLocalSGDOptimizer
from ..sharding import ZeroRedundancyOptimizer

__all__ = ["PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]
