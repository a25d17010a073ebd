"""The modes under the name that PyTorch's `torch.autograd.grad_mode` has."""

from .inference import inference_mode
from .mode import enable_grad, no_grad, set_grad_enabled, set_multithreading_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled", "set_multithreading_enabled"]
