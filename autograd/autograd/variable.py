"""torch.autograd.variable: see autograd.variable."""

from ..variable import *
from ..variable import __all__ as __all__
