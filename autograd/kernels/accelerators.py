"""Which accelerators are used: optional libraries behind the kernels, chosen here.

AUTOGRAD_ACCELERATORS is a list of their names ("numba,onednn"), "all" (the default) or "off". The environment is read here
and nowhere else. NumPy alone always works, and gives the same results up to rounding. The first kernel that would use an
accelerator loads it; one that is absent, broken or switched off is said so once, in one line, on standard error.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

NAMES = ("numba", "onednn")
RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")      # one line a job, not one a rank


def wanted(name: str) -> bool:
    """Whether the user lets this accelerator be used. ValueError if the variable names one that does not exist."""
    chosen = os.environ.get("AUTOGRAD_ACCELERATORS", "all").strip().lower()
    if chosen in ("all", "on", "1"):
        return True
    if chosen in ("off", "none", "0", ""):
        return False
    names = [part.strip() for part in chosen.split(",")]
    unknown = [part for part in names if part not in NAMES]
    if unknown:
        raise ValueError(f"AUTOGRAD_ACCELERATORS={chosen!r}: {unknown[0]!r} is not one of {', '.join(NAMES)}, all, off")
    return name in names


def say(text: str, *values: Any) -> None:
    """One line to the log, on standard error unless the user has it elsewhere. `logging` takes 2 ms to import."""
    import_module("logging").getLogger("autograd").warning(f"autograd: {text}", *values)


class Accelerator:
    """A library that is loaded when it is first asked for. load() returns it, or raises."""

    def __init__(self, name: str, load: Callable[[], Any], instead: str) -> None:
        self.name, self._load, self._instead = name, load, instead
        self._library: Any = None
        self.reason = ""                             # why it is not used
        self._tried = False
        self._lock = threading.Lock()

    def library(self) -> Any:
        """The library, or None, and then NumPy does the work."""
        if not self._tried:
            with self._lock:                         # ranks that are threads wait: all of them use it, or none
                if not self._tried:
                    self._try()
                    self._tried = True
        return self._library

    def _try(self) -> None:
        if not wanted(self.name):
            self._notice("switched off by AUTOGRAD_ACCELERATORS")
            return
        try:
            self._library = self._load()
        except Exception as error:                   # whatever is wrong with it, NumPy works
            self._notice(" ".join(f"{type(error).__name__}: {error}".split()))

    def state(self) -> str:
        """"in use", "not loaded yet", or "not used" and why."""
        return "in use" if self._library is not None else f"not used ({self.reason})" if self._tried else "not loaded yet"

    def _notice(self, reason: str) -> None:
        self.reason = reason
        if all(os.environ.get(name, "0") == "0" for name in RANK_VARIABLES):
            say("%s is not used (%s); %s", self.name, reason, self._instead)
