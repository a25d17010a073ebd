"""Version counters of shared memory. The version of an inference tensor may not be read outside inference mode."""

from __future__ import annotations

import ctypes
import linecache
import sys
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from .modes import modes, process

MSG_VERSION = "Inference tensors do not track version counter."
MSG_SAVED = ("Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
             "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it "
             "in autograd, or use `no_grad()` instead of `inference_mode()`.")
MSG_LINE = " To find the line of the write, run the step in autograd.detect_anomaly()."
MSG_IN_PLACE = ("Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
                "normal tensor before doing inplace update.")


class Version:
    """One version of memory that the library itself may overwrite (see overwrites.py). Nodes that save the memory hold this
    object instead of a number, and with it the values from before the overwrite."""

    __slots__ = ("__weakref__", "address", "content", "value")

    def __init__(self, value: int) -> None:
        self.value: int = value
        self.content: Any = None                     # the bytes from before the overwrite, which began at `address`
        self.address: int = 0

    def keep(self, arrays: Sequence[Any]) -> None:
        """Copy the memory of these arrays, which the library is about to overwrite."""
        bounds = [np.lib.array_utils.byte_bounds(array) for array in arrays]
        self.address = min(low for low, _ in bounds)
        size = max(high for _, high in bounds) - self.address
        memory: Any = (ctypes.c_char * size).from_address(self.address)
        self.content = np.frombuffer(memory, np.uint8).copy()

    def array(self, now: Any) -> Any:
        """The array `now` as it was at this version; None if its memory was not kept."""
        if self.content is None:
            return None
        low, high = np.lib.array_utils.byte_bounds(now)
        if low < self.address or high > self.address + len(self.content):
            return None
        start = now.__array_interface__["data"][0] - self.address
        return np.ndarray(now.shape, now.dtype, self.content, start, now.strides)

    def __eq__(self, other: object) -> bool:
        return self.value == (other.value if isinstance(other, Version) else other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return str(self.value)


class KeptVersions:
    """The current Version of a counter while a node holds it, and the first one, which nodes know only by its number."""

    __slots__ = ("_current", "first")

    def __init__(self, value: int) -> None:
        self.first: Version | None = Version(value)
        self._current: weakref.ref[Version] = weakref.ref(self.first)

    def current(self, value: int) -> Version | None:
        """The Version with this number, if a node may have saved the memory then."""
        if self.first is not None and self.first.value != value and self.first.content is None:
            self.first = None                        # its values were overwritten
        version = self._current()
        return version if version is not None and version.value == value else None

    def saved(self, value: int) -> Version:
        """The Version with this number, for a node."""
        version = self._current()
        if version is None or version.value != value:
            with _lock:                              # replicas may save one buffer at the same time
                version = self._current()
                if version is None or version.value != value:
                    version = Version(value)
                    self._current = weakref.ref(version)
        return version


class Counter:
    """Counts the writes to memory shared by a tensor and its aliases, and holds its views, which a write updates.

    kept: None, or the versions whose values are kept for nodes when the library overwrites the memory.
    writer: the count after the last named write, and its name, for error messages.
    """

    __slots__ = ("__weakref__", "kept", "value", "views", "writer")

    def __init__(self) -> None:
        self.value: int = 0
        self.views: list[weakref.ref[Any]] = []
        self.kept: KeptVersions | None = None
        self.writer: tuple[int, str] | None = None

    def count_write(self, writer: str) -> None:
        """Count a write and store the writer's name."""
        self.value += 1
        self.writer = self.value, f"by {writer}"

    def writer_since(self, then: Any) -> str:
        """A sentence that names a writer since `then`, a result of saved(), or how to find its line."""
        count = then.value if isinstance(then, Version) else then
        if self.writer is not None and self.writer[0] > count:
            return f" It was overwritten {self.writer[1]}."
        return MSG_LINE if Counter.__dict__["value"] is COUNT else ""

    def saved(self) -> Any:
        """The count for a node that saves the memory or reads saved values: a number or a Version."""
        return self.value if self.kept is None else self.kept.saved(self.value)

    def recalled(self, array: Any, then: Any) -> Any:
        """The array as it was when saved() returned `then`, if only the library has overwritten it; else None."""
        if not isinstance(then, Version) and self.kept is not None and self.kept.first == then:
            then = self.kept.first
        return then.array(array) if isinstance(then, Version) else None

    def version(self) -> int:
        """The count, for the user."""
        return self.value

    def refuse_write(self) -> None:
        """Raise RuntimeError if the memory must not be written to."""


COUNT: Any = Counter.__dict__["value"]               # the slot


def name_lines(on: bool) -> None:
    """Whether counters store the line of each write, as anomaly mode does. Off, `value` is the slot itself and costs nothing
    more."""
    setattr(Counter, "value", property(COUNT.__get__, _count_at_line) if on else COUNT)  # noqa: B010  # mypy: a slot


def _count_at_line(counter: Counter, count: int) -> None:
    """Set the count, and store the line outside this library that led here."""
    COUNT.__set__(counter, count)
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("autograd.", "dparallel.")):
        frame = frame.f_back
    file, line = frame.f_code.co_filename, frame.f_lineno
    code = linecache.getline(file, line, frame.f_globals).strip()
    counter.writer = count, f"at {file}:{line}" + (f": {code}" if code else "")


class PartCounter(Counter):
    """The counter of one part of a tensor, whose other parts are written to in other threads: counts writes to this part and
    direct writes to the whole tensor."""

    __slots__ = ("_others", "_whole")

    def __init__(self, whole: Counter) -> None:
        super().__init__()
        self._whole, self._others = whole, 0

    def saved(self) -> int:
        """The number of writes to this part, directly or through the whole tensor."""
        return self.value + self._whole.value - self._others

    version = saved

    @staticmethod
    def count_in_whole(parts: Sequence[PartCounter]) -> None:
        """Count the writes to parts of one tensor as one write to the whole, without counting it in the parts again."""
        if any(part.value for part in parts):
            parts[0]._whole.value += 1
            for part in parts:
                part._others += 1


class InferenceCounter(Counter):
    """The counter of a tensor created in inference mode, which may not be read outside the mode."""

    __slots__ = ()

    @property
    def value(self) -> int:  # type: ignore[override]
        """0: writes in inference mode are not counted."""
        self.refuse_write()
        return 0

    @value.setter
    def value(self, count: int) -> None:
        pass

    def count_write(self, writer: str) -> None:
        """Nothing: no graph can hold the memory."""

    def saved(self) -> int:
        """0 in inference mode; the memory can't enter a graph outside."""
        if not modes.inference:
            raise RuntimeError(MSG_SAVED)
        return 0

    def version(self) -> int:
        """Always an error."""
        raise RuntimeError(MSG_VERSION)

    def refuse_write(self) -> None:
        """Raise RuntimeError outside inference mode."""
        if not modes.inference:
            raise RuntimeError(MSG_IN_PLACE)


_lock = threading.Lock()
# Code that creates tensors tests `if inferring:` before fresh_counter(). Not empty while a thread is in inference_mode.
inferring: list[None] = process.inference_blocks


def count_blocks(change: int) -> None:
    """Count a block of inference_mode that opens (1) or closes (-1)."""
    with _lock:
        if change > 0:
            inferring.append(None)
        else:
            inferring.pop()


def fresh_counter() -> Counter | None:
    """The counter of a new tensor: an InferenceCounter in inference mode, else None."""
    return InferenceCounter() if modes.inference else None
