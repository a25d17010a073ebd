"""The compiled kernels as functions: built once per machine, then a file of machine code that is mapped into memory.

Loading numba takes 0.5 s and its first kernel 126 MB, in every rank, even from its cache. So a process of its own compiles
all kernels at once (10 s), and a rank maps the 120 kB that come out: 3 ms. The folder is ~/.cache/autograd (XDG_CACHE_HOME
is heeded), or one in the temporary folder where that can't be written.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import json
import mmap
import os
import pwd
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...base.environment import environment
from ..accelerators import Missing, log_line, versions
from ..addresses import in_third_word
from .signatures import SIGNATURES

HERE = Path(__file__).parent
PAGE = 4096
# `python -m` would look in the current folder first, where another user may have put a json.py
RUN = ("import sys; sys.path[:] = filter(None, sys.path); del sys.argv[0]; import runpy; "
       "runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)")
LIMIT = 300                          # seconds that compiling may take
KINDS: dict[str, Any] = {**dict.fromkeys("adih", ctypes.py_object), "n": ctypes.c_int64, "f": ctypes.c_float,
                         "e": ctypes.c_double}


def load() -> SimpleNamespace:
    """The kernels by name. An exception if they can't be had here."""
    if not in_third_word():
        raise OSError("this interpreter's arrays are laid out in another way")
    found = versions("numba")
    if not found:
        raise Missing("the package numba is not installed")
    name = f"kernels-{key(found[0][1])}"
    for folder in folders():
        file = folder / name
        try:
            if not file.exists() or not is_complete(file):
                file.unlink(missing_ok=True)
                compile_into(folder, file)
            return mapped(file)
        except PermissionError:                      # on a disk from which nothing may be run
            continue
    raise OSError("no folder for compiled kernels can be written and run from")


def key(numba: str) -> str:
    """What compiled kernels depend on, in one word: their sources, the compiler, the processor."""
    digest = hashlib.sha256(f"{numba} {sys.version_info[:2]} {processor()}".encode())
    for source in (*sorted(HERE.glob("*.py")), HERE.parent / "error_functions.py", HERE.parent / "coefficients.py"):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def processor() -> str:
    """Model and abilities of the processor, and what numba shall compile for in its place."""
    lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    return " ".join([*[line for line in lines if line.startswith(("model name", "cpu family", "model\t", "flags"))],
                     *environment.imitated])


def cache() -> Iterator[Path]:
    """The user's folder for what can be made again, if there is one. Without HOME the password file knows it, but not for
    every user, as in containers; relative paths, also in XDG_CACHE_HOME, would lie wherever the program was started."""
    given, home = environment.cache_home, environment.home
    if not home:
        with contextlib.suppress(KeyError):
            home = pwd.getpwuid(os.getuid()).pw_dir
    if os.path.isabs(given):
        yield Path(given)
    elif os.path.isabs(home) and os.path.isdir(home):
        yield Path(home) / ".cache"


def temporary() -> Iterator[Path]:
    """The folder for temporary files, if there is one."""
    with contextlib.suppress(OSError):
        yield Path(tempfile.gettempdir())


def folders() -> Iterator[Path]:
    """Folders of this user's own that can be written: code is run from there."""
    for path in [*(path / "autograd" for path in cache()), *(path / f"autograd-{os.getuid()}" for path in temporary())]:
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = path.lstat()
        except OSError:
            continue
        if status.st_uid == os.getuid() and not status.st_mode & 0o022 and os.access(path, os.W_OK) and path.is_dir():
            yield path


def compile_into(folder: Path, file: Path) -> None:
    """Let another process compile, once, however many ranks are waiting: all shall use the same code from the first step."""
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if file.exists():                            # another rank was quicker
            return
        log_line("compiling kernels, once on this machine: some 10 seconds")
        package = __name__.rpartition(".")[0]
        root = str(HERE.parents[package.count(".")])
        roots = os.pathsep.join([root, *filter(None, sys.path)])     # numba may be where only this process looks
        done = subprocess.run([sys.executable, "-c", RUN, f"{package}.build", str(file)],
                              env=environment.with_changes(PYTHONPATH=roots), capture_output=True, text=True,
                              timeout=LIMIT, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise RuntimeError(f"compiling failed: {(done.stderr.strip() or 'no reason given').splitlines()[-1]}")


def is_complete(file: Path) -> bool:
    """Whether a file is as build.py wrote it: code that a full disk has cut off would end the process. 0.1 ms."""
    content = file.read_bytes()
    return hashlib.sha256(content[:-32]).digest() == content[-32:]


def mapped(file: Path) -> SimpleNamespace:
    """The functions of a file that build.py wrote. Ranks on a machine share its pages."""
    with open(file, "rb") as opened:
        status = os.fstat(opened.fileno())
        if status.st_uid != os.getuid() or status.st_mode & 0o022:
            raise OSError(f"{file} could have been written by another user")
        line = opened.readline()
        start = -(-len(line) // PAGE) * PAGE
        code = mmap.mmap(opened.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
    anchor = np.frombuffer(code, np.uint8)           # keeps the mapping alive
    base = anchor.ctypes.data + start
    functions = {name: ctypes.CFUNCTYPE(None, *[KINDS[kind] for kind in SIGNATURES[name]])(base + place)
                 for name, place in json.loads(line).items()}
    return SimpleNamespace(anchor=anchor, **functions)
