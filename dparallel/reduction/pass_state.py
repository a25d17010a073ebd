"""The state of the backward pass that a reducer takes part in, and the callbacks at its end."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable
from dataclasses import dataclass

from autograd.core.engine import BackwardPass

creation_numbers: itertools.count[int] = itertools.count()  # of reducers, which all ranks create in one order


class PassKind(enum.Enum):
    """What a reducer does with the gradients of a backward pass."""

    LOCAL = "they stay on this rank, as inside no_sync()"
    NESTED = "the pass runs inside a summed pass, whose end it waits for"
    SUMMED = "buckets are summed over ranks while the pass runs"
    RECORDED = "create_graph=True: one recorded collective averages them at the end of the pass"


@dataclass
class PassState:
    """The pass of one reducer. The parts of the reducer share this object; only the Reducer assigns to it.

    backward_pass: the running pass, None between passes; one that ended in an exception remains until the next one starts.
    counts_nothing: this rank's weight is 0, so .grad must not change. unannounced: the pass has begun on this rank, but has
    not run the collectives that begin it on all ranks. waits_for_end: buckets are launched only at the end of the pass.
    """

    backward_pass: BackwardPass | None = None
    kind: PassKind = PassKind.LOCAL
    counts_nothing: bool = False
    unannounced: bool = False
    waits_for_end: bool = False

    @property
    def others_may_wait(self) -> bool:
        """Whether a summed pass has begun on all ranks and not ended here, so that ranks may wait in its collectives."""
        return self.backward_pass is not None and self.kind is PassKind.SUMMED and not self.unannounced


class PassEnd:
    """The callback that ends a pass for its reducers, in the order in which they were created. That order is the same on all
    ranks; the order in which backward reaches the models may not be, and each end waits for all ranks."""

    def __init__(self) -> None:
        self.functions: list[tuple[int, Callable[[], None]]] = []

    def __call__(self) -> None:
        """End the pass for all reducers."""
        if len(self.functions) > 1:
            self.functions.sort(key=lambda entry: entry[0])
        for _, function in self.functions:
            function()


def call_at_end(backward_pass: BackwardPass, number: int, function: Callable[[], None]) -> None:
    """Call function() at the end of the pass, for the reducer with this creation number."""
    for callback in backward_pass.callbacks:
        if type(callback) is PassEnd:
            break
    else:
        backward_pass.callbacks.append(callback := PassEnd())
    callback.functions.append((number, function))
