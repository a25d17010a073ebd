"""Module, under the path that model code imports it from."""

from ..module import Module
from ..module_hooks import (
           register_module_backward_hook,
           register_module_forward_hook,
           register_module_forward_pre_hook,
           register_module_full_backward_hook,
           register_module_full_backward_pre_hook,
)
from ..registry import Buffer

__all__ = ["Buffer", "Module", "register_module_backward_hook", "register_module_forward_hook",
           "register_module_forward_pre_hook", "register_module_full_backward_hook",
           "register_module_full_backward_pre_hook"]
