"""Reducer: sums gradients over ranks while backward still runs.

Gradients live in buckets. When the last gradient of a bucket is there (and every bucket before it has left), it is
multiplied by the rank's weight and a non-blocking allreduce starts. At the end of backward the rest leave, with zeros for
what was not used on this rank; then all are waited for and divided by the sum of the weights. Buckets leave in a fixed order
on a communicator of their own, whatever order they fill in, and on every rank, whatever that rank's loss depends on.

After the first backward the buckets are filled anew in the order in which rank 0's gradients came. What a rank has to tell
the others (a mistake, a step that it could not finish) is sent in the place of its weight.

This file has the life of one pass. Its parts: departure.py (which bucket leaves when), buckets.py (where gradients are),
transport.py (how they reach the other ranks), weights.py (what a rank counts), accumulation.py (passes that add up),
shared_parameters.py, second_order.py, unused.py. They share a PassState, and know each other, not the Reducer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

import numpy as np

from autograd import Tensor
from autograd.core.engine import running

from ..comm import Communicator
from ..comm.persistent import divide
from ..comm.reference import is_half
from ..hooks.bucket_hook import CommHook
from .accumulation import Accumulation
from .backward_signal import calls_in, has_other_collectives, runs_nested_passes
from .buckets import Bucket, GradientBucket, assign_all
from .departure import Departure
from .pass_state import PassKind, PassState, call_at_end, creation_numbers
from .second_order import NotFinite, SecondOrder
from .shared_parameters import SharedParameters
from .stats import Stats
from .transport import Hooked, ScaledSum, Summed, Transport
from .unused import Unused
from .weights import ForwardCall, Weights

MSG_TWICE = ("{name} got a second gradient, from a backward pass inside the pass, after its sum over ranks had begun; say "
             "`reenters = True` in the Function whose backward runs that pass, and sums wait for it")


class StepGuard(Protocol):
    """What a reducer tells a block of model.skipping()."""

    def announce(self) -> None:
        """A summed pass begins or ends: StepSkipped if a rank has failed."""

    def check(self, gradients: list[Any], same: bool) -> None:
        """StepSkipped, on all ranks, if summed gradients are not finite. same: they are the same on all ranks."""


class JoinedStep(Protocol):
    """What a reducer, and a forward pass, tell a block of model.join()."""

    def forward_begins(self) -> int:
        """A step begins; the rank whose buffers count."""

    def backward_begins(self, given: bool) -> None:
        """A summed backward pass begins; given: with a weight that the user gave."""


class StepSkipped(RuntimeError):
    """A rank could not finish its step. Raised on all ranks by backward(); `with model.skipping()` ends it."""


class Reducer:
    """The buckets of one module on one rank. average: what ranks count by, see DataParallel. delayed: names of parameters
    that leave last, in buckets of their own. rebuild: whether buckets follow the order in which gradients came first."""

    sets_aside = True                                # see Accumulation

    def __init__(self, named: list[tuple[str, Tensor]], comm: Communicator, cap_mb: float, average: str, *,
                 delayed: frozenset[str] = frozenset(), rebuild: bool = True, unused: Unused | None = None) -> None:
        self.comm, self.users_comm, self.number = comm.duplicate(), comm, next(creation_numbers)
        self.named, self.delayed, self.cap = named, delayed, cap_mb * 2**20
        self.enabled = True                          # False inside no_sync(); read when backward begins
        self.grad_in_bucket = True                   # whether .grad is a view of its bucket, or memory of its own
        self.skipping: StepGuard | None = None        # the block of model.skipping() that this step is in
        self.joined: JoinedStep | None = None       # the same of model.join()
        self.state = PassState()
        self.weights = Weights(average, comm.size == 1)
        self.unused = unused or Unused()
        self.stats = Stats()
        counted_elsewhere: set[Tensor] = set()
        self.accumulation = Accumulation(named, self.weights, self.unused, counted_elsewhere, self.sets_aside)
        self.shared = SharedParameters(self, self.state, self.accumulation, counted_elsewhere, comm.size == 1)
        self.second_order = SecondOrder(self, named, comm, self.weights)
        buckets = self._make_buckets()
        self.departure = Departure(buckets, self._make_transport(buckets), self.stats)
        self._arrival_order: list[Tensor] | None = [] if rebuild and len(buckets) > 1 else None
        self._take_parameters()

    def _make_buckets(self) -> list[Any]:
        return assign_all(self.named, self.cap, self.delayed, self.comm)

    def _make_transport(self, buckets: list[Any]) -> Transport:
        narrow = any(is_half(bucket.buffer.dtype) for bucket in buckets)
        return ScaledSum(self.users_comm) if narrow else Summed(self.comm, self.weights.average == "rows")

    def _take_parameters(self) -> None:
        """Let the buckets count the gradients of their parameters."""
        for bucket in self.buckets:
            bucket.listener = self
            for p in bucket.params:
                self.shared.count(bucket, p)

    @property
    def buckets(self) -> list[Any]:
        """The buckets, in the order in which they leave."""
        return self.departure.buckets

    @property
    def transport(self) -> Transport:
        """How buckets reach the other ranks."""
        return self.departure.transport

    def use_hook(self, hook: CommHook) -> None:
        """From now on a comm hook averages the buckets."""
        self.departure.transport = Hooked(self.users_comm, self.comm, hook, self.transport)

    # --- a pass begins --------------------------------------------------------------------------------------------------

    def begin(self, call: ForwardCall | None = None, arrived: Tensor | None = None) -> PassKind:
        """Called as soon as a backward pass concerns the module, by an output or an arrived gradient: what becomes of it."""
        walks = running.passes
        if not walks:
            return PassKind.LOCAL
        walk, state = walks[-1], self.state
        if walk is state.walk:
            if call is not None:
                self.weights.calls.add(call)
                if state.unannounced:
                    self._announce()
            return state.kind
        if not walk.accumulate:
            self._begin_grad(walk, call)
            return PassKind.LOCAL
        if state.walk is not None and state.walk in walks:
            if call is not None:
                self.weights.calls.add(call)
            return PassKind.NESTED if state.kind is PassKind.SUMMED else PassKind.LOCAL
        self._begin_pass(walk, call, arrived)
        return state.kind

    def _begin_pass(self, walk: Any, call: ForwardCall | None, arrived: Tensor | None) -> None:
        """The first that is seen of a pass that adds to .grad."""
        self._drop_unfinished_pass()
        state, weights = self.state, self.weights
        weights.calls.clear()
        if call is not None:
            weights.calls.add(call)
        state.walk, state.counts_nothing, state.unannounced = walk, False, False
        self.departure.start_pass()
        self.accumulation.before = []
        self.shared.claim(walk)
        self._prepare_gradients(walk, arrived)
        if not self.enabled:
            self.refuse_unsummed(walk)
            state.kind = PassKind.LOCAL
            call_at_end(walk, self.number, self._finish_unsummed)
            return
        state.kind = PassKind.RECORDED if walk.create else PassKind.SUMMED
        self._begin_counting(walk, call)
        state.unannounced = True
        if call is not None or not weights.calls:
            self._announce()                         # else at the output's node, where ranks without this leaf's gradient do
        if walk.create:
            self._begin_recorded()
        call_at_end(walk, self.number, self._finish_recorded if walk.create else self._finish)

    def _drop_unfinished_pass(self) -> None:
        """Forget a pass that ended in an exception: what it counted is void."""
        if self.state.walk is not None:
            self.state.walk, self.state.unannounced = None, False
            self.transport.drop()

    def _prepare_gradients(self, walk: Any, arrived: Tensor | None) -> None:
        """Bring what earlier passes have left in .grad into proportion with this one."""
        if self.weights.passes or not self.enabled or self.weights.average == "sum":
            self.state.counts_nothing = self.accumulation.prepare(
                arrived, self.shared.prepared, lambda: calls_in(walk.marked(), self), summed=self.enabled)

    def _begin_counting(self, walk: Any, call: ForwardCall | None) -> None:
        """Let buckets count this pass's gradients, by themselves where nobody else has to look at them."""
        marked, state, transport = walk.marked(), self.state, self.transport
        only_own = call is not None and len(marked) == 1 == len(marked[0].calls)     # the node that called, as mostly
        state.waits_for_end = transport.unsure or (not only_own and (
            runs_nested_passes(marked) or (transport.blocks and has_other_collectives(marked, self))))
        reported = walk.create or state.waits_for_end or self._arrival_order is not None
        for bucket in self.buckets:
            bucket.start_pass(None if reported else walk)
        if not only_own:
            self.weights.calls |= calls_in(marked, self)     # a parameter's gradient may come before it passes an output

    def _announce(self) -> None:
        """The collectives on the user's communicator that begin a pass. They start at the node of the module's output, which
        has one place among the pass's collectives on all ranks: a leaf that the loss uses may come at any."""
        self.state.unannounced = False
        if self.skipping is not None:
            self.skipping.announce()
        self._check_training(self.weights.calls)
        if self.joined is not None:
            self.joined.backward_begins(self.weights.of(self.weights.calls)[1])
        if self.stats.sampling:
            self.stats.backward_begins()

    def _check_training(self, calls: set[ForwardCall]) -> None:
        """After forward passes in evaluation mode: an error on all ranks if others wait in a collective of training."""
        if self.joined is None and any(call.evaluated for call in calls):
            self.users_comm.named_barrier("backward_in_evaluation_mode")

    # --- gradients arrive, buckets leave ----------------------------------------------------------------------------------

    def gradient_arrived(self, p: Tensor) -> None:
        """A parameter has got a gradient that its bucket did not simply count: the first of a pass, one from a pass within
        the pass, one in other memory."""
        kind = self.begin(None, p)
        if kind is PassKind.LOCAL:
            return
        bucket = self.shared.bucket_of[p]
        number = bucket.number_of[p]
        if kind is PassKind.RECORDED:
            bucket.used[number] = 1
            return
        if p._grad is not None and not bucket.holds(p):
            bucket.copy_in(p)
        if self._arrival_order is not None and not bucket.used[number]:
            self._arrival_order.append(p)
        bucket.used[number] = 1
        if kind is PassKind.NESTED:                  # a pass inside the pass may bring more: wait for the end
            if self.departure.has_left(bucket):
                raise RuntimeError(MSG_TWICE.format(name=bucket.names[number]))
            return
        bucket.left -= 1
        if bucket.left == 0:
            self.bucket_full()

    def bucket_full(self) -> None:
        """All gradients of a bucket are there: it and those behind it leave, unless all wait for the end of the pass."""
        if not self.state.waits_for_end and not self.state.unannounced:
            self._leave(final=False)

    def _leave(self, final: bool) -> None:
        """Start the sums of buckets: of full ones in order, or of all."""
        if self.departure.may_leave(final):
            factor, weight = self.weights.final()
            self.departure.leave(factor, weight, final, self._complete, self.state.walk)

    def _complete(self, bucket: GradientBucket) -> None:
        """Bring the gradients of a bucket that leaves into the form in which they are summed."""
        bucket.stop_counting()
        if bucket.left > 0:
            bucket.fill(bool(self.weights.passes), self.shared.counted_elsewhere)
        if self.state.counts_nothing:
            self.accumulation.restore(bucket.params)     # not at the end: buckets leave in step with other ranks'

    # --- a pass ends ------------------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        """The end of a summed pass: all buckets have left, are waited for, and divided."""
        stats, state, skipping, transport = self.stats, self.state, self.skipping, self.transport
        if stats.sampling:
            stats.backward_computed()
        if state.unannounced:
            self._announce()
        leaving_waits = transport.unsure        # then others wait in the announcement, which comes first
        if skipping is not None and leaving_waits:
            skipping.announce()
        self._leave(final=True)
        state.walk, state.counts_nothing, self.accumulation.before = None, False, []
        if skipping is not None and not leaving_waits:
            skipping.announce()
        self._collect()
        if skipping is not None:
            skipping.check([bucket.gradients for bucket in self.buckets], transport.same_everywhere)
        all_used = self._deliver()
        self.accumulation.forget_passes()
        self.weights.calls.clear()
        stats.summed(transport.bytes_sent or [bucket.nbytes for bucket in self.buckets])
        if not all_used or self.unused.watches:
            self._report_unused()
        if self._arrival_order is not None:
            self._rebuild()

    def _collect(self) -> None:
        """Wait for all buckets and divide; raise, on all ranks, the mistake that one of them has sent."""
        worst, buckets = 0.0, self.buckets
        average = self.transport.collect(buckets)
        for bucket in buckets:
            total = bucket.weight
            if not math.isfinite(total):
                worst = total if not math.isnan(worst) else worst
            elif average:
                divide(bucket.gradients, total)
        if worst:
            self._raise_everywhere(worst)

    def _deliver(self) -> bool:
        """Put the results into .grad; whether all ranks used all parameters."""
        all_used = True
        for bucket in self.buckets:
            all_used &= bucket.deliver(self.comm.size, self.grad_in_bucket)
        if self.accumulation.summed:
            self.accumulation.add_summed()
        return all_used

    def _report_unused(self) -> None:
        """Parameters that some rank did not use: see Unused."""
        counts = {name: int(n) for bucket in self.buckets
                  for name, n in zip(bucket.names, bucket.used.tolist(), strict=True)}
        self.unused.look(self.named, counts, self.comm.size, counted_elsewhere=self.shared.counted_elsewhere,
                         some_ended=self.joined is not None)

    def _finish_unsummed(self) -> None:
        """The end of a pass inside no_sync()."""
        if self.state.counts_nothing:
            self.accumulation.restore(p for _, p in self.named)
            self.accumulation.before = []
        self.state.walk = None
        self.accumulation.end_of_pass()

    def _raise_everywhere(self, total: float) -> NoReturn:
        """Weights that are not finite came back, on all ranks: drop the gradients and raise what they stand for."""
        problem = self.weights.problem or self.transport.problem
        self.clear()
        if math.isnan(total):
            everyone = self.comm.allgather_object([problem])
            texts = [f"rank {rank}: {text}" for rank, text in enumerate(everyone) if text]
            raise RuntimeError("; ".join(texts) or "a rank's weight is not a number")
        raise StepSkipped("a rank could not finish this step, and all skip it (model.skipping())")

    def _rebuild(self) -> None:
        """Fill the buckets anew, in the order in which the first gradients came on rank 0."""
        arrived, self._arrival_order = self._arrival_order or [], None
        if self.transport.keeps_buckets:
            return
        number = {p: i for i, (_, p) in enumerate(self.named)}
        arrived += [p for _, p in reversed(self.named)]            # and some came twice, where a pass did not end well
        mine = [number[p] for p in dict.fromkeys(arrived)]
        order = self.comm.broadcast(np.array(mine, np.int64))[0].tolist()
        buckets = assign_all([self.named[i] for i in reversed(order)], self.cap, self.delayed, self.comm)
        if [b.names for b in buckets] == [b.names for b in self.buckets]:
            return
        before: list[Bucket] = self.buckets
        self.departure.buckets = buckets
        in_old_memory = [p for bucket in before for p in bucket.params if bucket.holds(p)]
        self._take_parameters()
        for p in in_old_memory:
            self.shared.bucket_of[p].copy_in(p)
        self.stats.rebuilt = True

    # --- gradients with a graph -------------------------------------------------------------------------------------------

    def _begin_grad(self, walk: Any, call: ForwardCall | None) -> None:
        """An autograd.grad() pass has come by: if it asks for parameters, average them when it ends."""
        if not self.enabled:
            return
        second_order = self.second_order
        if not second_order.averages(walk):
            params = second_order.parameters_asked_for(walk)
            if not params:
                return
            self._refuse_recorded("autograd.grad() with respect to parameters", in_grad=False)
            self._check_training(calls_in(walk.marked(), self))
            second_order.start_grad(walk, params)
            call_at_end(walk, self.number, lambda: self._average(lambda: second_order.finish_grad(walk)))
        if call is not None:
            second_order.reached(walk, call)

    def _begin_recorded(self) -> None:
        """backward(create_graph=True) has begun."""
        self._refuse_recorded("backward(create_graph=True)", in_grad=True)
        if self.weights.passes:
            raise NotImplementedError("backward(create_graph=True) can't follow passes inside no_sync(): zero_grad() first")
        self.second_order.start_recorded({p for bucket in self.buckets for p in bucket.params
                                          if bucket.used[bucket.number_of[p]]})

    def _finish_recorded(self) -> None:
        """The end of backward(create_graph=True)."""
        if self.state.unannounced:
            self._announce()
        if self.skipping is not None:
            self.skipping.announce()
        self.state.walk = None
        self._average(self.second_order.finish_recorded)
        if self.skipping is not None:
            self.skipping.check([p._grad.array for _, p in self.named
                                 if p._grad is not None and p not in self.shared.counted_elsewhere], True)
        self.weights.calls.clear()
        self.stats.summed([])

    def _average(self, finish: Callable[[], None]) -> None:
        """Run a collective of SecondOrder; raise, on all ranks, the mistake that one of them has sent."""
        try:
            finish()
        except NotFinite:
            self._raise_everywhere(math.nan)

    def _refuse_recorded(self, what: str, in_grad: bool) -> None:
        """NotImplementedError where gradients, which go into .grad or to the caller, can't be averaged with their graph."""
        self.refuse_graphs(what, in_grad)
        if self.joined is not None:
            raise NotImplementedError(f"{what} inside join(): ranks that have run out of batches can't take part in it")

    # --- called by DataParallel, skipping() and join() -------------------------------------------------------------------

    def clear(self) -> None:
        """Forget all gradients and what they counted."""
        self.state.walk, self.state.unannounced = None, False
        self.accumulation.forget()
        for bucket in self.buckets:
            bucket.forget()
        self.weights.calls.clear()
        self.weights.problem = ""
        for _, p in self.named:
            p._grad = None

    def drop(self) -> None:
        """Wait for what is under way, and forget it and all gradients."""
        self.transport.drop()
        self.clear()

    def match(self, weight: float) -> None:
        """Start what is left of the sums of a pass that this rank has no gradients for: zeros, with this weight."""
        if self.state.walk is None:
            self.departure.start_pass()
        for bucket in self.departure.remaining():
            bucket.fill_with_zeros()
        weights = Weights("rows")
        weights.inside = ForwardCall(weight, True)
        try:
            if self.departure.may_leave(final=True):
                self.departure.leave(*weights.final(), True, self._complete, self.state.walk)
        finally:
            self.state.walk = None

    def shadow(self, weight: float) -> None:
        """Take part in a pass of the other ranks, with zeros."""
        self.match(weight)
        self._collect()
        if self._arrival_order is not None:
            self._rebuild()

    def counts(self, call: ForwardCall) -> float:
        """What this rank's loss counts in the running pass, for gradients that cross ranks inside the module on their way to
        parameters; 1 in a pass whose gradients are not averaged."""
        walk = running.passes[-1]
        weight = self.weights.of({call})[0] if walk.accumulate or self.second_order.averages(walk) else 1.0
        return weight if math.isfinite(weight) else 0.0

    @property
    def before_collective(self) -> Callable[[], object] | None:
        """What a layer calls before it communicates; None: there is nothing to agree on."""
        return None

    def refuse_graphs(self, what: str, in_grad: bool = True) -> None:
        """NotImplementedError where gradients have no graph."""

    def refuse_unsummed(self, walk: Any) -> None:
        """NotImplementedError where gradients of this pass, inside no_sync(), can't stay on this rank."""


__all__ = ["Reducer", "StepSkipped"]
