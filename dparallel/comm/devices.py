"""Local devices: one process holds every place."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from .base import Array, Communicator, Handle
from .call import ONE_RESULT, Call, check
from .definition import combined, is_half, results


class Devices(Communicator):
    """`size` places, all in this process; Devices(1) is what a script has when it is not run under MPI."""

    kind = "devices"

    def __init__(self, size: int) -> None:
        if not isinstance(size, (int, np.integer)) or size < 1:
            raise ValueError(f"Devices({size!r}): a whole number of places, at least one")
        self.size = int(size)
        self.held = tuple(range(size))

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

    def duplicate(self) -> Devices:
        """Itself: it keeps no messages."""
        return self

    def free(self) -> None:
        """Nothing to do."""

    def abort(self, message: str) -> None:
        """End this process, by SystemExit."""
        sys.exit(message)
