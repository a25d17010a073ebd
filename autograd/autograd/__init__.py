"""PyTorch's torch.autograd: the core by the names that code imports it from, `from autograd.autograd import Function`.

A folder of doors: each file passes names on from the rooms behind, and holds nothing. Read first: this page."""

from ..core.backward import backward, grad
from ..core.engine import is_checkpoint_valid
from ..core.function import Function, NestedIOFunction, once_differentiable
from ..core.modes import (
    enable_grad,
    is_grad_enabled,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from ..modes.anomaly import detect_anomaly, set_detect_anomaly
from ..modes.inference import inference_mode
from ..tensor_api.variable import Variable, _engine_run_backward, _make_grads, _tensor_or_tensors_to_tuple
from . import anomaly_mode, forward_ad, function, functional, grad_mode, graph, profiler, variable

# gradcheck is a function here, as in PyTorch. The module of that name comes first: imported later it would take its place
from . import gradcheck as _module

# isort: split
from ..transforms.gradcheck import GradcheckError, gradcheck, gradgradcheck

_is_checkpoint_valid = is_checkpoint_valid          # PyTorch's name

__all__ = ["Function", "GradcheckError", "NestedIOFunction", "Variable", "anomaly_mode", "backward", "detect_anomaly",
           "enable_grad", "forward_ad", "function", "functional", "grad", "grad_mode", "gradcheck", "gradgradcheck", "graph",
           "inference_mode", "is_grad_enabled", "is_multithreading_enabled", "no_grad", "once_differentiable", "profiler",
           "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled", "variable"]
