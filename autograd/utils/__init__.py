"""The package of PyTorch's `torch.utils` names: checkpoint, data, hooks.

May import: amp, base, compat, core, ops. Read first: checkpoint.py, data/dataloader.py.
"""

from . import checkpoint, data, hooks

__all__ = ["checkpoint", "data", "hooks"]
