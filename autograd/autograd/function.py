"""torch.autograd.function: see autograd.function."""

from ..function import *
from ..function import __all__ as __all__
