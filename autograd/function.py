"""Function, by the names of torch.autograd.function."""

from .base import docstrings as _docstrings
from .core.function import (
    BackwardCFunction,
    Function,
    FunctionCtx,
    FunctionMeta,
    InplaceFunction,
    NestedIOFunction,
    once_differentiable,
)

_ContextMethodMixin = FunctionCtx                    # PyTorch's older name
_SingleLevelFunction = Function                      # in PyTorch the base of Function

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction", "NestedIOFunction",
           "once_differentiable"]

_docstrings.complete(globals(), "core", "function.")
