"""Standard output, error and input of the ranks on this machine: a FIFO for each, which dprun reads or writes.

mpirun's own forwarding mixes long lines of ranks (Open MPI: 3,591 of 90,000 lines from 3 ranks), reads all of the standard
input, so that an endless one keeps the job from ending or ends it by SIGPIPE (MPICH), and loses output before a crash.
"""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .messages import TITLED, Messages
from .mpirun import LaunchError

STREAMS = (("out", 1), ("err", 2))                   # what rank.py opens; where it goes
INPUT = "0.in"                                       # what rank 0 reads
CHUNK = 1 << 16
PAUSE = 0.05                                         # seconds between looks at whether the job has ended
NOISE = b"NBC_Progress: an error 7"                  # Open MPI's line on each collective that a dead rank was in
FOREGROUND = 0.5                                     # seconds between looks at whether the terminal is ours to read


@dataclass
class Stream:
    """One stream of one rank or of mpirun: the prefix of its lines, its target, and an incomplete line or message."""

    tag: bytes
    target: int
    messages: Messages
    rest: bytearray = field(default_factory=bytearray)
    noisy: bool = False                              # the last line was NOISE

    @property
    def incomplete(self) -> bool:
        """Whether something is left to show, other than the empty line that follows NOISE."""
        return bool(self.rest) and not (self.noisy and self.rest == b"\n")

    def show(self, data: bytes) -> None:
        """Write to the target."""
        if data:
            (self.messages.unfinished.discard if data.endswith(b"\n") else self.messages.unfinished.add)(self.target)
            write(self.target, data)


@contextlib.contextmanager
def forwarded(folder: str, ranks: int, tag: bool, messages: Messages) -> Iterator[tuple[int, ...]]:
    """Create the FIFOs in the folder; copy their output until the end, including what is left then, without `messages`.

    tag: prefix each line with [rank]. Without it, if there are too few file descriptors, mpirun forwards the output.
    Yields mpirun's standard output and error; with ranks = 0 those of the ranks arrive there.
    """
    made = []
    with selectors.DefaultSelector() as selector, contextlib.ExitStack() as stack:
        pipes = [os.pipe() for _ in STREAMS]
        for (end, other), (_, target) in zip(pipes, STREAMS, strict=True):
            stack.callback(os.close, other)
            os.set_blocking(end, False)
            selector.register(end, selectors.EVENT_READ, Stream(b"", target, messages))
        try:
            for rank in range(ranks):
                for name, target in STREAMS:
                    path = os.path.join(folder, f"{rank}.{name}")
                    os.mkfifo(path)
                    made.append(path)
                    fifo = os.open(path, os.O_RDWR | os.O_NONBLOCK)          # with a writer it has no end of file
                    selector.register(fifo, selectors.EVENT_READ, Stream(b"[%d] " % rank if tag else b"", target, messages))
        except OSError as error:
            close(selector, keep=[end for end, _ in pipes])
            for path in made:
                os.unlink(path)
            if tag:
                close(selector)
                raise LaunchError(f"--tag requires two open files for each of {ranks} ranks ({error}); see ulimit -n") \
                    from error
        ended = threading.Event()
        thread = threading.Thread(target=copy, args=(selector, ended))
        thread.start()
        try:
            yield tuple(other for _, other in pipes)
        finally:
            ended.set()
            thread.join()
            close(selector)


def close(selector: selectors.BaseSelector, keep: Sequence[int] = ()) -> None:
    """Close the FIFOs, and unregister them from the selector."""
    for key in [key for key in selector.get_map().values() if key.fd not in keep]:
        selector.unregister(key.fd)
        os.close(key.fd)


def copy(selector: selectors.BaseSelector, ended: threading.Event) -> None:
    """Copy whole lines; incomplete ones after a pause, or at the end, where tagged lines are completed."""
    streams = [key.data for key in selector.get_map().values()]
    while True:
        last = ended.is_set()                        # read before the queue, so that all output before the end is seen
        ready = selector.select(0 if last else PAUSE)
        for key, _ in ready:
            with contextlib.suppress(BlockingIOError):
                emit(key.data, os.read(key.fd, CHUNK))
        if not ready:
            for stream in streams:
                if stream.incomplete and not stream.tag and not TITLED.match(stream.rest):   # a progress bar, a question
                    stream.show(bytes(stream.rest))
                    stream.rest.clear()
        if last and not ready:
            break
    for stream in streams:
        if stream.incomplete:
            emit(stream, b"" if stream.rest.endswith(b"\n") else b"\n")        # an empty line may have been held back
            stream.show(bytes(stream.rest))


def emit(stream: Stream, data: bytes) -> None:
    """Write the lines that these data complete, without Open MPI's own about collectives of a dead rank and messages held
    back."""
    data = data.replace(b"\0", b"") if stream.target == 2 else data          # Open MPI's, after a message
    stream.rest.extend(data)
    cut = stream.rest.rfind(b"\n", -len(data)) + 1 if data else 0
    if not cut:
        return
    text, later = stream.messages.sort(bytes(stream.rest[:cut]))
    stream.rest[:cut] = later
    if stream.noisy or NOISE in text:
        text = without_noise(stream, text)
    if not text:
        return
    if stream.tag:
        text = b"".join(stream.tag + line + b"\n" for line in text[:-1].split(b"\n"))
    stream.show(text)


def without_noise(stream: Stream, text: bytes) -> bytes:
    """The lines without those of NOISE, each with the empty line that follows it, now or later."""
    kept = []
    for line in text.splitlines(keepends=True):
        noise, empty = NOISE in line, stream.noisy and not line.strip()
        stream.noisy = noise
        if not noise and not empty:
            kept.append(line)
    return b"".join(kept)


def write(target: int, data: bytes) -> None:
    """Write all of it; discard it if the reader is gone: the ranks continue, as under mpirun."""
    text = memoryview(data)
    with contextlib.suppress(BrokenPipeError):
        while text:
            text = text[os.write(target, text):]


def finish_line(unfinished: set[int]) -> None:
    """End an unfinished line of one of these targets, so that dprun's next line on standard error begins a new one."""
    if 2 in unfinished or (1 in unfinished and os.isatty(1) and os.isatty(2)):
        write(2, b"\n")


def feed(folder: str) -> None:
    """Feed rank 0 this process's standard input, through a FIFO and a thread that reads at most a FIFO's capacity ahead."""
    path = os.path.join(folder, INPUT)
    os.mkfifo(path)
    threading.Thread(target=pour, args=(path,), daemon=True).start()


def pour(path: str) -> None:
    """Copy standard input to a FIFO, from when it is opened at the other end until one of the two ends."""
    with contextlib.suppress(OSError):               # the job has ended; there is no standard input
        fifo = os.open(path, os.O_WRONLY)
        try:
            while data := read_input():
                view = memoryview(data)
                while view:
                    view = view[os.write(fifo, view):]
        finally:
            os.close(fifo)


def read_input() -> bytes:
    """The available standard input; b"" at its end. Reading a terminal from the background would stop this process."""
    while os.isatty(0) and (os.tcgetpgrp(0) != os.getpgrp() or not select.select([0], [], [], FOREGROUND)[0]):
        threading.Event().wait(FOREGROUND if os.tcgetpgrp(0) != os.getpgrp() else 0)
    return os.read(0, CHUNK) if sys.stdin is not None else b""
