"""Counters: how often the memory shared by a tensor and its aliases was written to, and who must not ask."""

from __future__ import annotations

import ctypes
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
MSG_IN_PLACE = ("Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
                "normal tensor before doing inplace update.")


class Version:
    """One version of memory to which the library itself may write (see overwrites.py). Nodes that save the memory hold this
    object in place of a number, and with it the values from before such a write: they live as long as these nodes."""

    __slots__ = ("__weakref__", "address", "content", "value")

    def __init__(self, value: int) -> None:
        self.value: int = value
        self.content: Any = None                     # the bytes from before the library's write, which began at address
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
    """The Version at which a counter is, as long as a node holds it; and the one at which this object was made, which nodes
    know by its number only."""

    __slots__ = ("_current", "first")

    def __init__(self, value: int) -> None:
        self.first: Version | None = Version(value)
        self._current: weakref.ref[Version] = weakref.ref(self.first)

    def current(self, value: int) -> Version | None:
        """The Version of this number, if a node may have saved the memory at it."""
        if self.first is not None and self.first.value != value and self.first.content is None:
            self.first = None                        # its values are gone
        version = self._current()
        return version if version is not None and version.value == value else None

    def saved(self, value: int) -> Version:
        """The Version of this number, for a node."""
        version = self._current()
        if version is None or version.value != value:
            with _lock:                              # replicas may save one buffer at the same time
                version = self._current()
                if version is None or version.value != value:
                    version = Version(value)
                    self._current = weakref.ref(version)
        return version


class Counter:
    """How often the memory shared by a tensor and its aliases was written to; and its views, which a write moves on.

    kept: None, or the versions from which nodes keep what the library overwrites. writer: the count after the last write
    that left its name, and the name, for the text of an error."""

    __slots__ = ("__weakref__", "kept", "value", "views", "writer")

    def __init__(self) -> None:
        self.value: int = 0
        self.views: list[weakref.ref[Any]] = []
        self.kept: KeptVersions | None = None
        self.writer: tuple[int, str] | None = None

    def count_write(self, writer: str) -> None:
        """Count a write, and keep the writer's name."""
        self.value += 1
        self.writer = self.value, writer

    def writer_since(self, then: Any) -> str:
        """The name of a writer later than `then`, which saved() returned, as a sentence; "" where none left its name."""
        count = then.value if isinstance(then, Version) else then
        return "" if self.writer is None or self.writer[0] <= count else f" It was overwritten by {self.writer[1]}."

    def saved(self) -> Any:
        """The count, for a node that saves the memory or uses what it saved: a number or a Version."""
        return self.value if self.kept is None else self.kept.saved(self.value)

    def recalled(self, array: Any, then: Any) -> Any:
        """The array as it was when saved() returned `then`, if only the library has overwritten that; else None."""
        if not isinstance(then, Version) and self.kept is not None and self.kept.first == then:
            then = self.kept.first
        return then.array(array) if isinstance(then, Version) else None

    def version(self) -> int:
        """The count, for the user."""
        return self.value

    def refuse_write(self) -> None:
        """RuntimeError where the memory must not be written to."""


class PartCounter(Counter):
    """The counter of a part of a tensor whose other parts are written to in other threads: counts writes to this part, and
    those to the whole tensor that are made in another way."""

    __slots__ = ("_others", "_whole")

    def __init__(self, whole: Counter) -> None:
        super().__init__()
        self._whole, self._others = whole, 0

    def saved(self) -> int:
        """How often this part was written to: directly, and through the whole."""
        return self.value + self._whole.value - self._others

    version = saved

    @staticmethod
    def count_in_whole(parts: Sequence[PartCounter]) -> None:
        """Count what was written to parts of one tensor as a write to that; for the parts that is nothing new."""
        if any(part.value for part in parts):
            parts[0]._whole.value += 1
            for part in parts:
                part._others += 1


class InferenceCounter(Counter):
    """The counter of a tensor made in inference mode: nobody may ask for the count, outside the mode."""

    __slots__ = ()

    @property
    def value(self) -> int:  # type: ignore[override]
        """0 in inference mode, where writes are not counted."""
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
        """RuntimeError unless in inference mode."""
        if not modes.inference:
            raise RuntimeError(MSG_IN_PLACE)


_lock = threading.Lock()
# Who makes a tensor asks `if inferring:`, and only then what its counter is. Blocks of inference_mode open in any thread.
inferring: list[None] = process.inference_blocks


def count_blocks(change: int) -> None:
    """A block of inference_mode opens (1) or closes (-1)."""
    with _lock:
        if change > 0:
            inferring.append(None)
        else:
            inferring.pop()


def fresh_counter() -> Counter | None:
    """The counter of a tensor that is made now: none, but in inference mode one that says so."""
    return InferenceCounter() if modes.inference else None
