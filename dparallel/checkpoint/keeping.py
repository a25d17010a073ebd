"""Which checkpoints are kept: the newest, every n-th step, the best by a metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple


class Kept(NamedTuple):
    """A complete checkpoint in a folder: its number (the order of saving), its step, its metric and its folder's name."""

    number: int
    step: int
    metric: float | None
    name: str


class Keep:
    """Which complete checkpoints are not deleted."""

    def __init__(self, newest: int = 2, every: int | None = None, best: int = 0, mode: str = "min") -> None:
        for name, value, least in (("newest", newest, 1), ("best", best, 0), ("every", 1 if every is None else every, 1)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"Keep: {name}={value!r} must be a whole number of at least {least}")
        if mode not in ("min", "max"):
            raise ValueError(f"Keep: mode={mode!r} must be 'min' or 'max'")
        self.newest: int = newest
        self.every: int | None = every
        self.best: int = best
        self.mode = mode

    def superfluous(self, there: Sequence[Kept]) -> list[Kept]:
        """The complete checkpoints to be deleted, the newest first."""
        by_number = sorted(there, reverse=True)
        stay = set(by_number[:self.newest])
        if self.every is not None:
            stay |= {one for one in there if one.step % self.every == 0}
        measured = [one for one in by_number if one.metric is not None and not math.isnan(one.metric)]
        measured.sort(key=lambda one: one.metric if self.mode == "min" else -one.metric)     # type: ignore[arg-type, return-value, operator]
        return [one for one in by_number if one not in stay | set(measured[:self.best])]


def keep_of(keep: Any) -> Keep | None:
    """The rule of a keep= argument: a number of newest ones, a Keep, or None for all."""
    if keep is None or isinstance(keep, Keep):
        return keep
    if isinstance(keep, int) and not isinstance(keep, bool):
        return Keep(keep)
    raise TypeError(f"keep={keep!r} must be a number of newest checkpoints, a Keep, or None for all")
