"""notebook_launcher(): a function of a notebook, run on MPI ranks that dprun starts for this one call.

The function travels by value (cloudpickle), with the globals that it uses. Rank 0's result, or a rank's exception, comes
back through the same folder. notebook_rank.py is the other half, on each rank.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import linecache
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from types import CodeType
from typing import IO, TYPE_CHECKING, Any

import dprun
from autograd.base.docstrings import attach_to_modules

from ..comm import RankFailure, launched_size
from ..comm.environment import environment

if TYPE_CHECKING:
    from launch.tie import popen
else:                                                # dprun.py: ROS 2 has a package launch too
    from dprun.tie import popen

ROOT = str(Path(dprun.__file__).parent)
# `python -m dprun` would look in the user's folder first
DPRUN = f"import sys; sys.path[0] = {ROOT!r}; from dprun import main; sys.exit(main())"
MOST_LINES = 13                                      # of a rank's traceback in a notebook, beside two of dprun's
TIMED_OUT = 124                                      # dprun's


class RankTraceback(Exception):
    """The traceback of an exception on a rank: the cause of the exception raised here."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f"\n\"\"\"\n{self.text}\"\"\""


def notebook_launcher(function: Callable[..., Any], n: int, args: Sequence[Any] = (),
                      kwargs: Mapping[str, Any] | None = None, *, threads: int | None = None,
                      timeout: float | None = None, options: Sequence[str] = ()) -> Any:
    """Run function(*args, **kwargs) on n ranks, new MPI processes on this machine, and return rank 0's result.

    For notebooks and interactive sessions; scripts use dprun. What the function changes in the notebook's objects is lost.
    In it dparallel.world() has n ranks. Output appears as it is written; interrupting the cell ends the ranks. Requires
    cloudpickle.
    """
    if launched_size():
        raise RuntimeError(f"notebook_launcher() in a process that is one of {launched_size()} MPI ranks: ranks start no "
                           "others. Call the function itself, or start from a notebook that dprun has not started")
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise TypeError(f"notebook_launcher(function, n={n!r}): n is the number of ranks; arguments are given as args=(...)")
    if not callable(function):
        raise TypeError(f"notebook_launcher({function!r}): the first argument must be a function")
    if isinstance(args, str) or not isinstance(args, Sequence):
        raise TypeError(f"notebook_launcher(function, n, args={args!r}): args is a tuple of arguments, as in (0.1,)")
    try:
        cloudpickle = import_module("cloudpickle")
    except ModuleNotFoundError:
        raise ModuleNotFoundError("notebook_launcher() sends functions by the package cloudpickle: "
                                  "pip install 'dparallel[notebook]'") from None
    try:
        call = pickled((function, tuple(args), dict(kwargs or {})), cloudpickle)
    except Exception as error:
        name = getattr(function, "__name__", function)
        raise TypeError(f"notebook_launcher: {name!r}, its arguments or what it uses can't be pickled "
                        f"({type(error).__name__}: {error}); create such objects inside the function") from error
    with tempfile.TemporaryDirectory(prefix="dparallel-notebook-") as folder:
        Path(folder, "call").write_bytes(pickle.dumps((list(sys.path), sources())) + call)
        line = [sys.executable, "-c", DPRUN, "-q", "-n", str(n), *(["--threads", str(threads)] if threads else []),
                *(["--timeout", str(timeout)] if timeout else []), *options, "-m",
                "dparallel.integrations.notebook_rank", folder]
        code, said = run(line, {"PYTHONPATH": os.pathsep.join(filter(None, [ROOT, environment.text("PYTHONPATH")]))})
        raised = sorted(Path(folder).glob("error-*"), key=lambda path: path.stat().st_mtime_ns)
        if raised:
            rank = int(raised[0].name.partition("-")[2])
            reraise(rank, raised[0].read_bytes())
        if code == TIMED_OUT:
            raise TimeoutError(f"notebook_launcher: the ranks were ended after {timeout:g} s")
        if code or not Path(folder, "result").exists():
            text = (f"notebook_launcher: the job of {n} ranks ended with exit code {code}"
                    f"{'' if code else ', before the function returned on rank 0'}")
            shown = said[max(0, said.rfind("dprun: ")):]             # in the cell, above the exception
            raise briefly(RankFailure(f"{text}\n{shown}"), f"RankFailure: {text}")
        return pickle.loads(Path(folder, "result").read_bytes())


def pickled(value: Any, cloudpickle: Any) -> bytes:
    """The pickle of a value, by value, whose functions keep their file names: cloudpickle leaves them out, and tracebacks
    would lack the code."""
    table = cloudpickle.Pickler.dispatch_table

    def reduce(code: CodeType) -> Any:
        rebuild, args, *rest = table[CodeType](code)
        return (rebuild, tuple(code.co_filename if arg == "<dynamic-code>" else arg for arg in args), *rest)

    pickler = type("Pickler", (cloudpickle.Pickler,), {"dispatch_table": ChainMap({CodeType: reduce}, table)})
    file = io.BytesIO()
    pickler(file).dump(value)
    return file.getvalue()


def sources() -> dict[str, Any]:
    """The lines of cells, by their file names, which do not exist: for tracebacks on the ranks."""
    return {name: (len("".join(entry[2])), None, entry[2], name) for name, entry in list(linecache.cache.items())
            if len(entry) == 4 and not os.path.exists(name)}


def reraise(rank: int, pickled: bytes) -> None:
    """Raise the exception of a rank."""
    text, error = pickle.loads(pickled)
    try:
        found = pickle.loads(error)
    except Exception:                                # not pickled, or it cannot be constructed here
        found = None
    if isinstance(found, Exception):
        raise briefly(found, f"rank {rank}: {text}") from RankTraceback(f"rank {rank}: {text}")
    raise briefly(RankFailure(f"rank {rank} failed:\n{text}", rank), f"RankFailure: rank {rank}: {text}")


def briefly(error: Exception, text: str) -> Exception:
    """The error, of which IPython shows this text only: at most MOST_LINES, the first and the last ones."""
    lines = text.splitlines()
    left = len(lines) - MOST_LINES + 1
    shown = lines if left < 2 else [*lines[:4], f"  ... {left} lines left out ...", *lines[4 + left:]]
    with contextlib.suppress(AttributeError):        # a class with slots
        error._render_traceback_ = lambda: shown  # type: ignore[attr-defined]
    return error


def run(line: list[str], changes: dict[str, str]) -> tuple[int, str]:
    """Run a command and show its output as it arrives; returns its exit code and the end of its stderr."""
    process = popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    env={**environment.without_pytest(), **changes})
    queue: SimpleQueue[tuple[str, str] | None] = SimpleQueue()
    readers = [threading.Thread(target=read, args=(name, pipe, queue), daemon=True)
               for name, pipe in (("stdout", process.stdout), ("stderr", process.stderr))]
    said = ""
    try:
        for reader in readers:
            reader.start()
        left = len(readers)
        while left:                                  # in this thread: a notebook shows it in the cell that waits
            piece = queue.get()
            if piece is None:
                left -= 1
                continue
            stream, text = piece
            said = (said + text)[-4000:] if stream == "stderr" else said
            getattr(sys, stream).write(text)
            getattr(sys, stream).flush()
        return process.wait(), said
    except BaseException:                            # KeyboardInterrupt: the cell was interrupted
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
        raise
    finally:
        for reader in readers:
            reader.join(1)


def read(name: str, pipe: IO[bytes] | None, queue: SimpleQueue[tuple[str, str] | None]) -> None:
    """Put the data of a pipe into the queue, and None at its end."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    if pipe is not None:
        while data := os.read(pipe.fileno(), 65536):
            queue.put((name, decoder.decode(data)))
        pipe.close()
    queue.put(None)


attach_to_modules("dparallel.integrations")
