"""How a unit travels: each rank gets the sum of its own elements only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..comm import Communicator
from ..transport import Transport
from .gathering import COUNT, SEND, Gathering
from .unit import Unit

IN_FLIGHT = 2                        # sums under way: more would keep whole gradients in memory


class Scattered(Transport):
    """Gradients times weight in one reduce-scatter a unit; weights and flags of all units in one allreduce at the end.
    keep: the memory of whole gradients stays (stage 1). gathering: with which ranks agree on what comes next (stage 3)."""

    same_everywhere = False

    def __init__(self, comm: Communicator, keep: bool, gathering: Gathering | None) -> None:
        self.comm, self.keep, self.gathering = comm, keep, gathering
        self.bytes_sent: list[int] = []
        self._sent: list[Unit] = []

    def agree(self, factor: float, weight: float, first: Any = None) -> float:
        """What this rank's gradients are multiplied by."""
        return factor

    again = agree

    def start(self, unit: Unit, weight: float, index: int, last: bool) -> None:
        """Send a unit; wait for one that left before."""
        if self.gathering is not None:
            self.gathering.agree(SEND, unit.number)
        unit.send(weight, self.keep)
        self._sent.append(unit)
        if len(self._sent) > IN_FLIGHT:
            self._sent[-1 - IN_FLIGHT].arrive()

    def collect(self, units: Sequence[Unit]) -> bool:
        """Wait for all, and sum what they count; they are still to be divided by the sum of weights."""
        for unit in units:
            unit.arrive()
        self._sent = []
        if self.gathering is not None:
            self.gathering.agree(COUNT)
        sums = self.comm.allreduce([np.concatenate([np.array([u.weight for u in units]), *[u.used for u in units]])])[0]
        start = len(units)
        for unit, total in zip(units, sums, strict=False):
            unit.weight = float(total)
            unit.used[...] = sums[start:start + len(unit.used)]
            start += len(unit.used)
        return True

    def drop(self) -> None:
        """Wait for what is on its way, and forget it."""
        sent, self._sent = self._sent, []
        for unit in sent:
            unit.arrive()
            unit.piece = None


__all__ = ["Scattered"]
