"""Buckets: which parameters' gradients share a flat buffer, in which order. The same on every rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .vectors import grouped, views

FIRST_BUCKET_BYTES = 1 << 20       # small, so that the first message leaves early (PyTorch's figure)


class Bucket:
    """Some parameters' gradients end to end, followed by one flag a parameter (used or not) and the rank's weight.

    The flags and the weight travel with the gradients, so that their sums need no message of their own.
    """

    def __init__(self, names: Sequence[str], params: Sequence[Any]) -> None:
        self.names, self.params = list(names), list(params)
        count = sum(p.array.size for p in params)
        self.buffer = np.zeros(count + len(self.params) + 1, self.params[0].array.dtype)
        self.gradients = self.buffer[:count]
        self.used = self.buffer[count:-1]
        self.nbytes = self.buffer.nbytes
        self.views = views(self.gradients, [p.array.shape for p in self.params])
        self.waiting = len(self.params)
        self.handle: Any = None

    @property
    def weight(self) -> float:
        """The last element: this rank's weight, after the sum that of all ranks."""
        return float(self.buffer[-1])

    def empty(self) -> None:
        """Zeros for all, and none used: what a rank without gradients sends."""
        self.buffer[...] = 0
        self.waiting = 0


def assign(named: Sequence[tuple[str, Any]], cap_bytes: float) -> list[Bucket]:
    """Buckets of at most cap_bytes, in reverse order of registration: about the order in which gradients come."""
    groups = grouped(reversed(named), lambda item: item[1].array.dtype, lambda item: item[1].array.nbytes, cap_bytes,
                     FIRST_BUCKET_BYTES)
    return [Bucket([name for name, _ in group], [p for _, p in group]) for group in groups]


def assign_all(named: Sequence[tuple[str, Any]], cap_bytes: float, delayed: frozenset[str]) -> list[Bucket]:
    """assign(), with the delayed parameters in buckets of their own at the end."""
    first = [item for item in named if item[0] not in delayed]
    last = [item for item in named if item[0] in delayed]
    return assign(first, cap_bytes) + assign(last, cap_bytes)
