"""torch.autograd.profiler: see autograd.profiler."""

from ..observe.profiler import *
from ..observe.profiler import __all__ as __all__
