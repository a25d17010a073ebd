"""Checkpoints of the whole state of a run, from which it continues bit by bit, or on another number of ranks.

May import: comm, model, sharding. Read first: checkpointer.py.
"""

from autograd.base.docstrings import attach_to_modules

from .checkpointer import Checkpointer
from .errors import CheckpointError
from .keeping import Keep
from .whole import load_all, save_all

attach_to_modules("dparallel.checkpoint")
__all__ = ["CheckpointError", "Checkpointer", "Keep", "load_all", "save_all"]
