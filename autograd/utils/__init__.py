"""The package of PyTorch's `torch.utils` names: checkpoint, data, hooks; and, imported when asked for, flop_counter,
module_tracker, summary and tensorboard.

May import: amp, base, compat, core, kernels, modes, nn, observe, ops, spans. Read first: checkpoint.py,
data/dataloader.py."""

from . import checkpoint, data, hooks

__all__ = ["checkpoint", "data", "hooks"]
