"""Memory shared by processes of one host. Its name is removed once all have opened it, so nothing is left behind."""

from __future__ import annotations

import contextlib
import mmap
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .mpi_types import Intracomm

if TYPE_CHECKING:
    from launch import private
else:                                                # dprun.py: ROS 2 has a package launch, too
    from dprun import private

PAGE = 4096
TOKEN = 16                                           # bytes after the memory, which identify the file


def shared_file(comm: Intracomm, nbytes: int) -> tuple[int, Any] | None:
    """The descriptor and the map of a file of nbytes zeros that all ranks of an MPI communicator share. Collective.

    None on all ranks if they can't share one. On Linux it is in memory and uses no space in /dev/shm, which is small in
    containers; other ranks open it through /proc.
    """
    location: tuple[str, bytes] = ("", b"")
    file: int | None = None
    memory: Any = None
    with contextlib.suppress(OSError):
        if comm.rank == 0:
            file, path = _create()
            location = path, os.urandom(TOKEN)
            os.ftruncate(file, nbytes)
            os.pwrite(file, location[1], nbytes)
    path, token = comm.bcast(location)
    with contextlib.suppress(OSError):               # also of reading: on another host this may be the path of a pipe
        if comm.rank != 0 and path:
            file = opened(path)
        if file is not None and token != b"" and os.pread(file, TOKEN, nbytes) == token:
            memory = mmap.mmap(file, nbytes)
    on_all_ranks = all(comm.allgather(memory is not None))         # now all have opened it
    with contextlib.suppress(OSError):
        if comm.rank == 0 and path and not path.startswith("/proc/"):
            os.unlink(path)
    if file is not None and not on_all_ranks:
        os.close(file)
    return (file, memory) if file is not None and on_all_ranks else None


def shared_parts(comm: Intracomm, nbytes: int) -> list[memoryview] | None:
    """nbytes for each rank, on separate pages, which the system places near the rank that writes them first. None if ranks
    can't share memory. Collective."""
    pages = -(-nbytes // PAGE) * PAGE
    shared = shared_file(comm, pages * comm.size)
    if shared is None:
        return None
    os.close(shared[0])
    memory = memoryview(shared[1])
    return [memory[start:start + nbytes] for start in range(0, pages * comm.size, pages)]


def _create() -> tuple[int, str]:
    """A new file, and the path by which other processes open it."""
    if hasattr(os, "memfd_create"):
        file = os.memfd_create("dparallel")
        os.fchmod(file, 0o600)
        return file, f"/proc/{os.getpid()}/fd/{file}"
    file, path = import_module("tempfile").mkstemp(prefix="dparallel-")
    return file, path


def opened(path: str) -> int:
    """The descriptor of another rank's file. PermissionError for another user's, whose process may have a dead rank's
    number."""
    file = os.open(path, os.O_RDWR | private.CLOSED)             # a link of /proc leads to a file in memory
    try:
        private.check(path, os.fstat(file))
    except BaseException:
        os.close(file)
        raise
    return file
