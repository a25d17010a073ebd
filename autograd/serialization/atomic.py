"""Atomic writing: a temporary file beside the target is written, synchronised to disk and renamed."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterable
from typing import Any


def write(file: Any, pieces: Iterable[Any], mode: int = 0o666) -> None:
    """Write all pieces of bytes to a named file, or to an object with write(). mode: of a new file, without the bits that
    the umask removes."""
    if isinstance(file, (str, os.PathLike)):
        path = os.path.realpath(os.fsdecode(file))                # a link stays a link: its target is replaced
        if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
            with open(path, "wb") as special:        # a pipe or device can't be replaced
                special.writelines(pieces)
        else:
            _replace(path, pieces, mode)
    elif callable(getattr(file, "write", None)):
        for piece in pieces:
            file.write(piece)
    else:
        raise TypeError(f"expected the name of a file, or an object with write(), not {type(file).__name__}")


def _replace(path: str, pieces: Iterable[Any], mode: int) -> None:
    """Write a temporary file, synchronise it to disk, and rename it to `path`."""
    folder, name = os.path.split(path)
    beside = os.path.join(folder, f".{name[:40]}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        with open(beside, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(path):
            shutil.copymode(path, beside)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)
        raise
    sync_folder(folder)                              # the new name is on disk only when the folder is


def sync_folder(path: str) -> None:
    """Synchronize a folder to disk, with the new names in it; no effect if the system does not support it."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        with contextlib.suppress(OSError):           # some file systems cannot do that
            os.fsync(descriptor)
        os.close(descriptor)
