"""The end of a backward pass for all reducers that take part in it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

made = itertools.count()             # reducers are numbered: all ranks make them in one order


class PassEnds:
    """One of a pass's callbacks: ends the pass for its reducers, in the order in which these were made. Ranks may call their
    models, and so come to them in backward, in different orders, and to end is to wait for all ranks."""

    def __init__(self) -> None:
        self.ends: list[tuple[int, Callable[[], None]]] = []

    def __call__(self) -> None:
        """The pass has ended."""
        if len(self.ends) > 1:
            self.ends.sort(key=lambda entry: entry[0])
        for _, end in self.ends:
            end()


def at_end(walk: Any, number: int, end: Callable[[], None]) -> None:
    """Call end() when a pass has ended, for the reducer of this number."""
    for callback in walk.callbacks:
        if type(callback) is PassEnds:
            break
    else:
        walk.callbacks.append(callback := PassEnds())
    callback.ends.append((number, end))


__all__ = ["at_end", "made"]
