"""torch.autograd.function: see autograd.function."""

from ..function import *
from ..function import __all__ as __all__
from ..function import _ContextMethodMixin as _ContextMethodMixin
from ..function import _SingleLevelFunction as _SingleLevelFunction
