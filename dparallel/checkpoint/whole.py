"""save_all() and load_all(): a checkpoint written, or read, in one call. A Checkpointer does the work."""

from __future__ import annotations

import os
from typing import Any

from ..comm import Communicator, communicator
from .checkpointer import Checkpointer
from .errors import CheckpointError, Ranks


def save_all(folder: str | os.PathLike[str], model: Any = None, optimizer: Any = None, scheduler: Any = None,
             loader: Any = None, scaler: Any = None, *, step: int = 0, comm: Communicator | None = None, keep: Any = 1,
             **extra: Any) -> None:
    """Save the whole state of a run in `folder`, and return when it is on the disk: Accelerate's save_state(), Lightning's
    save_checkpoint(). Collective.

    A loop that saves often keeps a Checkpointer instead, which writes in the background; the files are the same.

    Args:
        folder (str or PathLike): Shared by all ranks.
        model: A Module, or a list or dict of several; so optimizer, scheduler and loader.
        optimizer: One Optimizer, or several.
        scheduler: One LRScheduler, or several.
        loader: One DataLoader, or several.
        scaler: A GradScaler.
        step (int): The number of steps that are done, which load_all() returns. Default: 0.
        comm (Communicator): The ranks, by default those of a DataParallel model, else world().
        keep (int or Keep): How many checkpoints stay in the folder; None: all. Default: 1.
        **extra: dicts and lists, tensors, arrays, generators, and objects with state_dict() and load_state_dict(), by name.

    Raises:
        CheckpointError: it could not be written; on all ranks.

    Example:
        >>> import tempfile
        >>> model = ag.nn.Linear(2, 1)
        >>> before = model.weight.tolist()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     dparallel.save_all(folder, model=model, step=100)
        ...     _ = ag.nn.init.zeros_(model.weight)
        ...     dparallel.load_all(folder, model=model)
        100
        >>> model.weight.tolist() == before
        True
    """
    with Checkpointer(folder, model, optimizer, scheduler, loader, scaler, comm=comm, keep=keep, background=False,
                      **extra) as checkpoint:
        checkpoint.save(step)


def load_all(folder: str | os.PathLike[str], model: Any = None, optimizer: Any = None, scheduler: Any = None,
             loader: Any = None, scaler: Any = None, *, step: int | None = None, comm: Communicator | None = None,
             **extra: Any) -> int:
    """Take back the state that save_all(), or a Checkpointer, has saved, also on another number of ranks: Accelerate's
    load_state(). Collective.

    Args:
        folder (str or PathLike): Where the checkpoints are.
        model: What was saved as model; so optimizer, scheduler, loader, scaler and extra.
        optimizer: One Optimizer, or a list or dict of several.
        scheduler: One LRScheduler, or several.
        loader: One DataLoader, or several.
        scaler: A GradScaler.
        step (int): Which checkpoint, by default the newest complete one.
        comm (Communicator): The ranks, by default those of a DataParallel model, else world().
        **extra: Objects of the user's, by name.

    Returns:
        An int, the number of steps with which it was saved.

    Raises:
        CheckpointError: the folder has none, or one that is damaged or of other things; on all ranks.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     dparallel.save_all(folder, model=ag.nn.Linear(2, 1), step=100, progress={"epoch": 3})
        ...     progress = {"epoch": 0}
        ...     step = dparallel.load_all(folder, model=ag.nn.Linear(2, 1), progress=progress)
        >>> step, progress
        (100, {'epoch': 3})
    """
    ranks = Ranks(communicator(comm if comm is not None else getattr(model, "comm", None)))
    if not ranks.from_first(os.path.isdir(folder)):  # a Checkpointer would make it
        raise CheckpointError(f"load_all: there is no folder {os.path.abspath(os.fsdecode(folder))}")
    with Checkpointer(folder, model, optimizer, scheduler, loader, scaler, comm=comm, keep=None, **extra) as checkpoint:
        steps = checkpoint.steps()
        if not steps:
            raise CheckpointError(f"load_all: no complete checkpoint is in {checkpoint.folder}")
        return checkpoint.restore(step)


__all__ = ["load_all", "save_all"]
