"""Function, by the names of torch.autograd.function."""

from .core.function import Function, FunctionCtx, InplaceFunction, once_differentiable

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]
