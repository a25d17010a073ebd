"""The backward pass that a reducer takes part in: what is known of it, and what is called at its end."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

creation_numbers = itertools.count()                 # of reducers: all ranks create them in one order


class PassKind(enum.Enum):
    """What becomes of the gradients of a backward pass."""

    LOCAL = "they stay on this rank, as inside no_sync()"
    NESTED = "the pass runs inside a summed pass, whose end it waits for"
    SUMMED = "buckets are summed over ranks while the pass runs"
    RECORDED = "create_graph=True: one recorded collective averages them at the end of the pass"


@dataclass
class PassState:
    """The pass of one reducer. The parts of the reducer share this object; only the Reducer assigns to it.

    walk is the running pass, None between passes; a pass that ended in an exception stays here until the next one starts.
    counts_nothing: this rank's weight is 0, so .grad is to be left as it was. unannounced: the pass has begun on this rank,
    and has not yet run the collectives that begin it on all ranks. waits_for_end: buckets leave at the end of the pass only.
    """

    walk: Any = None
    kind: PassKind = PassKind.LOCAL
    counts_nothing: bool = False
    unannounced: bool = False
    waits_for_end: bool = False

    @property
    def others_may_wait(self) -> bool:
        """Whether a summed pass has begun on all ranks and not ended here: some may be in one of its collectives."""
        return self.walk is not None and self.kind is PassKind.SUMMED and not self.unannounced


class PassEnd:
    """One of a pass's callbacks: ends the pass for its reducers, in the order in which they were created. Ranks may call
    their models, and so reach them in backward, in different orders, and to end a pass is to wait for all ranks."""

    def __init__(self) -> None:
        self.functions: list[tuple[int, Callable[[], None]]] = []

    def __call__(self) -> None:
        """End the pass for all reducers."""
        if len(self.functions) > 1:
            self.functions.sort(key=lambda entry: entry[0])
        for _, function in self.functions:
            function()


def call_at_end(walk: Any, number: int, function: Callable[[], None]) -> None:
    """Call function() when the pass has ended, for the reducer with this creation number."""
    for callback in walk.callbacks:
        if type(callback) is PassEnd:
            break
    else:
        walk.callbacks.append(callback := PassEnd())
    callback.functions.append((number, function))


__all__ = ["PassKind", "PassState", "call_at_end", "creation_numbers"]
