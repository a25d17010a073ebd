"""The weight of a rank's gradients in the mean over ranks, also for several passes that accumulate before they are summed.

A rank's weight w_r is its number of rows (or 1, or a weight that the user passes). After one pass on each rank the result is
the sum of w_r g_r over the sum of w_r. After M passes, M - 1 of them in no_sync(), whose gradients g_m accumulate in .grad,
it is M times the weighted mean of all, as in one process with all rows and M losses that are means. With weights of the user
it is the weighted mean itself: the sum over ranks and passes of w g, over the sum of all w.

.grad accumulates (w_m / scale) g_m, where scale is the last pass's weight: as long as weights stay the same, as they mostly
do, nothing is multiplied before the end.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

from ..autograd import Tensor

SKIPPED = math.inf                   # sent instead of a weight: this rank could not finish its step
REFUSED = math.nan                   # the same for an error on this rank, which all ranks raise

PROBLEM = attrgetter("problem")
MSG_NO_ROWS = ("backward() reached parameters of a DataParallel module, but none of its outputs, so the number of rows of "
               "this loss is unknown; compute the loss from the module's outputs, or pass its weight: "
               "`with model.weighted(rows): loss.backward()`, or average='ranks'")


class ForwardCall:
    """One call of the module. BackwardSignals of its outputs carry it, so that it counts only in backward passes from them.

    rows: the number of rows, or (if given) the weight of the user. evaluated: whether the module, or a layer of it, was in
    evaluation mode and skipped collectives of training. fast: tensors that are computed from parameters and replaced them,
    by functional_call(); inner: the calls that those come from, which do not count beside this one. problem: an error in
    this call, which backward passes from it raise on all ranks.
    """

    __slots__ = ("evaluated", "fast", "given", "inner", "problem", "rows")

    def __init__(self, rows: float, given: bool = False, problem: str = "") -> None:
        self.rows: float = rows
        self.given: bool = given
        self.evaluated: bool = False
        self.fast: Sequence[Tensor] = ()
        self.inner: frozenset[ForwardCall] = frozenset()
        self.problem: str = problem


class Weights:
    """The weights of the running pass, and of earlier passes whose gradients wait for their sum."""

    def __init__(self, average: str, alone: bool = False) -> None:
        self.average: str = average
        self.alone: bool = alone
        self.override: ForwardCall | None = None       # of the weighted() block that runs
        self.calls: set[ForwardCall] = set()         # of the running pass
        self.passes: list[float] = []                # the weights of the waiting passes
        self.given: bool = False                     # whether the user gave one of those
        self.scale: float = 1.0
        self.problem: str = ""                       # a mistake in the running pass, to be raised on all ranks
        self.waiting_problem: str = ""               # one in a waiting pass

    def begin_pass(self, call: ForwardCall | None) -> None:
        """A pass from this call begins: discard the calls and the errors of one that ended in an exception."""
        self.calls.clear()
        if call is not None:
            self.calls.add(call)
        self.problem = self.waiting_problem

    def _note_problem(self, calls: Collection[ForwardCall]) -> str:
        """The error of a pass that comes from these calls."""
        if not self.problem:
            known = calls if self.override is None else [self.override, *calls]
            self.problem = next((call.problem for call in known if call.problem), "")
        return self.problem

    def weight_of(self, calls: Collection[ForwardCall]) -> tuple[float, bool]:
        """The weight of one pass that comes from these calls, and whether the user passed it."""
        if self.override is not None:
            return self.override.rows, True
        if len(calls) == 1:                          # the usual case
            (call,) = calls
            return (call.rows, call.given) if call.given or self.average == "rows" else (1.0, False)
        calls = set(calls).difference(*[call.inner for call in calls])
        if any(call.given for call in calls):
            return sum(call.rows for call in calls), True
        if self.average != "rows" or (self.alone and not calls):
            return 1.0, False
        if not calls:
            self.problem = self.problem or MSG_NO_ROWS
            return REFUSED, False
        return sum(call.rows for call in calls), False

    @contextmanager
    def overridden(self, weight: Any) -> Iterator[None]:
        """A block in which `weight` is the weight, see DataParallel.weighted(). An invalid one is a problem for backward."""
        value, problem = checked_weight(weight)
        before, self.override = self.override, ForwardCall(value, True, problem)
        try:
            yield
        finally:
            self.override = before

    def end_of_pass(self) -> None:
        """A pass inside no_sync() has ended: keep its weight."""
        weight, given = self.weight_of(self.calls)
        if not self.passes or weight:
            self.scale = weight
        self.passes.append(weight)
        self.given = self.given or given
        self.waiting_problem = self._note_problem(self.calls)
        self.calls.clear()

    def forget(self) -> None:
        """Discard the waiting passes."""
        self.passes.clear()
        self.given = False
        self.waiting_problem = ""

    def factor_and_weight(self, calls: Collection[ForwardCall] | None = None, waiting: bool = True) -> tuple[float, float]:
        """The factor by which gradients are multiplied before the sum, and the weight that is sent with them, for a pass
        from these calls (None: the running one), with the waiting passes or without them. The result is the sum of gradients
        over the sum of weights, or the sum of gradients if the weights sum to 0.
        """
        calls, passes = self.calls if calls is None else calls, self.passes if waiting else []
        weight, given = self.weight_of(calls)
        scale, total = weight, weight
        if passes:
            given = given or self.given
            scale = weight or self.scale
            total = sum(passes) + weight
            if not given:
                total /= len(passes) + 1
        if self.problem or self.override is not None or any(map(PROBLEM, calls)):
            self._note_problem(calls)
        if self.problem or not math.isfinite(total):
            return 0.0, REFUSED if self.problem else total
        if self.average == "sum":
            return (1.0, 0.0) if not given else (float(total > 0.0), total)
        return (scale if total else 0.0), total


def checked_weight(weight: Any) -> tuple[float, str]:
    """The weight of weighted() as a number, and a text that says what is wrong with it ("" if nothing is)."""
    try:
        value = float(weight)
    except Exception as error:                       # converting runs the object's own code; all ranks must raise
        return 0.0, f"weighted({weight!r}): a weight must be a number: {error}"
    return (value, "") if 0.0 <= value < math.inf else (0.0, f"weighted({weight!r}): a weight must be finite and at least 0")
