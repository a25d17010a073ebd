"""Functions of PyTorch's private torch._utils that model code imports."""

from .compat.flatten_dense import _flatten_dense_tensors, _unflatten_dense_tensors

__all__ = ["_flatten_dense_tensors", "_unflatten_dense_tensors"]
