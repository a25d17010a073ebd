"""Modes, by the names of torch.autograd.grad_mode."""

from .core.modes import enable_grad, no_grad, set_grad_enabled, set_multithreading_enabled
from .modes.inference import inference_mode

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled", "set_multithreading_enabled"]
