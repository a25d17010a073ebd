"""Hierarchical: sums over all places by way of each host's first place. Pays where hosts are few and the network slow.

Reduce within the host, allreduce among the hosts' first places, broadcast within the host: each number crosses the
network once per host instead of once per place. On one host it can't win; choose_allreduce() measures which is faster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd.kernels.halves import converted, copy_into

from .base import Array, Communicator, Handle
from .header import Call
from .job import communicator
from .reference import is_half


class Hierarchical(Communicator):
    """The places of `comm`, one for each process, with allreduce and sums in place that go through `node`.

    node: a communicator of the places that are near each other; default comm.node(), those of one host. All other
    collectives are comm's. Results are bitwise the same on every place (not the same bits as comm's own sum: the order
    differs). start_allreduce and start_sum_in_place start the first step; wait() does the rest, so all places wait for
    their handles in the same order. Collective; ValueError where a process holds several places.

    >>> model = DataParallel(net, comm=Hierarchical(world()))
    """

    sums_meet = True

    def __init__(self, comm: Any = None, node: Any = None) -> None:
        comm = communicator(comm)
        if len(comm.held) > 1:
            raise ValueError("Hierarchical is for one place per process; local devices share their memory already")
        self.comm, self.size, self.held, self.kind = comm, comm.size, comm.held, comm.kind
        self.max_tag = comm.max_tag
        self._near: Communicator = comm.split_node() if node is None else communicator(node)
        self._far: Communicator | None = comm.split(0 if self._near.rank == 0 else None)
        self._made = [c for c in (self._far, self._near if node is None else None) if c is not None]

    def _start(self, calls: list[Call], xs: list[Array], now: bool) -> Handle:
        if calls[0].name != "allreduce":
            return self.comm._start(calls, xs, now)
        self.comm._exchange(calls)                   # mistakes are told on all places, before any goes its way
        op, x = calls[0].op, xs[0]
        mean, wide = op == "mean", converted(x, np.float32) if is_half(x.dtype) else x
        op = "sum" if mean else op
        first = self._near.start_reduce([wide], 0, op)

        def finish() -> list[Array]:
            total = first.wait()
            if self._far is not None:
                total = self._far.allreduce([total], op)[0]
            out = self._near.broadcast(total)[0]
            out = np.divide(out, self.size, out=out) if mean else out
            return [converted(out, x.dtype, copy=False)]

        handle = Handle(finish, first.done)
        if now:
            handle.wait()
        return handle

    def start_sum_in_place(self, arrays: Sequence[Array]) -> Handle:
        """The sum by way of the hosts' first places."""
        array = arrays[0]
        first = self._near.start_reduce([converted(array, np.float32) if is_half(array.dtype) else array])

        def finish() -> None:
            total = first.wait()
            if self._far is not None:
                self._far.sum_in_place([total])
            copy_into(array, self._near.broadcast(total)[0])

        return Handle(finish, first.done)

    def _exchange(self, calls: list[Call]) -> list[Call]:
        return self.comm._exchange(calls)

    def _values(self, calls: list[Call]) -> list[float]:
        return self.comm._values(calls)

    def _deliver(self, here: int, there: int, tag: int, call: Call, x: Array) -> Handle:
        return self.comm._deliver(here, there, tag, call, x)

    def _collect(self, here: int, there: int, tag: int, what: str) -> Handle:
        return self.comm._collect(here, there, tag, what)

    def _arrived(self, here: int, there: int, tag: int) -> bool:
        return self.comm._arrived(here, there, tag)

    def _look_until(self, look: Callable[[], bool], what: str) -> None:
        self.comm._look_until(look, what)

    def _groups(self, groups: list[list[int]], mine: list[int | None]) -> list[Any]:
        return self.comm._groups(groups, mine)

    def duplicate(self) -> Hierarchical:
        """A duplicate of all three."""
        made = Hierarchical(self.comm.duplicate(), self._near.duplicate())
        made._made += [made._near, made.comm]
        return made

    def free(self) -> None:
        """Free the groups made here; `comm` and `node` are the caller's."""
        self.free_groups()
        while self._made:
            self._made.pop(0).free()

    def abort(self, message: str) -> None:
        """End all ranks by the underlying communicator's abort()."""
        self.comm.abort(message)


def choose_allreduce(comm: Any = None, elements: int = 250_000, dtype: Any = np.float32, *,
                     node: Any = None, repeats: int = 5) -> Communicator:
    """comm, or Hierarchical(comm, node) if its sum of `elements` numbers was faster here, by 10 percent at least.

    Each is timed `repeats` times, the slowest place's median counts, and all places make the same choice. Collective.
    """
    comm = communicator(comm)
    if len(comm.held) > 1 or comm.size == 1:
        return comm
    other = Hierarchical(comm, node)
    medians = [_median_of_slowest(each, elements, dtype, repeats) for each in (comm, other)]
    if medians[1] < 0.9 * medians[0]:
        return other
    other.free()
    return comm


def _median_of_slowest(comm: Communicator, elements: int, dtype: Any, repeats: int) -> float:
    array, times = np.zeros(elements, dtype), []
    for _ in range(repeats + 1):
        comm.barrier()
        start = time.perf_counter()
        comm.sum_in_place([array])
        times.append(time.perf_counter() - start)
    slowest = comm.allreduce([np.array(times[1:])], "max")[0]            # the first one warms up
    return float(np.median(slowest))
