"""torch.autograd.functional: see autograd.functional."""

from ..functional import *
from ..functional import __all__ as __all__
