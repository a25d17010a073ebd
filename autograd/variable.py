"""Variable, by the names of torch.autograd.variable."""

from .base import docstrings as _docstrings
from .tensor_api.variable import ImperativeEngine, Variable

__all__ = ["ImperativeEngine", "Variable"]

_docstrings.complete(globals(), "core", "variable.")
