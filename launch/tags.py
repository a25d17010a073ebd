"""The output of ranks on this machine, as whole lines that begin with [rank]: a FIFO for each stream of each rank.

Neither what a rank's crash cuts short nor what an mpirun does with pieces of lines can tear them.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import threading
from collections.abc import Iterator
from typing import NamedTuple

from .mpirun import LaunchError

STREAMS = (("out", 1), ("err", 2))                   # what rank.py opens; where it goes
CHUNK = 1 << 16
PAUSE = 0.05                                         # seconds between looks at whether the job has ended


class Fifo(NamedTuple):
    """One stream of one rank: what begins its lines, where they go, and the piece of a line that is there."""

    tag: bytes
    target: int
    rest: bytearray


@contextlib.contextmanager
def tagged(folder: str, ranks: int) -> Iterator[None]:
    """Make the FIFOs in the folder; copy what comes out of them, until the end and all that is left then."""
    with selectors.DefaultSelector() as selector:
        try:
            for rank in range(ranks):
                for name, target in STREAMS:
                    path = os.path.join(folder, f"{rank}.{name}")
                    os.mkfifo(path)
                    fifo = os.open(path, os.O_RDWR | os.O_NONBLOCK)          # with a writer it has no end of file
                    selector.register(fifo, selectors.EVENT_READ, Fifo(b"[%d] " % rank, target, bytearray()))
        except OSError as error:
            raise LaunchError(f"--tag needs two open files for each of {ranks} ranks ({error}); see ulimit -n") from error
        ended = threading.Event()
        thread = threading.Thread(target=copy, args=(selector, ended))
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            for key in list(selector.get_map().values()):
                os.close(key.fd)


def copy(selector: selectors.BaseSelector, ended: threading.Event) -> None:
    """Copy whole lines; after the end what is left, each last line made whole."""
    while True:
        last = ended.is_set()                        # asked before the look: what came before the end is then seen
        ready = selector.select(0 if last else PAUSE)
        for key, _ in ready:
            with contextlib.suppress(BlockingIOError):
                emit(key.data, os.read(key.fd, CHUNK))
        if last and not ready:
            break
    for key in selector.get_map().values():
        if key.data.rest:
            emit(key.data, b"\n")


def emit(fifo: Fifo, data: bytes) -> None:
    """Write the lines that are whole with these data."""
    fifo.rest.extend(data)
    cut = fifo.rest.rfind(b"\n", -len(data)) + 1
    if not cut:
        return
    text = memoryview(b"".join(fifo.tag + line + b"\n" for line in bytes(fifo.rest[:cut - 1]).split(b"\n")))
    del fifo.rest[:cut]
    with contextlib.suppress(BrokenPipeError):       # nobody reads: the ranks go on, as under mpirun
        while text:
            text = text[os.write(fifo.target, text):]
