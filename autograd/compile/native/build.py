"""From text to functions in this process: a folder of compiled programs, and the process that compiles.

A program's file is named by the hash of its text, the processor and the versions. Of the processes of a host that require
the same program at once, the first compiles and the others wait for its lock, which the system releases if it dies.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from importlib import import_module, util
from typing import Any

from ...base.environment import environment
from .compiler import NO_FILE, compiled

VERSION = "1"                        # of what the text of a program means
KEPT = 512                           # files in the folder
DIGEST = 32


class BuildError(RuntimeError):
    """LLVM refused a program."""


def available() -> str:
    """Why there is no native code; "" if there is."""
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        return "native code requires a 64-bit Python"
    if util.find_spec("llvmlite") is None:
        return "llvmlite is not installed: `pip install dparallel[compile]`"
    return ""


@lru_cache
def processor() -> str:
    """What LLVM's code depends on: the processor's name and features."""
    try:
        with open("/proc/cpuinfo") as file:
            lines = {line for line in file if line.split("\t")[0].strip() in ("model name", "flags", "Features", "CPU part")}
    except OSError:
        lines = {platform.node(), platform.processor()}
    return " ".join([platform.machine(), sys.platform, *sorted(lines)])


@lru_cache
def llvmlite_version() -> str:
    """llvmlite's version, without importing it."""
    return str(import_module("importlib.metadata").version("llvmlite"))


def key_of(text: str) -> str:
    """The name of a program's file."""
    parts = "\0".join([VERSION, llvmlite_version(), processor(), text])
    return hashlib.sha256(parts.encode()).hexdigest()[:40]


def folder() -> str | None:
    """The folder of compiled programs; None if none can be written that is this user's alone."""
    path = environment.compile_cache
    if not path:
        return None
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
    except OSError:
        return None
    return path if is_private(path) else None


def is_private(path: str) -> bool:
    """Whether this user alone owns and may write it."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


def read(path: str) -> bytes | None:
    """The contents of a file of the folder; None if there is no intact one."""
    try:
        if not is_private(path):
            return None
        with open(path, "rb") as file:
            contents = file.read()
    except OSError:
        return None
    if hashlib.sha256(contents[:-DIGEST]).digest() != contents[-DIGEST:]:
        return None
    return contents[:-DIGEST]


class Library:
    """Functions step0, step1, ... of a program."""

    def __init__(self, text: str) -> None:
        self.compiled: bool = False                  # whether this process had it compiled
        home = folder()
        self._functions = (home and self._from(home, text)) or self._in_memory(text)

    def kernel(self, name: str, arguments: int, cut: bool) -> Any:
        """A function that a stretch calls, of so many pointers; `cut`: and of the first row and the number of rows."""
        kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments, *[ctypes.c_int64] * (2 * cut))
        function: Any = kind(self._functions(name))
        function.keep = self
        return function

    def step(self, n: int, table: Any, piece: tuple[int, int] | None = None) -> Any:
        """A stretch as a call without arguments; `piece`: of which rows, from the first to the last."""
        numbers = () if piece is None else (ctypes.c_int64(piece[0]), ctypes.c_int64(piece[1] - piece[0]))
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * len(numbers))
        function: Any = kind(self._functions(f"step{n}"))
        function.keep = self, table                  # what must be there while it can be called
        return partial(function, ctypes.c_void_p(ctypes.addressof(table)), *numbers)     # 0.2 us; of a Python int 0.4

    def _from(self, home: str, text: str) -> Any:
        """Functions of a file in the folder, which is compiled if it is not there. None if that fails."""
        path = os.path.join(home, key_of(text))
        found = self._load(path)
        if found is None:
            with locked(path + ".lock"):
                found = self._load(path)             # another process may have made it meanwhile
                if found is None:
                    self.compiled = True
                    if compile_in_child(text, path) is None:
                        return None
                    prune(home)
                    found = self._load(path)
        return found

    def _load(self, path: str) -> Any:
        if read(path + ".so") is not None:
            with contextlib.suppress(OSError):
                library = ctypes.CDLL(path + ".so")
                return lambda name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        made = read(path + ".o")
        return None if made is None else loaded(made)

    def _in_memory(self, text: str) -> Any:
        """Functions of an object file that no file holds."""
        self.compiled = True
        made = compile_in_child(text, "-")
        if made is None:                             # no process can be started, or it has no memory
            made = compiled(text)
        return loaded(made)


def loaded(made: bytes) -> Callable[[str], int]:
    """The functions of an object file, by llvmlite in this process."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(made))
    engine.finalize_object()

    def address(name: str) -> int:
        found: int = engine.get_function_address(name)
        return found

    return address


def compile_in_child(text: str, output: str) -> bytes | None:
    """Run compiler.py. Returns what it writes to standard output; None if it could not write the file or did not start."""
    spec = util.find_spec("llvmlite")
    home = os.path.dirname(os.path.dirname(str(spec.origin))) if spec is not None else ""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compiler.py")
    try:
        command = [sys.executable, "-I", "-S", script, output, home]
        done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    except OSError:
        return None
    if not done.returncode:
        return done.stdout
    if done.returncode == NO_FILE or done.returncode < 0:
        return None
    raise BuildError(f"LLVM refused a program: {done.stderr.decode(errors='replace').strip()[-2000:]}")


@contextlib.contextmanager
def locked(path: str) -> Iterator[None]:
    """A block that one process at a time runs; without locks where the system has none."""
    try:
        import fcntl
        file = open(path, "w")                       # noqa: SIM115 (closed below, once its name is gone)
    except (ImportError, OSError):
        yield
        return
    try:
        with contextlib.suppress(OSError):           # file systems without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
        file.close()


def prune(home: str) -> None:
    """Remove the files that were made first if there are too many."""
    with contextlib.suppress(OSError):
        files = sorted((e for e in os.scandir(home) if e.name.endswith((".so", ".o"))), key=lambda e: e.stat().st_mtime)
        for entry in files[:-KEPT]:
            os.unlink(entry.path)


__all__ = ["BuildError", "Library", "available"]
