"""The transport of a unit: each rank gets the sum of its own elements only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from autograd.kernels.halves import converted

from ..comm import Communicator, Handle
from ..hooks.encoded_sums import BFloat16, Float16, start_reduce_scatter_encoded
from ..reduction.transport import Transport
from .gathering import COUNT, SEND, Gathering
from .unit import Unit

CODECS: dict[str, Any] = {"float16": Float16, "bfloat16": BFloat16}
SIZES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}
IN_FLIGHT = 2                        # pending sums: more would keep whole gradients in memory


class ReduceScatterTransport(Transport):
    """One reduce-scatter of weighted gradients per unit; one allreduce of weights and flags of all units at the end.

    keep: the memory of whole gradients stays (stage 1). gathering: lets ranks agree on the next operation (stage 3). wire: a
    dtype of messages, whose gradients are divided by the sum of weights first, which float16 requires.
    """

    same_on_all_ranks = False

    def __init__(self, comm: Communicator, keep: bool, gathering: Gathering | None, wire: str = "") -> None:
        self.comm: Communicator = comm
        self.keep: bool = keep
        self.gathering: Gathering | None = gathering
        self.wire: str = wire
        self.blocks: bool = bool(wire) or gathering is None  # weights are summed first; ranks synchronize at each start
        self._sent: list[Unit] = []
        self._scale = 1.0

    def agree(self, factor: float, weight: float, buckets: Sequence[Any]) -> float:
        """The factor of this rank's gradients. Collective if they are divided before they are sent."""
        if self.wire:
            if self.gathering is not None:
                self.gathering.agree(COUNT)
            total = self.comm.total(weight)
            self._scale = 1 / (total or 1.0) if math.isfinite(total) else 0.0
        return self.next_factor(factor, weight)

    def next_factor(self, factor: float, weight: float) -> float:
        """The same for a later unit of the pass."""
        return factor * self._scale

    def ready(self, unit: Unit, final: bool) -> bool:
        """In stage 3, whether all ranks send this unit now."""
        return self.gathering is None or self.gathering.agree(SEND, unit.number, optional=not final)

    def start(self, unit: Unit, weight: float, index: int, last: bool) -> None:
        """Send a unit; wait for an earlier one: no other rank is in a collective of the pass then, see `blocks`."""
        unit.send(weight, self.keep, self._start)
        self._sent.append(unit)
        for sent in self._sent[:-IN_FLIGHT]:
            sent.arrive()

    def _start(self, x: Any, sizes: Sequence[int]) -> Handle:
        """Start the sum of one vector of each rank, of which this one gets its part."""
        if self.wire in CODECS:
            return start_reduce_scatter_encoded(self.comm, x, sizes, CODECS[self.wire]())
        sent = converted(x, self.wire) if self.wire else x
        handle = self.comm.start_reduce_scatter([sent], sizes)
        return handle.then(lambda done: converted(done.value()[0], x.dtype, copy=False))

    def handles(self) -> Iterable[Handle]:
        """Sums of which this rank gets its part."""
        return [unit.handle for unit in self._sent if unit.handle is not None]

    def collect(self, units: Sequence[Unit]) -> bool:
        """Wait for all, and sum weights and flags. The results must still be divided by the sum of weights."""
        for unit in units:
            unit.arrive()
        self._sent = []
        if self.gathering is not None:
            self.gathering.agree(COUNT)
        sums = self.comm.allreduce([np.concatenate([np.array([u.weight for u in units]), *[u.used for u in units],
                                                    units[-1].room])])[0]
        start = len(units)
        for unit, total in zip(units, sums, strict=False):
            unit.weight = float(total)
            unit.used[...] = sums[start:start + len(unit.used)]
            start += len(unit.used)
        units[-1].room[...] = sums[start:]
        if self.wire:
            self.bytes_sent: list[int] = [unit.total * SIZES[self.wire] for unit in units]
        return not self.wire

    def drop(self) -> None:
        """Wait for pending operations, and drop their results."""
        sent, self._sent = self._sent, []
        for unit in sent:
            unit.arrive()
            unit.local_sum = None
