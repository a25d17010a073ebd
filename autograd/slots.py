"""Watch: a mode sees every write to a slot of a class while the mode is on, and costs nobody anything while it is off."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

# CPython 3.13 gives up caching the attributes of a class that was changed 1,000 times: then the watch stays where it is.
SWITCHES = 200 if sys.version_info >= (3, 13) else sys.maxsize


class Watch:
    """While anybody holds it, `convert(instance, value)` says what is stored when a slot of `owner` is written.

    The class's slot is then replaced by a property, and put back afterwards: code that fills slots (each recorded
    operation does) needs no `if` for modes that are almost never on. Threads that are not in the mode go through
    `convert` too, which has to look whose mode it is.
    """

    def __init__(self, owner: type, slot: str, convert: Callable[[Any, Any], Any]) -> None:
        member: Any = owner.__dict__[slot]
        store = member.__set__

        def write(instance: Any, value: Any) -> None:
            store(instance, convert(instance, value))

        self._owner, self._slot = owner, slot
        self._off, self._on = member, property(member.__get__, write)
        self._lock = threading.Lock()
        self._holders = self._switches = 0

    def hold(self) -> None:
        """Watch, until as many calls of release()."""
        with self._lock:
            self._holders += 1
            if self._holders == 1:
                self._put(self._on)

    def release(self) -> None:
        """End one hold()."""
        with self._lock:
            self._holders -= 1
            if self._holders == 0 and self._switches < SWITCHES:
                self._put(self._off)

    def _put(self, descriptor: Any) -> None:
        if self._owner.__dict__[self._slot] is not descriptor:
            self._switches += 1
            setattr(self._owner, self._slot, descriptor)


__all__ = ["Watch"]
