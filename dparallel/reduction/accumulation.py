"""Accumulation: gradients that several backward passes add up in .grad before they are summed over ranks (no_sync())."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from autograd import Tensor, as_tensor
from autograd.kernels.halves import scale

from .unused import Unused
from .weights import ForwardCall, Weights

Array = np.ndarray[Any, Any]


class Accumulation:
    """What earlier passes have left in .grad, brought into proportion with the pass that begins.

    counted_elsewhere: parameters that another reducer counts in this pass, see SharedParameters. sets_aside: whether
    gradients of summed passes are in .grad; those of a sharded model are in the slices.
    """

    def __init__(self, named: list[tuple[str, Tensor]], weights: Weights, unused: Unused,
                 counted_elsewhere: Collection[Tensor], sets_aside: bool = True) -> None:
        self.named, self.weights, self.unused = named, weights, unused
        self.counted_elsewhere, self.sets_aside = counted_elsewhere, sets_aside
        self.summed: list[tuple[Tensor, Array]] = []     # summed gradients, to which new ones are added after their sum
        self.before: list[tuple[Tensor, Array]] = []     # what a pass that counts nothing must leave as it was
        self._zeros: dict[int, int] = {}             # gradients of 0 that wait to be summed, with their versions

    def _gradients(self) -> list[tuple[Tensor, Array]]:
        """The parameters that have a gradient and are counted here, with its array."""
        return [(p, p._grad.array) for _, p in self.named if p._grad is not None and p not in self.counted_elsewhere]

    def prepare(self, arrived: Tensor | None, prepared: Collection[Tensor], calls: Callable[[], set[ForwardCall]],
                summed: bool) -> bool:
        """A pass begins that comes from calls(); summed: its gradients are summed over ranks. Set aside or scale what .grad
        holds; whether the pass counts nothing. Left alone are `arrived`, a gradient of this pass, and `prepared`."""
        weights = self.weights
        gradients = [(p, g) for p, g in self._gradients() if p is not arrived and p not in prepared]
        self.forget_cleared()
        if not weights.passes:                       # what .grad holds is of summed passes
            if self.sets_aside and (not summed or weights.average == "sum"):
                self.summed += [(p, g.copy()) for p, g in gradients]
                for p, _ in gradients:
                    p._grad = None
            return False
        weight, given = weights.of(calls())
        if weight == 0.0 and (given or weights.average != "sum"):
            self.before += [(p, g.copy()) for p, g in gradients]
            return True
        if weights.average != "sum" and weight != weights.scale:
            for _, g in gradients:
                if weights.scale:
                    scale(g, weights.scale / weight)
                else:
                    g[...] = 0                       # also what is nan
            weights.scale = weight
        return False

    def add_summed(self) -> None:
        """Add what was set aside to the new sums."""
        for p, before in self.summed:
            if p._grad is None:
                p._grad = as_tensor(before)
            else:
                p._grad.array[...] += before
        self.summed = []

    def restore(self, params: Iterable[Tensor]) -> None:
        """After a pass that counts nothing: these gradients as they were before it."""
        before = {id(p): array for p, array in self.before}
        for p in params:
            if p._grad is not None:
                p._grad.array[...] = before.get(id(p), 0)

    def take(self, other: Accumulation, p: Tensor) -> None:
        """What another reducer has set aside of p is this one's to bring back."""
        for ours, theirs in ((self.summed, other.summed), (self.before, other.before)):
            ours.extend(entry for entry in theirs if entry[0] is p)
            theirs[:] = [entry for entry in theirs if entry[0] is not p]

    # --- gradients that wait for their sum, and that the user clears -------------------------------------------------------

    def end_of_pass(self) -> None:
        """A pass inside no_sync() has ended: its gradients wait for their sum. Remember whether they are all 0."""
        self.weights.end_of_pass()
        self.unused.watch_steps(self.named)
        waiting = [p._grad for _, p in self.named if p._grad is not None]
        self._zeros = {} if any(g.array.any() for g in waiting) else {id(g): g._version for g in waiting}

    def cleared(self) -> bool:
        """Whether the user has cleared the gradients that wait to be summed: all are gone, or zeros that they were not."""
        waiting: list[Any] = [p._grad for p, _ in self._gradients()]
        return not any(g.array.any() for g in waiting) and (
            not waiting or any(self._zeros.get(id(g)) != g._version for g in waiting))

    def forget_cleared(self) -> None:
        """Forget passes whose gradients the user has cleared."""
        if self.weights.passes and self.cleared():
            self.forget_passes()
            self.summed = []

    def forget_passes(self) -> None:
        """No gradients wait for their sum any more."""
        if self.weights.passes:
            self.weights.forget()
        self.unused.forget_steps()

    def forget(self) -> None:
        """All gradients are gone."""
        self.summed, self.before = [], []
        self.forget_passes()
