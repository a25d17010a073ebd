"""torch.autograd.grad_mode: see autograd.grad_mode."""

from ..grad_mode import *
from ..grad_mode import __all__ as __all__
