"""Local devices: one process holds every place."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from .base import Array, Communicator, Handle
from .call import ONE_RESULT, Call, CollectiveError, check
from .definition import combined, is_half, results


class Devices(Communicator):
    """`size` places, all in this process; Devices(1) is what a script has when it is not run under MPI."""

    kind = "devices"

    def __init__(self, size: int) -> None:
        if not isinstance(size, (int, np.integer)) or size < 1:
            raise ValueError(f"Devices({size!r}): a whole number of places, at least one")
        self.size = int(size)
        self.held = tuple(range(size))
        self._mail: dict[Any, Any] = {}              # (dest, source, tag) and the message's place in the line -> message
        self._lines: Counter[Any] = Counter()

    def _exchange(self, calls: list[Call]) -> list[Call]:
        check(calls)
        return calls

    def _start(self, calls: list[Call], xs: list[Array], now: bool) -> Handle:
        check(calls)
        values: Any = results(calls, xs, self.held)
        return Handle(None, value=values[calls[0].root] if calls[0].name in ONE_RESULT else values)

    def start_sum_in_place(self, arrays: Sequence[Array]) -> Handle:
        """The sum in place order, copied to all."""
        first = arrays[0]
        if is_half(first.dtype):
            first[...] = combined(arrays, "sum")
        else:
            for array in arrays[1:]:
                np.add(first, array, out=first)
        for array in arrays[1:]:
            array[...] = first
        return Handle(None)

    def _deliver(self, here: int, there: int, tag: int, call: Call, x: Array) -> Handle:
        way = ("sent", there, here, tag)
        self._mail[way[1:], self._lines[way]] = call, x.copy()
        self._lines[way] += 1
        return Handle(None)

    def _collect(self, here: int, there: int, tag: int, what: str) -> Handle:
        way = ("received", here, there, tag)
        key = way[1:], self._lines[way]
        self._lines[way] += 1

        def take() -> Any:
            if key not in self._mail:
                raise CollectiveError(f"{what} at place {here}: nothing has been sent. One process holds all places, so a "
                                      "message must be sent before it is received")
            return self._mail.pop(key)

        return Handle(take, lambda: key in self._mail)

    def _groups(self, groups: list[list[int]], mine: list[int | None]) -> list[Any]:
        made = [Devices(len(group)) for group in groups]
        return [None if number is None else made[number] for number in mine]

    def duplicate(self) -> Devices:
        """Other places, as many."""
        return Devices(self.size)

    def free(self) -> None:
        """Forget messages that nobody received."""
        self._mail.clear()
        self.free_groups()

    def abort(self, message: str) -> None:
        """End this process, by SystemExit."""
        sys.exit(message)
