"""The package of PyTorch's `torch.utils` names: checkpoint, data, hooks; flop_counter, module_tracker and summary, which are
imported when asked for.

May import: amp, base, compat, core, nn, ops, profiler. Read first: checkpoint.py, data/dataloader.py.
"""

from . import checkpoint, data, hooks

__all__ = ["checkpoint", "data", "hooks"]
