"""Memory shared by processes of one host. It has no name once all have opened it, so nothing is left behind however
the job ends.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import tempfile
from typing import Any

from .mpi_types import Intracomm

TOKEN = 16                                           # bytes after the memory, which identify the file


def shared_file(comm: Intracomm, nbytes: int, name: str = "") -> tuple[int, Any] | None:
    """The descriptor and the map of a file of nbytes zeros that all ranks of an MPI communicator share. Collective.

    name: its path, which it keeps; "": it gets none. None on all ranks if they can't share one, as on several hosts, or if a
    rank has no descriptors left. On Linux the file lives in memory and takes no room in /dev/shm, which is small in
    containers; other ranks open it through
    /proc.
    """
    location: tuple[str, bytes] = ("", b"")
    file: int | None = None
    memory: Any = None
    with contextlib.suppress(OSError):
        if comm.rank == 0:
            file, path = (os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), name) if name else _create()
            location = path, os.urandom(TOKEN)
            os.ftruncate(file, nbytes)
            os.pwrite(file, location[1], nbytes)
    path, token = comm.bcast(location)
    with contextlib.suppress(OSError):               # also of reading: on another host this may be the path of a pipe
        if comm.rank != 0 and path:
            file = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
        if file is not None and token != b"" and os.pread(file, TOKEN, nbytes) == token:
            memory = mmap.mmap(file, nbytes)
    on_all_ranks = all(comm.allgather(memory is not None))         # all have opened it by now
    with contextlib.suppress(OSError):
        if comm.rank == 0 and path and path != name and not path.startswith("/proc/"):
            os.unlink(path)
    if file is not None and not on_all_ranks:
        os.close(file)
    return (file, memory) if file is not None and on_all_ranks else None


def _create() -> tuple[int, str]:
    """A new file, and the path by which other processes open it."""
    if hasattr(os, "memfd_create"):
        file = os.memfd_create("dparallel")
        return file, f"/proc/{os.getpid()}/fd/{file}"
    return tempfile.mkstemp(prefix="dparallel-")
