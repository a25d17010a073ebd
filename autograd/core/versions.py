"""Counters: how often the memory shared by a tensor and its aliases was written to, and who must not ask."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any

from .modes import modes, process

MSG_VERSION = "Inference tensors do not track version counter."
MSG_SAVED = ("Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
             "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it "
             "in autograd, or use `no_grad()` instead of `inference_mode()`.")
MSG_IN_PLACE = ("Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
                "normal tensor before doing inplace update.")


class Counter:
    """How often the memory shared by a tensor and its aliases was written to; and its views, which a write moves on."""

    __slots__ = ("__weakref__", "value", "views")

    def __init__(self) -> None:
        self.value: int = 0
        self.views: list[weakref.ref[Any]] = []

    def saved(self) -> int:
        """The count, for a node that saves the memory or uses what it saved."""
        return self.value

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


# Who makes a tensor asks `if inferring:`, and only then what its counter is. Blocks of inference_mode open in any thread.
inferring: list[None] = process.inference_blocks
_lock = threading.Lock()


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


__all__ = ["Counter", "InferenceCounter", "PartCounter", "count_blocks", "fresh_counter", "inferring"]
