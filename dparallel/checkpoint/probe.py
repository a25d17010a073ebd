"""Before the first step: check that all ranks can write into the folder, and that it is the same one for all of them."""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import TYPE_CHECKING

from .errors import CheckpointError, Ranks
from .files import PROBE, check_space

if TYPE_CHECKING:
    from launch import private
else:                                                # dprun.py: ROS 2 has a package launch too
    from dprun import private

IDENTITY = ".identity"


def probe(folder: str, ranks: Ranks, least: int) -> None:
    """Create the folder; every rank writes a file into it and rank 0 sees them all. CheckpointError, on all ranks, names
    what fails. least: bytes of every checkpoint."""
    token = ranks.from_first(secrets.token_hex(8))

    def mark(rank: int) -> str:
        return os.path.join(folder, f"{PROBE}{token}-{rank}")

    with ranks.together(f"the folder {folder} cannot be created"):
        if ranks.rank == 0:
            os.makedirs(folder, exist_ok=True)
    try:
        with ranks.together(f"can't write into {folder}"):
            if not os.path.isdir(folder):
                raise CheckpointError(f"the folder {folder} does not exist on every rank: all ranks must share it")
            with open(mark(ranks.rank), "xb") as file:
                file.write(bytes(4096))              # a full disk has room for a name, but not for a block
                file.flush()
                os.fsync(file.fileno())
        with ranks.together(f"can't read {folder}"):
            unseen = [rank for rank in range(ranks.size) if not os.path.exists(mark(rank))]
            if unseen:
                raise CheckpointError(f"the folder {folder} does not show the files of rank {', '.join(map(str, unseen))}: "
                                      "all ranks must share it")
            check_space(folder, least, "the weights alone take")
        ranks.agree("")                              # all have checked
    finally:
        with contextlib.suppress(OSError):
            os.unlink(mark(ranks.rank))


def identity(folder: str, ranks: Ranks) -> str:
    """A random word stored in this folder, which a later folder of this name lacks; only this user can read it.
    Collective."""
    found = ""
    with ranks.together(f"memory=True keeps a random word in {folder}"):
        if ranks.rank == 0:
            found = private.word(os.path.join(folder, f"{IDENTITY}-{os.geteuid()}" if hasattr(os, "geteuid") else IDENTITY))
    return str(ranks.from_first(found))
