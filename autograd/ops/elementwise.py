"""The elementwise operations in one place, for the modules that build on them, and the activations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._declare import elementwise
from .arithmetic import *
from .arithmetic import minus, plus, quotient
from .cast import cast
from .choice import *
from .comparison import *
from .exponential import *
from .exponential import logistic
from .logic import *
from .powers import *
from .rounding import *
from .sign import *
from .trigonometric import *

relu = elementwise("Relu", lambda x: np.maximum(x, 0), lambda g, z: g * (z > 0))  # 0 at 0, as PyTorch
silu = elementwise("Silu", lambda x: x * logistic(x), lambda g, x: g * (sigmoid(x) * (1 + x * (1 - sigmoid(x)))))
softplus = elementwise("Softplus", lambda x: np.logaddexp(x, np.zeros((), x.dtype)), lambda g, x: g * sigmoid(x))


def leaky_relu(x: Any, negative_slope: float = 0.01) -> Any:
    """x where positive, negative_slope * x elsewhere."""
    return where(x > 0, x, x * negative_slope)


__all__ = ["relu"]
METHODS = IN_PLACE = ["relu"]
