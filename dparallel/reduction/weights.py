"""What a rank's gradients count in the mean over ranks, also when several backward passes add up before they are summed.

Ranks count by rows (or alike, or by a weight that the user gives). One pass on each rank: sum of w_r g_r over sum of w_r.
M passes that add up, as with no_sync(): their gradients g_m add up in .grad as everywhere, so the result is M times the
weighted mean of all, which is what one process with all rows has after M passes over losses that are means. With given
weights it is the weighted mean itself: sum over ranks and passes of w g, over the sum of all w.

The buckets hold sum of (w_m / scale) g_m, where scale is the last pass's weight: while weights stay the same, as they mostly
do, nothing is multiplied before the end.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

SKIPPED = math.inf                   # sent in the place of a weight: this rank could not finish its step
REFUSED = math.nan                   # likewise: this rank found a mistake, which is raised on all ranks

MSG_NO_ROWS = ("backward() reached parameters of a DataParallel module, but none of its outputs, so the rows that this loss "
               "stands for are unknown; make the loss of the module's outputs, or say what it counts: "
               "`with model.weighted(rows): loss.backward()`, or average='ranks'")


class ForwardCall:
    """One call of the module: how many rows it worked on, or the weight that the user gave. Its outputs carry it, so that
    it counts when, and only when, a backward pass comes from one of them. evaluated: in evaluation mode the module, or a
    layer of it, left out collectives that it makes while training."""

    __slots__ = ("evaluated", "given", "rows")

    def __init__(self, rows: float, given: bool = False) -> None:
        self.rows, self.given, self.evaluated = rows, given, False


class Weights:
    """The weights of the pass that is running and of those before it that were not summed yet."""

    def __init__(self, average: str, alone: bool = False) -> None:
        self.average, self.alone = average, alone
        self.inside: ForwardCall | None = None       # of weighted(), while inside
        self.calls: set[ForwardCall] = set()         # of the pass that is running
        self.passes: list[float] = []                # those before it
        self.given = False                           # whether one of those was given by the user
        self.scale = 1.0
        self.problem = ""                            # a mistake, to be raised on all ranks

    def of(self, calls: Collection[ForwardCall]) -> tuple[float, bool]:
        """The weight of one pass that comes from these calls, and whether the user gave it."""
        if self.inside is not None:
            return self.inside.rows, True
        if len(calls) == 1:                          # as it mostly is
            (call,) = calls
            return (call.rows, call.given) if call.given or self.average == "rows" else (1.0, False)
        if any(call.given for call in calls):
            return sum(call.rows for call in calls), True
        if self.average != "rows" or (self.alone and not calls):
            return 1.0, False
        if not calls:
            self.problem = self.problem or MSG_NO_ROWS
            return REFUSED, False
        return sum(call.rows for call in calls), False

    def end_of_pass(self) -> None:
        """A pass that is not summed has ended."""
        weight, given = self.of(self.calls)
        if not self.passes or weight:
            self.scale = weight
        self.passes.append(weight)
        self.given = self.given or given
        self.calls.clear()

    def forget(self) -> None:
        """No gradients wait to be summed any more."""
        self.passes.clear()
        self.given = False

    def final(self) -> tuple[float, float]:
        """What the buckets are multiplied by before they are summed, and the weight that goes along. The sum of buckets
        over the sum of weights is the result; where weights add up to 0, the sum of buckets is."""
        return self._final(self.calls, self.passes)

    def final_of(self, calls: Collection[ForwardCall]) -> tuple[float, float]:
        """The same for a pass that comes from these calls and is averaged alone."""
        return self._final(calls, [])

    def _final(self, calls: Collection[ForwardCall], passes: list[float]) -> tuple[float, float]:
        weight, given = self.of(calls)
        scale, total = weight, weight
        if passes:
            given = given or self.given
            scale = weight or self.scale
            total = sum(passes) + weight
            if not given:
                total /= len(passes) + 1
        if self.problem or not math.isfinite(total):
            return 0.0, REFUSED if self.problem else total
        if self.average == "sum":
            return (1.0, 0.0) if not given else (float(total > 0.0), total)
        return (scale if total else 0.0), total


def checked_weight(weight: Any) -> tuple[float, str]:
    """A given weight as a number, and what is wrong with it."""
    try:
        value = float(weight)
    except Exception as error:                       # converting runs the object's own code; all ranks must raise
        return 0.0, f"weighted({weight!r}): a weight is a number: {error}"
    return (value, "") if 0.0 <= value < math.inf else (0.0, f"weighted({weight!r}): a weight is a finite number, 0 or more")
