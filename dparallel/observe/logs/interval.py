"""Interval: what one rank has logged since the last exchange, and the vector in which ranks sum it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...comm import CollectiveError

Array = np.ndarray[Any, Any]
Totals = Mapping[str, Sequence[float]]
KINDS = ("mean", "sum", "last")                      # mean over rows; sum over calls; rank 0's latest value
ROOM = 64                                            # names in one interval; a sum always has room for this many
DIGEST = 6                                           # bytes of a digest: a float64 holds 6 exactly


class Interval:
    """For each name the sum of weight times value, and the sum of weights, in order of first use."""

    def __init__(self) -> None:
        self.totals: dict[str, list[float]] = {}
        self.latest: dict[str, float] = {}           # of the names of kind "last"

    def add(self, name: str, kind: str, value: float, rows: float) -> None:
        """Add a value. A mean over no rows may be NaN: its value is ignored, its name is kept."""
        total = self.totals.get(name)
        if total is None:
            if len(self.totals) == ROOM:
                raise ValueError(f"{name!r} is name number {ROOM + 1} between two lines of the log; {ROOM} are the most")
            total = self.totals[name] = [0.0, 0.0]
        if kind == "sum":
            total[0] += value
            total[1] = 1.0
        elif kind == "last":
            self.latest[name] = value
        elif rows:
            total[0] += value * rows
            total[1] += rows

    def vector(self, rank: int, size: int) -> Array:
        """A digest of the names at this rank's index, and the totals in name order: one length on all ranks."""
        vector = np.zeros(size + 2 * ROOM)
        vector[rank] = digest(self.totals)
        flat = [number for name in sorted(self.totals) for number in self.totals[name]]
        vector[size:size + len(flat)] = flat
        return vector


def digest(names: Mapping[str, Any]) -> float:
    """48 bits that tell sets of names apart; 0 for no names."""
    if not names:
        return 0.0
    text = "\0".join(sorted(names)).encode()
    return float(int.from_bytes(hashlib.blake2b(text, digest_size=DIGEST).digest(), "big") or 1)


def common(digests: Sequence[float], own: Sequence[str]) -> float:
    """The digest sent by all ranks that have values, 0 if there are none. CollectiveError if digests differ."""
    found = {number for number in digests if number}
    if len(found) > 1:
        groups = [[rank for rank, number in enumerate(digests) if number == one] for one in sorted(found)]
        alike = " | ".join(", ".join(map(str, group[:8])) + ", ..." * (len(group) > 8) for group in sorted(groups))
        raise CollectiveError(f"log(): ranks have logged different names between two lines (alike on ranks {alike}); here "
                              f"they are {sorted(own) or 'none'}. A rank logs the names that the others log, or none where "
                              "it has no rows: log(), or rows=0")
    return found.pop() if found else 0.0


def values_of(totals: Totals, kinds: Mapping[str, str], latest: Mapping[str, float]) -> dict[str, float]:
    """Means, sums and latest values from totals over all ranks; NaN for a mean over no rows."""
    values = {}
    for name, (total, weight) in totals.items():
        kind = kinds.get(name, "mean")
        if kind == "last":
            values[name] = latest.get(name, float("nan"))
        else:
            values[name] = total if kind == "sum" else total / weight if weight else float("nan")
    return values
