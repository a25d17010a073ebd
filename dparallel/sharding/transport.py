"""The transport of a unit: each rank gets the sum of its own elements only."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from autograd.core.engine import current_pass
from autograd.kernels.halves import converted

from ..comm import Communicator, Handle
from ..comm.reference import combined
from ..hooks.encoded_sums import BFloat16, Float16, start_reduce_scatter_encoded
from ..reduction.transport import Transport
from .gathering import COUNT, START_OVER, Gathering
from .unit import Unit

CODECS: dict[str, Any] = {"float16": Float16, "bfloat16": BFloat16}
SIZES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}
IN_FLIGHT = 2                        # pending sums: more would keep whole gradients in memory


class ReduceScatterTransport(Transport):
    """One reduce-scatter of weighted gradients per unit; one allreduce of weights and flags of all units at the end.

    keep: the memory of whole gradients stays (stage 1). wire: a dtype of messages, whose gradients are divided by the sum of
    weights first, which float16 requires. gathering: in stage 3, lets ranks agree on the next operation. Sums then start
    without waiting, on a communicator of their own: another rank may need this one for a unit before it starts the same sum.
    """

    same_on_all_ranks = False

    def __init__(self, comm: Communicator, keep: bool, gathering: Gathering | None, wire: str = "") -> None:
        self.comm: Communicator = comm
        self.keep: bool = keep
        self.gathering: Gathering | None = gathering
        self.sums: Communicator = comm if gathering is None else comm.duplicate()
        self.wire: str = wire
        self.blocks: bool = bool(wire) or gathering is None  # weights are summed first; ranks synchronize at each start
        self.pass_runs: Callable[[], bool] = lambda: False      # whether the pass of the pending sums has not failed
        self._sent: list[Unit] = []
        self._scale = 1.0
        if gathering is not None:
            gathering.left_sums, gathering.settle = self.left_sums, self.settle

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

    def start(self, unit: Unit, weight: float, index: int, last: bool) -> None:
        """Send a unit. In stages 1 and 2 wait for an earlier one: no other rank is in a collective of the pass then, see
        `blocks`. In stage 3 few are pending, because ranks gather the units of backward together."""
        unit.send(weight, self.keep, self._start)
        self._sent.append(unit)
        for sent in self._sent[:-IN_FLIGHT]:
            if self.gathering is None or (sent.handle is not None and sent.handle.done()):
                sent.arrive()

    def _start(self, x: Any, sizes: Sequence[int]) -> Handle:
        """Start the sum of one vector of each rank, of which this one gets its part."""
        if self.wire in CODECS:
            return start_reduce_scatter_encoded(self._start_alltoall, self.comm, x, sizes, CODECS[self.wire]())
        sent = converted(x, self.wire) if self.wire else x
        if self.gathering is None:
            handle = self.comm.start_reduce_scatter([sent], sizes).then(lambda done: done.value()[0])
        else:                                        # in rank order, with every MPI library
            handle = self._start_alltoall(sent, sizes).then(
                lambda done: combined(list(done.value().reshape(len(sizes), -1)), "sum"))
        return handle.then(lambda done: converted(done.value(), x.dtype, copy=False)) if self.wire else handle

    def _start_alltoall(self, x: Any, sizes: Sequence[int]) -> Handle:
        """Send sizes[rank] elements to each rank; in stage 3 without comparing calls."""
        if self.gathering is not None:
            return self.sums.start_known("alltoall", x, sizes)
        return self.comm.start_alltoall([x], [list(sizes)]).then(lambda done: done.value()[0])

    def handles(self) -> Iterable[Handle]:
        """Sums of which this rank gets its part."""
        return [unit.handle for unit in self._sent if unit.handle is not None]

    def collect(self, units: Sequence[Unit]) -> bool:
        """Wait for all, and sum weights and flags. The results must still be divided by the sum of weights."""
        if self.gathering is not None:
            self.gathering.agree(COUNT)              # other ranks may gather units until then
            self.gathering.counted = current_pass()
        for unit in units:
            unit.arrive()
        self._sent = []
        counts = np.concatenate([np.array([u.weight for u in units]), *[u.used for u in units], units[-1].room])
        if self.gathering is None:
            sums = self.comm.allreduce([counts])[0]
        else:
            all_ranks = self.comm.start_known("allgather", counts, [len(counts)] * self.comm.size)
            sums = combined(list(all_ranks.wait().reshape(self.comm.size, -1)), "sum")
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
        if self.gathering is not None:
            self.gathering.start_over()
            self.gathering.agree(START_OVER)         # calls settle()
            return
        self.settle(True)

    def left_sums(self) -> int:
        """The number of sums that a failed pass of stage 3 has started, and no pass has collected."""
        return 0 if self.pass_runs() else len(self._sent)

    def settle(self, same: bool) -> None:
        """Drop these sums. If ranks have started different ones, they can't complete: use another communicator."""
        sent, self._sent = self._sent, []
        for unit in sent:
            if same:
                unit.arrive()
            unit.handle = unit.local_sum = None
        if not same:
            self.sums = self.comm.duplicate()
