"""torch._C: the few of its names that packages, and texts about PyTorch's source, use."""

import sys

from .base.size import Size as Size
from .compat import c_functions as _functions
from .compat.c_names import (
    DispatchKey,
    DispatchKeySet,
    _cuda_getDeviceCount,
    _get_privateuse1_backend_name,
    _log_api_usage_once,
    _set_grad_enabled,
)
from .core.function import FunctionNode as _FunctionBase
from .core.tensor import TensorBase as _TensorBase
from .modes.random import Generator as Generator
from .tensor_api.variable import ImperativeEngine as _ImperativeEngine

sys.modules[f"{__name__}._functions"] = _functions
__all__ = ["DispatchKey", "DispatchKeySet", "Generator", "Size", "_FunctionBase", "_ImperativeEngine", "_TensorBase",
           "_cuda_getDeviceCount", "_get_privateuse1_backend_name", "_log_api_usage_once", "_set_grad_enabled"]
