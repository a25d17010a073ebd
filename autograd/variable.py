"""Variable, by the names of torch.autograd.variable."""

from .tensor_api.variable import ImperativeEngine, Variable

__all__ = ["ImperativeEngine", "Variable"]
