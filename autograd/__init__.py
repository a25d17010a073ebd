"""Differentiable arrays on NumPy, with PyTorch's names: `import autograd as ag` where a script says `import torch`."""

import sys
import warnings

from . import dtypes, graph, lanes, mode, nn, operators, optim, special
from . import random as random
from .dtypes import bool_ as bool
from .dtypes import float16, float32, float64, int8, int16, int32, int64, uint8
from .engine import backward, grad
from .function import Function, once_differentiable
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .ops.arithmetic import *
from .ops.choice import *
from .ops.comparison import *
from .ops.conv import *
from .ops.create import *
from .ops.elementwise import *
from .ops.exponential import *
from .ops.index import *
from .ops.linalg import *
from .ops.logic import *
from .ops.powers import *
from .ops.reduce import *
from .ops.rounding import *
from .ops.shape import *
from .ops.sign import *
from .ops.special import *
from .ops.trigonometric import *
from .random import Generator, initial_seed, manual_seed
from .tensor import Parameter, Tensor

float, double, half, int, long = float32, float64, float16, int32, int64
autograd = sys.modules[__name__]                # code that says torch.autograd.grad says ag.autograd.grad
# log(0) is -inf and 0/0 is nan without a word, as in PyTorch; NumPy's other warnings in our modules are of this kind too.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"autograd(\.|$)")
__all__ = [name for name in dir() if not name.startswith("_")]
