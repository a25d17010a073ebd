"""torch._C: the few of its names that packages, and texts about PyTorch's source, use."""

import sys

from .compat import c_functions as _functions
from .compat.c_names import DispatchKey as DispatchKey
from .compat.c_names import DispatchKeySet as DispatchKeySet
from .compat.c_names import _cuda_getDeviceCount as _cuda_getDeviceCount
from .compat.c_names import _get_privateuse1_backend_name as _get_privateuse1_backend_name
from .compat.c_names import _log_api_usage_once as _log_api_usage_once
from .tensor_api.variable import ImperativeEngine as _ImperativeEngine

sys.modules[f"{__name__}._functions"] = _functions
__all__ = ["DispatchKey", "DispatchKeySet", "_ImperativeEngine", "_log_api_usage_once"]
