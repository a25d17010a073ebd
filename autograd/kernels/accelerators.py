"""Which accelerators are used: optional libraries behind the kernels, chosen here.

AUTOGRAD_ACCELERATORS is a list of their names ("loops,onednn"), "all" (the default) or "off". NumPy alone always works, and
gives the same results up to rounding. The first kernel that would use an accelerator loads it. If that fails, one line on
standard error says what is missing and what installs it: once in a process, in a parallel job on rank 0 alone.
AUTOGRAD_ACCELERATORS without the accelerator's name, or another level of the logger "autograd", leaves the line out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any

from ..base.environment import environment

NAMES = ("loops", "onednn", "lapack")
OFF = "switched off by AUTOGRAD_ACCELERATORS"


def is_enabled(name: str) -> bool:
    """Whether the user lets this accelerator be used. ValueError if the variable names one that does not exist."""
    chosen = environment.accelerators
    if chosen in ("all", "on", "1"):
        return True
    if chosen in ("off", "none", "0", ""):
        return False
    names = [part.strip() for part in chosen.split(",")]
    unknown = [part for part in names if part not in NAMES]
    if unknown:
        raise ValueError(f"AUTOGRAD_ACCELERATORS={chosen!r}: {unknown[0]!r} is not one of {', '.join(NAMES)}, all, off")
    return name in names


def log_line(text: str, *values: Any) -> None:
    """One line to the log, on standard error unless the user has it elsewhere. `logging` takes 2 ms to import."""
    import_module("logging").getLogger("autograd").warning(f"autograd: {text}", *values)


class Missing(OSError):
    """The accelerator is not installed, or not completely; the message says what is missing."""


def versions(*packages: str) -> list[tuple[str, str]]:
    """The names and versions of those of the packages that are installed. importlib.metadata takes 20 ms to import."""
    metadata = import_module("importlib.metadata")
    found = []
    for package in packages:
        try:
            found.append((package, str(metadata.version(package))))
        except metadata.PackageNotFoundError:
            continue
    return found


class Accelerator:
    """A library that is loaded when it is first asked for.

    load() returns it, or raises: Missing if it is not installed. find() returns a line on where it is, or raises likewise,
    and loads nothing. `brought` installs it ("" if this package does, which has reported it), `instead` says what
    happens without.
    """

    def __init__(self, name: str, load: Callable[[], Any], find: Callable[[], str], brought: str, instead: str) -> None:
        self.name: str = name
        self._load, self._find = load, find
        self.brought: str = brought
        self._instead = instead
        self.reason: str = ""                        # why it is not used
        self._lock = threading.Lock()

    @cached_property
    def library(self) -> Any:
        """The library, loaded by the first read; None if it is not used: then NumPy does the work."""
        with self._lock:                             # ranks that are threads wait: all of them use it, or none
            if "library" not in vars(self):
                self.library = self._loaded()
            return vars(self)["library"]

    def _loaded(self) -> Any:
        if not is_enabled(self.name):
            self.reason = OFF
            return None
        try:
            return self._load()
        except Exception as error:                   # whatever is wrong with it, NumPy works
            self.reason = self._describe(error)
            if environment.first_rank and self.brought:       # one line a job, not one a rank
                log_line("%s is not used (%s); %s. AUTOGRAD_ACCELERATORS=off goes without, and silences this",
                    self.name, self.reason, self._instead)
            return None

    def _describe(self, error: Exception) -> str:
        text = str(error) if isinstance(error, Missing) else f"{type(error).__name__}: {error}"
        return " ".join(f"{text}; {self.brought}".split() if isinstance(error, Missing) else text.split())

    def state(self) -> str:
        """"in use", "not loaded yet", or "not used" and why: asks whether it is installed, and loads nothing."""
        if "library" in vars(self):
            return f"in use, {self._origin()}" if self.library is not None else f"not used ({self.reason})"
        try:
            return f"not loaded yet, {self._find()}" if is_enabled(self.name) else f"not used ({OFF})"
        except Exception as error:
            return f"not used ({self._describe(error)})"

    def _origin(self) -> str:
        try:
            return getattr(self.library, "_name", None) or self._find()
        except Exception:                            # removed since
            return "from memory"
