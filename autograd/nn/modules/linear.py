"""The linear layer."""

from ..layers import Linear

__all__ = ["Linear"]
