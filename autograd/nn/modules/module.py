"""Module, under the path that model code imports it from."""

from ..module import IncompatibleKeys, Module
from ..module_hooks import (
           register_module_backward_hook,
           register_module_buffer_registration_hook,
           register_module_forward_hook,
           register_module_forward_pre_hook,
           register_module_full_backward_hook,
           register_module_full_backward_pre_hook,
           register_module_module_registration_hook,
           register_module_parameter_registration_hook,
)
from ..parameter import Buffer

_IncompatibleKeys = IncompatibleKeys                # PyTorch's name

__all__ = ["Buffer", "Module", "register_module_backward_hook", "register_module_buffer_registration_hook",
           "register_module_forward_hook", "register_module_forward_pre_hook", "register_module_full_backward_hook",
           "register_module_full_backward_pre_hook", "register_module_module_registration_hook",
           "register_module_parameter_registration_hook"]
