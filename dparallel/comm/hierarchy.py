"""Hierarchical: sums in two levels, within each host and between hosts. Faster with few hosts and a slow network.

Reduce within the host, allreduce among the hosts' first ranks, broadcast within the host: each number crosses the network
once per host instead of once per rank. On one host it is never faster; choose_allreduce() measures which is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from autograd.kernels.halves import converted, copy_into

from .base import Array, Communicator, Handle, vectors_of
from .header import Call
from .job import communicator
from .reference import is_half


class Hierarchical(Communicator):
    """A communicator of the ranks of `comm`, one per process, whose allreduce and in-place sums go through `node`.
    Collective.

    All other collectives are comm's. Results are bitwise the same on every rank, but may differ in rounding from comm's own
    sum. start_allreduce and start_sum_in_place start the first step only, so all ranks must wait for handles in the same
    order.
    """

    sum_start_blocks = True

    def __init__(self, comm: Communicator | None = None, node: Communicator | None = None) -> None:
        comm = communicator(comm)
        if len(comm.held) > 1:
            raise ValueError("Hierarchical requires one rank per process; local devices share memory already")
        self.comm: Communicator = comm
        self.size: int = comm.size
        self.held: tuple[int, ...] = comm.held
        self.kind: str = comm.kind
        self.max_tag: int = comm.max_tag
        self._node_comm: Communicator = comm.split_node() if node is None else communicator(node)
        self._leader_comm: Communicator | None = comm.split(0 if self._node_comm.rank == 0 else None)
        self._owned = [c for c in (self._leader_comm, self._node_comm if node is None else None) if c is not None]

    def _issue(self, calls: list[Call], xs: list[Array], blocking: bool) -> Handle:
        if calls[0].name != "allreduce":
            return self.comm._issue(calls, xs, blocking)
        self.comm._exchange(calls)                   # raises errors on all ranks
        op, x = calls[0].op, xs[0]
        mean, wide = op == "mean", converted(x, np.float32) if is_half(x.dtype) else x
        op = "sum" if mean else op
        reduced = self._node_comm.start_reduce([wide], 0, op)

        def finish() -> list[Array]:
            total = reduced.wait()
            if self._leader_comm is not None:
                total = self._leader_comm.allreduce([total], op)[0]
            out = self._node_comm.broadcast(total)[0]
            out = np.divide(out, self.size, out=out) if mean else out
            return [converted(out, x.dtype, copy=False)]

        handle = Handle(finish, reduced.done)
        if blocking:
            handle.wait()
        return handle

    def shared_memory(self, nbytes: int) -> list[memoryview] | None:
        """comm's shared memory."""
        return self.comm.shared_memory(nbytes)

    def start_known(self, name: str, x: Array, sizes: Sequence[int]) -> Handle[Array]:
        """Start comm's collective."""
        return self.comm.start_known(name, x, sizes)

    def start_sum_in_place(self, arrays: Sequence[Array]) -> Handle:
        """Sum the vectors in two levels."""
        array = vectors_of(arrays)[0]
        reduced = self._node_comm.start_reduce([converted(array, np.float32) if is_half(array.dtype) else array])

        def finish() -> None:
            total = reduced.wait()
            if self._leader_comm is not None:
                self._leader_comm.sum_in_place([total])
            copy_into(array, self._node_comm.broadcast(total)[0])

        return Handle(finish, reduced.done)

    def _exchange(self, calls: list[Call]) -> list[Call]:
        return self.comm._exchange(calls)

    def _values(self, calls: list[Call]) -> list[float]:
        return self.comm._values(calls)

    def _send_message(self, local_rank: int, peer: int, tag: int, call: Call, x: Array) -> Handle:
        return self.comm._send_message(local_rank, peer, tag, call, x)

    def _receive_message(self, local_rank: int, peer: int, tag: int, what: str) -> Handle:
        return self.comm._receive_message(local_rank, peer, tag, what)

    def _probe(self, local_rank: int, peer: int, tag: int) -> bool:
        return self.comm._probe(local_rank, peer, tag)

    def _poll_until(self, poll: Callable[[], bool], what: str) -> None:
        self.comm._poll_until(poll, what)

    def _groups(self, groups: list[list[int]], group_numbers: list[int | None]) -> list[Any]:
        return self.comm._groups(groups, group_numbers)

    def duplicate(self) -> Hierarchical:
        """A Hierarchical over duplicates of the communicator and of its host's group."""
        copy = Hierarchical(self.comm.duplicate(), self._node_comm.duplicate())
        copy._owned += [copy._node_comm, copy.comm]
        return copy

    def free(self) -> None:
        """Free the groups created here; `comm` and `node` belong to the caller."""
        self.free_groups()
        while self._owned:
            self._owned.pop(0).free()

    def abort(self, message: str) -> None:
        """End all ranks by the underlying communicator's abort()."""
        self.comm.abort(message)


def choose_allreduce(comm: Communicator | None = None, elements: int = 250_000, dtype: DTypeLike = np.float32, *,
                     node: Communicator | None = None, repeats: int = 5) -> Communicator:
    """Return comm, or Hierarchical(comm, node) if its sum is at least 10 percent faster here. Collective.

    Both are timed; the slowest rank's median counts, and all ranks make the same choice.
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


def _median_of_slowest(comm: Communicator, elements: int, dtype: DTypeLike, repeats: int) -> float:
    """The median over repeats of the slowest rank's time for an in-place sum."""
    array, times = np.zeros(elements, dtype), []
    for _ in range(repeats + 1):
        comm.barrier()
        start = time.perf_counter()
        comm.sum_in_place([array])
        times.append(time.perf_counter() - start)
    slowest = comm.allreduce([np.array(times[1:])], "max")[0]            # the first is a warm-up
    return float(np.median(slowest))
