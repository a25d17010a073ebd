"""Runs mpirun: forwards signals, tags output, ends everything that is left, and gives the job's exit code."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, BinaryIO

from .mpirun import LaunchError, Mpi, outer
from .report import read, show

FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
PATIENCE = 2.0                                       # seconds that mpirun has to end a job in which a rank failed
GRACE = 5.0                                          # seconds between asking a job to end and ending it
OPENMPI_TAG = re.compile(rb"^\[[^\]]*?(\d+)\]<std(?:out|err)>: ?")
MPICH_TAG = re.compile(rb"^\[(\d+)\] ?")


class Stop:
    """Why the job was asked to end, if it was."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self.timed_out = False
        self.since = 0.0


def run(line: list[str], changes: dict[str, str], folder: str, mpi: Mpi, options: argparse.Namespace) -> int:
    """Run the command to its end; the exit code of the first failing rank, or mpirun's."""
    stop = Stop()
    pipe = subprocess.PIPE if options.tag else None
    try:
        process = subprocess.Popen(line, env={**outer(), **changes}, stdout=pipe, stderr=pipe,
                                   start_new_session=True)   # signals reach the job through us, once
    except OSError as error:
        raise LaunchError(f"{line[0]} can't be run: {error}") from error
    tag = OPENMPI_TAG if mpi.family == "openmpi" else MPICH_TAG
    pumps = [threading.Thread(target=pump, args=(source, target.buffer, tag), daemon=True)
             for source, target in ((process.stdout, sys.stdout), (process.stderr, sys.stderr)) if source is not None]
    for thread in pumps:
        thread.start()
    with forwarding(process, stop):
        code = wait(process, stop, options.timeout, folder)
    for thread in pumps:
        thread.join(GRACE)
    return verdict(code, read(folder), stop, options)


def wait(process: subprocess.Popen[Any], stop: Stop, timeout: float | None, folder: str) -> int:
    """Wait for mpirun; end it when time is up or a rank has failed, and by force when it does not end on request."""
    deadline = None if timeout is None else time.monotonic() + timeout
    failed = 0.0                                     # when the first report of a rank was seen
    while True:
        try:
            return process.wait(0.1)
        except subprocess.TimeoutExpired:
            now = time.monotonic()
        failed = failed or (now if os.listdir(folder) else 0.0)
        late = deadline is not None and now > deadline
        # mpirun ends the job when a rank fails, except while other ranks still wait in MPI_Init
        if not stop.since and (late or (failed and now - failed > PATIENCE)):
            stop.timed_out, stop.since = late, now
            process.send_signal(signal.SIGTERM)
        if stop.since and now - stop.since > GRACE:
            for pid in [*descendants(process.pid), process.pid]:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)


def descendants(pid: int) -> list[int]:
    """The processes below pid, from /proc; none where there is no /proc."""
    parents: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError, IndexError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
                    parents.setdefault(parent, []).append(int(name))
    found, stack = [], [pid]
    while stack:
        below = parents.get(stack.pop(), [])
        found += below
        stack += below
    return found


@contextlib.contextmanager
def forwarding(process: subprocess.Popen[Any], stop: Stop) -> Iterator[None]:
    """Send this process's signals on to mpirun; those that end a job are remembered."""
    def handler(number: int, frame: Any) -> None:
        if number not in (signal.SIGUSR1, signal.SIGUSR2):
            stop.signal, stop.since = number, stop.since or time.monotonic()
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)

    numbers = [getattr(signal, name) for name in FORWARDED if hasattr(signal, name)]
    inside_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, handler) for number in numbers} if inside_main else {}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def pump(source: BinaryIO, target: BinaryIO, tag: re.Pattern[bytes]) -> None:
    """Copy lines, whole ones, with mpirun's tag replaced by [rank]."""
    for line in source:
        target.write(tag.sub(rb"[\1] ", line))
        target.flush()


def verdict(code: int, reports: list[dict[str, Any]], stop: Stop, options: argparse.Namespace) -> int:
    """The job's exit code, after showing why it failed."""
    if stop.timed_out:
        print(f"dprun: the job was ended after {options.timeout:g} s (--timeout)", file=sys.stderr)
        return 124
    if stop.signal is not None:
        return 128 + stop.signal
    if reports:
        show(reports, options.np)
        return int(reports[0]["code"]) % 256 or 1
    if code:
        code = 128 - code if code < 0 else code
        how = f"signal {code - 128}" if code > 128 else f"exit code {code}"
        print(f"dprun: a rank was ended without a traceback ({how}); mpirun's message above names it", file=sys.stderr)
    return code
