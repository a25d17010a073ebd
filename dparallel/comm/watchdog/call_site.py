"""The user's line that a thread executes: the first frame outside these packages, mpi4py and installed libraries."""

from __future__ import annotations

import contextlib
import functools
import linecache
import os
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any, NamedTuple, cast

ROOT = os.path.abspath(__file__).rsplit(os.sep, 4)[0]       # the folder of the packages
OWN = tuple(ROOT + os.sep + name + os.sep for name in ("autograd", "dparallel", "launch"))
INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
STANDARD = os.path.dirname(os.__file__) + os.sep
LONGEST = 160                        # characters of a source line that are shown


class Site(NamedTuple):
    """A line of a file; str() reads the file and shows the line."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        source = linecache.getline(self.file, self.line).strip()
        inside = "" if self.function == "<module>" else f", in {self.function}"
        return f"{_shown(self.file)}:{self.line}{inside}" + (f": {source[:LONGEST]}" if source else "")


@functools.lru_cache(maxsize=4096)
def _foreign(file: str) -> int:
    """0 for a user's file, 1 for an installed library's or Python's, 2 for one of these packages'."""
    if file.startswith(OWN):
        return 2
    library = file.startswith(("<frozen", STANDARD)) or any(name in file for name in INSTALLED)
    return 1 if library else 0


def _shown(file: str) -> str:
    """The path from the working directory, where the file is below it."""
    folder = os.getcwd() + os.sep
    return file[len(folder):] if file.startswith(folder) else file


def site_of(frame: FrameType | None) -> Site | None:
    """The user's line that led to this frame; else that of a library that uses these packages; else None."""
    found = None                                     # a library's, while no frame is the user's
    while frame is not None and hasattr(frame, "f_code"):    # while another thread's frame ends CPython 3.11 may give a cell
        code = frame.f_code
        kind = _foreign(code.co_filename)
        if kind == 0:
            found = frame
            break
        if kind == 1 and found is None and any(name in code.co_filename for name in INSTALLED) \
                and "mpi4py" not in code.co_filename:
            found = frame
        frame = frame.f_back
    if found is None:
        return None
    code, line = found.f_code, cast("int | None", found.f_lineno)
    # another thread's frame may be between lines and have no number
    return Site(code.co_filename, code.co_firstlineno if line is None else line, code.co_name)


def user_site() -> Site | None:
    """The user's line that the calling thread executes."""
    return site_of(sys._getframe(1))


def at_site(site: Any) -> str:
    """" at file:line: source", or "" if the site is not known."""
    return f" at {site}" if site else ""


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """A short block in which no other Python thread runs: CPython 3.11 may crash if frames are followed while a thread
    returns.

    sleep(0) begins a new time slice, in which other threads request the lock after 0.1 s instead of 5 ms.
    """
    time.sleep(0)
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.1)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def blocked_site(folder: str) -> Site | None:
    """The user's line of the thread whose innermost frame is in a file under `folder`; else the main thread's."""
    with _alone():
        return _blocked_site(folder)


def _blocked_site(folder: str) -> Site | None:
    frames = sys._current_frames()
    del frames[threading.get_ident()]                # a cycle would keep what other threads' frames hold: a step's tensors
    main = threading.main_thread().ident
    order = sorted(frames, key=lambda ident: ident != main)
    waiting = [ident for ident in order if frames[ident].f_code.co_filename.startswith(folder)]
    for ident in (*waiting, *[ident for ident in order if ident == main]):
        found = site_of(frames[ident])
        if found is not None:
            return found
    return None
