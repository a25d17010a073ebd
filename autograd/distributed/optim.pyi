"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

from dparallel.distributed.optim import PostLocalSGDOptimizer as PostLocalSGDOptimizer
from dparallel.distributed.optim import ZeroRedundancyOptimizer as ZeroRedundancyOptimizer

__all__ = ["PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]
