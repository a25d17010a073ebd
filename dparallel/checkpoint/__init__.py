"""Checkpoints of the whole state of a run, from which it continues bit by bit, or on another number of ranks.

May import: comm, model, sharding. Read first: checkpointer.py.
"""

from .checkpointer import Checkpointer
from .errors import CheckpointError
from .keeping import Keep
from .whole import load_all, save_all

__all__ = ["CheckpointError", "Checkpointer", "Keep", "load_all", "save_all"]
