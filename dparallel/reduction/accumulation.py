"""Accumulation of gradients over backward passes inside no_sync(), and over summed passes without zero_grad().

.grad may hold gradients when a pass begins. Those of passes inside no_sync() still wait for their sum and are scaled to the
new pass's weight. Those of summed passes must not be summed again; they are stashed until the new sum is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from autograd.core.grad_buffers import set_grad
from autograd.kernels.halves import scale

from ..autograd import Tensor, as_tensor
from .unused import UnusedParameters
from .weights import ForwardCall, Weights

Array = np.ndarray[Any, Any]


class Accumulation:
    """The gradients that earlier passes have left in the .grad of one reducer's parameters.

    counted_elsewhere: parameters that another reducer counts in this pass, see SharedParameters. stashes_gradients: False
    for a sharded model, whose summed gradients are in the shards and not in .grad.
    """

    def __init__(self, named: list[tuple[str, Tensor]], weights: Weights, unused: UnusedParameters,
                 counted_elsewhere: Collection[Tensor], stashes_gradients: bool = True) -> None:
        self.named: list[tuple[str, Tensor]] = named
        self.weights: Weights = weights
        self.unused: UnusedParameters = unused
        self.counted_elsewhere: Collection[Tensor] = counted_elsewhere
        self.stashes_gradients: bool = stashes_gradients
        self.stashed: list[tuple[Tensor, Array]] = []    # gradients of summed passes, added to the new sums
        self.before_pass: list[tuple[Tensor, Array]] = []     # gradients before a pass of weight 0, which restores them
        self._zero_versions: dict[int, int] = {}             # waiting gradients that are all 0: versions by id

    def _gradients(self) -> list[tuple[Tensor, Array]]:
        """The parameters that have a gradient and that this reducer counts, with the gradient's array."""
        return [(p, p.grad.array) for _, p in self.named if p.grad is not None and p not in self.counted_elsewhere]

    def begin_pass(self, arrived: Tensor | None, prepared: Collection[Tensor], calls: Callable[[], set[ForwardCall]],
                summed: bool) -> bool:
        """Stash or scale the gradients of earlier passes. Returns whether this rank's weight in the pass is 0.

        arrived: the parameter whose gradient of this pass has already been added; prepared: those that another reducer has
        prepared. calls(): the module's calls from which the pass comes. summed: whether the pass is summed over ranks.
        """
        weights = self.weights
        gradients = [(p, g) for p, g in self._gradients() if p is not arrived and p not in prepared]
        self.clear_if_user_cleared()
        if not weights.passes:                       # .grad has gradients of summed passes only
            if self.stashes_gradients and (not summed or weights.average == "sum"):
                self.stashed += [(p, g.copy()) for p, g in gradients]
                for p, _ in gradients:
                    set_grad(p, None)
            return False
        weight, given_by_user = weights.weight_of(calls())
        if weight == 0.0 and (given_by_user or weights.average != "sum"):
            self.before_pass += [(p, g.copy()) for p, g in gradients]
            return True
        if weights.average != "sum" and weight != weights.scale:
            for _, g in gradients:
                if weights.scale:
                    scale(g, weights.scale / weight)
                else:
                    g[...] = 0                       # also where it is nan
            weights.scale = weight
        return False

    def add_stashed(self) -> None:
        """Add the stashed gradients to the new sums."""
        for p, before in self.stashed:
            if p.grad is None:
                set_grad(p, as_tensor(before))
            else:
                p.grad.array[...] += before
        self.stashed = []

    def restore(self, params: Iterable[Tensor]) -> None:
        """Restore the gradients of these parameters after a pass of weight 0."""
        before = {id(p): array for p, array in self.before_pass}
        for p in params:
            if p.grad is not None:
                p.grad.array[...] = before.get(id(p), 0)

    def take_over(self, other: Accumulation, p: Tensor) -> None:
        """Take over what another reducer has stashed of p."""
        for ours, theirs in ((self.stashed, other.stashed), (self.before_pass, other.before_pass)):
            ours.extend(entry for entry in theirs if entry[0] is p)
            theirs[:] = [entry for entry in theirs if entry[0] is not p]

    # --- gradients that wait for their sum, until the user clears them -----------------------------------------------------

    def end_of_pass(self) -> None:
        """A pass inside no_sync() has ended, and its gradients wait for their sum. Record their versions if all are 0."""
        self.weights.end_of_pass()
        self.unused.watch_steps(self.named)
        waiting = [p.grad for _, p in self.named if p.grad is not None]
        self._zero_versions = {} if any(g.array.any() for g in waiting) else {id(g): g._version for g in waiting}

    def user_cleared(self) -> bool:
        """Whether the user has cleared the waiting gradients: all are None, or have been set to 0 since end_of_pass()."""
        waiting: list[Any] = [p.grad for p, _ in self._gradients()]
        return not any(g.array.any() for g in waiting) and (
            not waiting or any(self._zero_versions.get(id(g)) != g._version for g in waiting))

    def clear_if_user_cleared(self) -> None:
        """Discard the waiting passes if the user has cleared their gradients."""
        if self.weights.passes and self.user_cleared():
            self.clear_waiting_passes()
            self.stashed = []

    def clear_waiting_passes(self) -> None:
        """Discard the waiting passes: their gradients are summed, or cleared."""
        if self.weights.passes:
            self.weights.forget()
        self.unused.forget_steps()

    def forget(self) -> None:
        """Discard all gradients, waiting and stashed."""
        self.stashed, self.before_pass = [], []
        self.clear_waiting_passes()
