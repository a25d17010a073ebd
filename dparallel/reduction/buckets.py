"""Buckets: which parameters' gradients share a flat buffer, in which order. The same on every rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd.core.graph import Tally

from ..comm import Communicator
from ..nests.vectors import filled, views

FIRST_BUCKET_BYTES = 1 << 20       # small, so that the first message leaves early (PyTorch's figure)
SHARES, LEAST_BYTES, MOST_BYTES = 8, 1 << 19, 25 << 20               # see fitting()


class Counted(Tally):
    """What counts the gradients of `params` in a backward pass for a reducer, which it tells."""

    params: list[Any]
    used: np.ndarray[Any, Any]                       # one flag a parameter; after the sum: on how many ranks it was used
    reducer: Any = None

    def begin(self, walk: Any) -> None:
        """A pass begins; None: none of its gradients is counted here without being looked at."""
        self.walk, self.left = walk, len(self.params)
        self.came.clear()
        self.used[...] = 0

    def meet(self) -> None:
        """A pass may begin with a leaf, as one that only the loss uses: what .grad holds is looked at before it changes."""
        self.reducer.begin()

    def full(self) -> None:
        """All gradients are there."""
        self.reducer.leave()

    def stray(self, leaf: Any) -> None:
        """A gradient that the reducer must look at."""
        self.reducer.arrived(leaf)

    def end(self) -> None:
        """The gradients leave: flag those that were counted."""
        if self.left == 0 and self.came:
            self.used[...] = 1
        elif self.came:
            for p in self.came:
                self.used[self.reducer.places[p].number] = 1
        self.came.clear()
        self.walk = None


class Bucket(Counted):
    """Some parameters' gradients end to end, followed by one flag a parameter (used or not) and the rank's weight.

    The flags and the weight travel with the gradients, so that their sums need no message of their own.
    """

    def __init__(self, names: Sequence[str], params: Sequence[Any], comm: Communicator) -> None:
        super().__init__()
        self.names, self.params = list(names), list(params)
        count = sum(p.array.size for p in params)
        dtype = self.params[0].array.dtype
        count = count * 2 if dtype.kind == "c" else count        # real numbers: flags and weights are compared
        self.elements = count                        # before flags and weight
        self.sum = comm.persistent_sum(count + len(self.params) + 1, dtype.type(0).real.dtype)
        self.buffer = self.sum.array
        self.gradients = self.buffer[:count].view(dtype)
        self.used = self.buffer[count:-1]
        self.nbytes = self.buffer.nbytes
        self.views = views(self.gradients, [p.array.shape for p in self.params])

    @property
    def weight(self) -> float:
        """The last element: this rank's weight, after the sum that of all ranks."""
        return float(self.buffer[-1])

    def empty(self) -> None:
        """Zeros for all, and none used: what a rank without gradients sends."""
        self.begin(None)
        self.buffer[...] = 0
        self.left = 0


def fitting(nbytes: float) -> float:
    """The cap in bytes for gradients of nbytes: an eighth, so that most of them travel while others are computed; not so
    small that starting a sum counts, and PyTorch's 25 MiB for models of 200 MiB and more. See docs/data_parallel.md."""
    return min(max(nbytes / SHARES, LEAST_BYTES), MOST_BYTES)


def assign(named: Sequence[tuple[str, Any]], cap_bytes: float, comm: Communicator) -> list[Bucket]:
    """Buckets that are full as soon as they have cap_bytes, in reverse order of registration: about the order in which
    gradients come. Collective over comm, which sums them."""
    groups = filled(reversed(named), lambda item: item[1].array.dtype, lambda item: item[1].array.nbytes, cap_bytes,
                    FIRST_BUCKET_BYTES)
    if len(groups) > 1 and _comes_with(groups[-1], groups[-2][-1]):
        last = groups.pop()
        groups[-1] += last
    return [Bucket([name for name, _ in group], [p for _, p in group], comm) for group in groups]


def _comes_with(last: list[tuple[str, Any]], before: tuple[str, Any]) -> bool:
    """Whether the last bucket would be the bias of the layer whose weight filled the one before: they come together."""
    name, p = last[0]
    return (len(last) == 1 and name.rpartition(".")[0] == before[0].rpartition(".")[0]
            and p.array.dtype == before[1].array.dtype and 64 * p.array.nbytes < before[1].array.nbytes)


def assign_all(named: Sequence[tuple[str, Any]], cap_bytes: float, delayed: frozenset[str],
               comm: Communicator) -> list[Bucket]:
    """assign(), with the delayed parameters in buckets of their own at the end."""
    first = [item for item in named if item[0] not in delayed]
    last = [item for item in named if item[0] in delayed]
    return assign(first, cap_bytes, comm) + assign(last, cap_bytes, comm)
