"""torch.autograd.graph: see autograd.graph."""

from ..graph import *
from ..graph import __all__ as __all__
