"""Parameters that several DataParallels share (a trunk under two heads): in each pass one of their reducers sums them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from autograd.core.engine import BackwardPass, running
from autograd.core.grad_buffers import counter_of, set_counter, set_grad_buffer

from ..autograd import Tensor
from .accumulation import Accumulation
from .backward_signal import PassListener, calls_in
from .buckets import GradientBucket
from .pass_state import PassState

if TYPE_CHECKING:
    from .weights import Weights

MSG_WEIGHTS = ("one backward pass comes from two DataParallels that share {name}, and this rank's losses have different "
               "weights in the two ({one:g} and {other:g}), so the weight of the sum is undefined; call backward() for each "
               "of them, or wrap both in one module")
MSG_WAITING = ("gradients of {name} from no_sync() of another DataParallel that shares it are not summed yet; sum them "
               "first, with a backward() of that DataParallel outside no_sync()")

MSG_SUPERSEDED = ("parameter {name!r} of this DataParallel was wrapped again, by a DataParallel with {wrapper}, which sums "
                  "its gradients from then on; use that one, or wrap the module again")
MSG_TAKEN = ("parameter {name!r} of this DataParallel, with {wrapper}, was wrapped again, by a DataParallel that sums its "
             "gradients over ranks from then on; use that one, or wrap the module again")


def take_over(params: Iterable[Tensor], wrapper: str) -> None:
    """Take parameters from the reducers that sum their gradients, for a wrapper that sums them in another way. Those
    reducers raise when they are used again.
    """
    for p in params:
        bucket = counter_of(p)
        if isinstance(bucket, GradientBucket):
            bucket.listener.superseded = MSG_SUPERSEDED.format(name=bucket.names[bucket.number_of[p]], wrapper=wrapper)
            set_counter(p, None)
            set_grad_buffer(p, None)


def refuse_taken(params: Iterable[Tensor], wrapper: str) -> None:
    """RuntimeError if a reducer has taken one of the parameters of a wrapper that sums their gradients in another way."""
    for p in params:
        bucket = counter_of(p)
        if isinstance(bucket, GradientBucket):
            raise RuntimeError(MSG_TAKEN.format(name=bucket.names[bucket.number_of[p]], wrapper=wrapper))


class SharedParameters:
    """The parameters that one reducer shares with others. In a pass that comes from several reducers, the last created one
    sums the shared parameters.

    Reducers know each other through this class only, which reads the other's PassState, Weights and Accumulation.
    """

    def __init__(self, listener: PassListener, state: PassState, accumulation: Accumulation, counted_elsewhere: set[Tensor],
                 alone: bool) -> None:
        self.listener: PassListener = listener
        self.state: PassState = state
        self.accumulation: Accumulation = accumulation
        self.weights: Weights = accumulation.weights
        self.alone: bool = alone
        self.order: int = 0
        self.bucket_of: dict[Tensor, GradientBucket] = {}
        self.counted_elsewhere = counted_elsewhere   # parameters that a later reducer counts in this pass
        self.prepared: set[Tensor] = set()           # parameters whose earlier gradients another reducer has stashed
        self.params: dict[Tensor, None] = {}         # those that are shared

    def count(self, bucket: GradientBucket, p: Tensor) -> None:
        """Let the bucket count p's gradients. If another reducer's bucket did before, p is shared with that reducer."""
        previous = bucket.count_for(p)
        self.bucket_of[p] = bucket
        if isinstance(previous, GradientBucket) and previous.listener.shared is not self:
            other = previous.listener.shared
            self.order = max(self.order, other.order + 1)
            self.params[p] = other.params[p] = None

    def claim(self, backward_pass: BackwardPass) -> None:
        """Begin a pass: this reducer counts the shared parameters, unless a reducer created later takes part, too."""
        self.counted_elsewhere.clear()
        self.prepared.clear()
        others: dict[SharedParameters, tuple[bool, str]] = {}    # whether it takes part, name of the first parameter
        for p in self.params:
            bucket: Any = self.bucket_of[p]
            counter: Any = counter_of(p)
            other = counter.listener.shared
            if other is not self:
                if other not in others:
                    others[other] = other._takes_part(backward_pass), bucket.names[bucket.number_of[p]]
                takes_part = others[other][0]
                if takes_part and other.order > self.order:
                    self.counted_elsewhere.add(p)
                    continue
                if takes_part:
                    other.counted_elsewhere.add(p)
                    if other.state.backward_pass is backward_pass:
                        self.prepared.add(p)
                    self.accumulation.take_over(other.accumulation, p)
            bucket.count_for(p)
        for other, (takes_part, name) in others.items():
            if takes_part:
                self._compare_weights(other, backward_pass, name)
            self._compare_passes(other, takes_part, name)

    def _takes_part(self, backward_pass: BackwardPass) -> bool:
        """Whether a pass comes from this reducer's module."""
        return self.state.backward_pass is backward_pass or bool(calls_in(backward_pass.marked(), self.listener))

    def _compare_weights(self, other: SharedParameters, backward_pass: BackwardPass, name: str) -> None:
        """Report an error if the two reducers would weight a gradient differently."""
        marked = backward_pass.marked()
        one, two = (shared.weights.weight_of(calls_in(marked, shared.listener))[0] for shared in (self, other))
        if one != two:
            self._report(MSG_WEIGHTS.format(name=name, one=two, other=one))

    def _compare_passes(self, other: SharedParameters, takes_part: bool, name: str) -> None:
        """Report an error if gradients of passes inside no_sync() wait whose weights the reducer that sums now does not
        have.
        """
        if other.state.backward_pass is not running.passes[-1]:
            other.accumulation.clear_if_user_cleared()      # now, before this pass adds gradients
        one, two = (shared._waiting() for shared in (self, other))
        if takes_part:
            if other.order > self.order:
                one, two = two, one
            if not two or one == two:                # the later reducer has all their weights
                return
        if two:
            self._report(MSG_WAITING.format(name=name))

    def _waiting(self) -> list[float]:
        """The weights of passes whose gradients wait for their sum."""
        passes = self.weights.passes
        return [] if not passes or self.accumulation.user_cleared() else passes

    def _report(self, text: str) -> None:
        """Raise the error on all ranks at the end of the pass."""
        if not self.alone:
            self.weights.problem = self.weights.problem or text
