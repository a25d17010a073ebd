"""torch.autograd.forward_ad: see autograd.forward_ad."""

from ..forward_ad import *
from ..forward_ad import __all__ as __all__
