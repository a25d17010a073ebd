"""The package of PyTorch's `torch.utils` names: data."""

from . import data

__all__ = ["data"]
