"""Parameters of several DataParallels, as a trunk under two heads: each pass counts their gradients for one of them."""

from __future__ import annotations

from typing import Any

from autograd import Tensor
from autograd.core.engine import running
from autograd.core.grad_buffers import counter_of

from .accumulation import Accumulation
from .backward_signal import PassListener, calls_in
from .buckets import GradientBucket
from .pass_state import PassState

MSG_WEIGHTS = ("one backward pass comes from two DataParallels that share {name}, and this rank's losses do not count the "
               "same in both ({one:g} and {other:g}), so what the sum counts is unknown; call backward() for each of them, "
               "or wrap both in one module")
MSG_WAITING = ("gradients of {name} wait to be summed with those of another DataParallel, which shares it and whose "
               "no_sync() they come from; sum them first, by a backward() of that one outside of no_sync()")


class SharedParameters:
    """What one reducer shares with others. In a pass that comes from several of them the one created last sums.

    Such reducers meet through this class only: each sees of another its pass, its weights and what it has set aside.
    """

    def __init__(self, listener: PassListener, state: PassState, accumulation: Accumulation, counted_elsewhere: set[Tensor],
                 alone: bool) -> None:
        self.listener, self.state, self.accumulation, self.weights = listener, state, accumulation, accumulation.weights
        self.alone, self.order = alone, 0
        self.bucket_of: dict[Tensor, GradientBucket] = {}
        self.counted_elsewhere = counted_elsewhere   # in the running pass, by a reducer created later
        self.prepared: set[Tensor] = set()           # whose earlier gradients another reducer has prepared in that pass
        self._params: dict[Tensor, None] = {}

    def count(self, bucket: GradientBucket, p: Tensor) -> None:
        """Let the bucket count p's gradients; remember that another reducer's bucket did before."""
        before = bucket.count_for(p)
        self.bucket_of[p] = bucket
        if isinstance(before, GradientBucket) and before.listener.shared is not self:
            other = before.listener.shared
            self.order = max(self.order, other.order + 1)
            self._params[p] = other._params[p] = None

    def claim(self, walk: Any) -> None:
        """A pass begins: what is shared is counted by this reducer, unless one created later takes part too."""
        if not self._params:
            return
        self.counted_elsewhere.clear()
        self.prepared.clear()
        others: dict[SharedParameters, tuple[bool, str]] = {}    # whether they take part, and the first parameter
        for p in self._params:
            bucket: Any = self.bucket_of[p]
            counter: Any = counter_of(p)
            other = counter.listener.shared
            if other is not self:
                if other not in others:
                    others[other] = other._takes_part(walk), bucket.names[bucket.number_of[p]]
                takes_part = others[other][0]
                if takes_part and other.order > self.order:
                    self.counted_elsewhere.add(p)
                    continue
                if takes_part:
                    other.counted_elsewhere.add(p)
                    if other.state.walk is walk:
                        self.prepared.add(p)
                    self.accumulation.take(other.accumulation, p)
            bucket.count_for(p)
        for other, (takes_part, name) in others.items():
            if takes_part:
                self._compare_weights(other, walk, name)
            self._compare_passes(other, takes_part, name)

    def _takes_part(self, walk: Any) -> bool:
        """Whether a pass comes from this reducer's module."""
        return self.state.walk is walk or bool(calls_in(walk.marked(), self.listener))

    def _compare_weights(self, other: SharedParameters, walk: Any, name: str) -> None:
        """A mistake if the two reducers would weight a gradient differently."""
        one, two = (shared.weights.of(calls_in(walk.marked(), shared.listener))[0] for shared in (self, other))
        if one != two:
            self._report(MSG_WEIGHTS.format(name=name, one=two, other=one))

    def _compare_passes(self, other: SharedParameters, takes_part: bool, name: str) -> None:
        """A mistake if gradients wait, from passes inside no_sync(), that the reducer which sums now would not count."""
        if other.state.walk is not running.passes[-1]:
            other.accumulation.forget_cleared()      # while it can be seen: this pass may bring gradients
        one, two = (shared._waiting() for shared in (self, other))
        if takes_part:
            if other.order > self.order:
                one, two = two, one
            if not two or one == two:                # all that waits, the later one counts
                return
        if two:
            self._report(MSG_WAITING.format(name=name))

    def _waiting(self) -> list[float]:
        """The weights of passes whose gradients wait for their sum."""
        passes = self.weights.passes
        return [] if not passes or self.accumulation.cleared() else passes

    def _report(self, text: str) -> None:
        """Have the mistake raised on all ranks."""
        if not self.alone:
            self.weights.problem = self.weights.problem or text
