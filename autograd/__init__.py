"""Differentiable arrays on NumPy, with PyTorch's names: `import autograd as ag` where a script says `import torch`."""

import sys
import warnings

from . import dtypes, graph, lanes, mode, nn, operators, optim
from . import random as random
from .dtypes import bool_ as bool
from .dtypes import float16, float32, float64, int8, int16, int32, int64, uint8
from .engine import backward, grad
from .function import Function, once_differentiable
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .operators import add_scaled as add
from .operators import div_rounded as div
from .operators import sub_scaled as sub
from .ops.conv import conv2d, max_pool2d
from .ops.create import (
    arange,
    as_tensor,
    empty,
    empty_like,
    eye,
    from_numpy,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    rand,
    rand_like,
    randint,
    randn,
    randn_like,
    randperm,
    tensor,
    zeros,
    zeros_like,
)
from .ops.elementwise import (
    abs,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    ceil,
    clamp,
    cos,
    eq,
    exp,
    expm1,
    floor,
    floor_divide,
    ge,
    gt,
    isfinite,
    isinf,
    isnan,
    le,
    log,
    log1p,
    logical_and,
    logical_not,
    logical_or,
    lt,
    maximum,
    minimum,
    mul,
    ne,
    neg,
    pow,
    reciprocal,
    relu,
    remainder,
    round,
    rsqrt,
    sigmoid,
    sign,
    sin,
    sqrt,
    square,
    tanh,
    where,
)
from .ops.index import index_select
from .ops.linalg import matmul
from .ops.linalg import matmul as bmm
from .ops.linalg import matmul as mm
from .ops.reduce import (
    all,
    amax,
    amin,
    any,
    argmax,
    argmin,
    gather,
    log_softmax,
    logsumexp,
    max,
    mean,
    min,
    softmax,
    std,
    sum,
    var,
)
from .ops.shape import (
    cat,
    chunk,
    clone,
    flatten,
    flip,
    movedim,
    narrow,
    permute,
    reshape,
    split,
    squeeze,
    stack,
    t,
    transpose,
    unbind,
    unsqueeze,
)
from .random import Generator, initial_seed, manual_seed
from .tensor import Parameter, Tensor

float, double, half, int, long = float32, float64, float16, int32, int64
concat = cat
autograd = sys.modules[__name__]                # code that says torch.autograd.grad says ag.autograd.grad
# log(0) is -inf and 0/0 is nan without a word, as in PyTorch; NumPy's other warnings in our modules are of this kind too.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"autograd(\.|$)")
__all__ = [name for name in dir() if not name.startswith("_")]
