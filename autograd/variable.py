"""Variable, by the names of torch.autograd.variable."""

from .tensor_api.variable import Variable

__all__ = ["Variable"]
