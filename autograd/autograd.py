"""PyTorch's torch.autograd: the core by the name that code imports it from, `from autograd.autograd import Function`.

A module without a path: Python would find `autograd.autograd.graph` on the package's own, and import it a second time.
"""

import sys

from . import anomaly_mode, forward_ad, function, functional, grad_mode, graph, variable
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .derivatives import backward, grad
from .engine import is_checkpoint_valid
from .function import Function, once_differentiable
from .gradient_checks import GradcheckError, gradcheck, gradgradcheck
from .inference import inference_mode
from .mode import (
    enable_grad,
    is_grad_enabled,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .variable import Variable

_is_checkpoint_valid = is_checkpoint_valid          # PyTorch's name

for _module in (anomaly_mode, forward_ad, function, functional, grad_mode, graph, variable):
    sys.modules[f"{__name__}.{_module.__name__.rpartition('.')[2]}"] = _module

__all__ = ["Function", "GradcheckError", "Variable", "anomaly_mode", "backward", "detect_anomaly", "enable_grad",
           "forward_ad", "function", "functional", "grad", "grad_mode", "gradcheck", "gradgradcheck", "graph",
           "inference_mode", "is_grad_enabled", "is_multithreading_enabled", "no_grad", "once_differentiable",
           "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled", "variable"]
