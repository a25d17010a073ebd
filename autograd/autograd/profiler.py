"""torch.autograd.profiler: see autograd.profiler."""

from ..profiler import *
from ..profiler import __all__ as __all__
