"""The package of PyTorch's `torch.utils` names: checkpoint, data, hooks."""

from . import checkpoint, data, hooks

__all__ = ["checkpoint", "data", "hooks"]
