"""Modes, by the names of torch.autograd.grad_mode."""

from .core.inference import inference_mode
from .core.modes import enable_grad, no_grad, set_grad_enabled, set_multithreading_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled", "set_multithreading_enabled"]
