"""Children that get a signal when this process has died: the kernel sends it when a pipe loses its last writer.

Linux's PR_SET_PDEATHSIG may send two: a process ends thread by thread, and each thread that inherits the child signals it.
Open MPI's mpirun exits at a second SIGINT within 5 s, and leaves its ranks running: 1 of 11 jobs whose dprun was killed.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

# the pipes' write ends, one for each child: a reader that is closed signals the other readers of its pipe
_writers: dict[int, subprocess.Popen[bytes]] = {}


def popen(line: Sequence[str], number: int = signal.SIGTERM, prepare: Callable[[], object] | None = None,
          pass_fds: Sequence[int] = (), **options: Any) -> subprocess.Popen[bytes]:
    """subprocess.Popen(line, **options) with preexec_fn=prepare, for a child that gets the signal when this process dies,
    if the system supports that."""
    if not sys.platform.startswith("linux"):         # no other has F_SETSIG
        return subprocess.Popen(line, preexec_fn=prepare, pass_fds=pass_fds, **options)
    fcntl = importlib.import_module("fcntl")         # Windows has none

    def tie() -> None:
        with contextlib.suppress(OSError):           # a system that plays Linux
            fcntl.fcntl(reader, fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(reader, fcntl.F_SETSIG, number)
            fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        if prepare is not None:
            prepare()

    for writer in [writer for writer, child in _writers.items() if child.returncode is not None]:
        os.close(writer)
        del _writers[writer]
    reader, writer = os.pipe()
    try:
        _writers[writer] = child = subprocess.Popen(line, preexec_fn=tie, pass_fds=[*pass_fds, reader], **options)
    except BaseException:
        os.close(writer)
        raise
    finally:
        os.close(reader)
    return child


def _forked() -> None:
    """Close the pipes in a forked process, which may outlive this one."""
    for writer in _writers:
        os.close(writer)
    _writers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
