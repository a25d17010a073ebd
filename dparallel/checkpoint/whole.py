"""save_all() and load_all(): write or read a checkpoint in one call, by a Checkpointer."""

from __future__ import annotations

import os
from typing import Any

from ..comm import Communicator, communicator
from .checkpointer import Checkpointer
from .errors import CheckpointError, Ranks


def save_all(folder: str | os.PathLike[str], model: Any = None, optimizer: Any = None, scheduler: Any = None,
             loader: Any = None, scaler: Any = None, *, step: int = 0, comm: Communicator | None = None, keep: Any = 1,
             **extra: Any) -> None:
    """Save the whole state of a run in `folder`, and return when it is on disk. Collective.

    Like Accelerate's save_state() and Lightning's save_checkpoint(). A Checkpointer, for loops that save often, writes the
    same files in the background.
    """
    with Checkpointer(folder, model, optimizer, scheduler, loader, scaler, comm=comm, keep=keep, background=False,
                      **extra) as checkpoint:
        checkpoint.save(step)


def load_all(folder: str | os.PathLike[str], model: Any = None, optimizer: Any = None, scheduler: Any = None,
             loader: Any = None, scaler: Any = None, *, step: int | None = None, comm: Communicator | None = None,
             **extra: Any) -> int:
    """Restore what save_all() or a Checkpointer saved, also on another number of ranks. Collective."""
    ranks = Ranks(communicator(comm if comm is not None else getattr(model, "comm", None)))
    if not ranks.from_first(os.path.isdir(folder)):  # a Checkpointer would create it
        raise CheckpointError(f"load_all: there is no folder {os.path.abspath(os.fsdecode(folder))}")
    with Checkpointer(folder, model, optimizer, scheduler, loader, scaler, comm=comm, keep=None, **extra) as checkpoint:
        steps = checkpoint.steps()
        if not steps:
            raise CheckpointError(f"load_all: no complete checkpoint is in {checkpoint.folder}")
        return checkpoint.restore(step)
