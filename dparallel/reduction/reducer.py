"""Reducer: sums gradients over ranks while backward still runs.

Gradients are in buckets. When the last gradient of a bucket has arrived (and every bucket before it has been launched), the
bucket is multiplied by the rank's weight and its non-blocking allreduce starts. At the end of backward the remaining buckets
are launched, with zeros for parameters that this rank has not used; then the reducer waits for all sums. Each is divided by
the sum of the weights, in the transport, or here for sharded models. Buckets are launched in a fixed order on a communicator
of the reducer, whatever the order in which they fill, and on every rank, whatever parameters that rank's loss depends on.

After the first backward the buckets are assigned again, in the order in which rank 0's gradients arrived. A rank that
detected an error, or could not finish its step, sends nan or infinity instead of its weight.

This file has the course of one pass. Its parts: departure.py (when a bucket is launched), buckets.py (the memory of
gradients), transport.py (how they reach the other ranks), weights.py (a rank's weight), accumulation.py (several passes),
shared_parameters.py, second_order.py, unused.py. They share a PassState and do not know the Reducer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter
from typing import Any, NoReturn, Protocol
from weakref import WeakMethod

import numpy as np

from autograd.core.engine import BackwardPass, running
from autograd.core.grad_buffers import set_grad
from autograd.core.primitive import side_effect
from autograd.spans.spans import recorders

from ..autograd import Tensor
from ..comm import CollectiveError, Communicator
from ..comm.persistent import divide
from ..comm.reference import is_half
from ..consistency.checksum import ROOM, WeightCheck, same
from ..hooks.bucket_hook import CommHook
from .accumulation import Accumulation
from .backward_signal import calls_in, has_other_collectives, runs_nested_passes
from .buckets import Bucket, GradientBucket, assign_all
from .departure import Departure
from .pass_state import PassKind, PassState, call_at_end, creation_numbers
from .second_order import NotFinite, SecondOrder
from .shared_parameters import SharedParameters
from .stats import Stats
from .transport import AllReduceTransport, HookTransport, ScaledAllReduceTransport, Transport
from .unused import UnusedParameters
from .weights import SKIPPED, ForwardCall, Weights

EVALUATED = attrgetter("evaluated")
MSG_TWICE = ("{name} got a second gradient, from a backward pass inside the pass, after its sum over ranks had begun; set "
             "`reenters = True` in the Function whose backward runs that pass, so that sums wait for it")


class StepGuard(Protocol):
    """The interface of a model.skipping() block for its reducer."""

    def barrier(self) -> None:
        """A barrier when a summed pass begins or ends. StepSkipped if a rank has failed."""

    def check(self, gradients: list[np.ndarray[Any, Any]], same: bool) -> None:
        """StepSkipped, on all ranks, if summed gradients are not finite. same: whether all ranks have the same ones."""


class JoinedStep(Protocol):
    """The interface of a model.join() block for its reducer and the forward pass."""

    def forward_begins(self) -> int:
        """Called when a step begins. Returns the rank whose buffers are used."""

    def backward_begins(self, given: bool) -> None:
        """Called when a summed backward pass begins. given: whether the user passed its weight."""


class PassWatch(Protocol):
    """The interface of an object that records when the parts of a pass happen (observe/prediction/measure_step.py) for
    the reducer.
    """

    each_gradient: bool                              # whether to call arrived(); else buckets count

    def begins(self, summed: bool) -> None:
        """A pass begins that accumulates in .grad."""

    def arrived(self, p: Tensor) -> None:
        """A parameter has its gradient."""

    def computed(self) -> None:
        """All gradients of this rank are computed."""

    def collected(self) -> None:
        """The sums of all buckets have completed."""

    def ends(self) -> None:
        """The results are in .grad."""


class StepSkipped(RuntimeError):
    """A rank could not finish its step. backward() raises it on all ranks; `with model.skipping()` ends it."""


class Reducer:
    """Sums the gradients of one module on one rank. average: how ranks are weighted, see DataParallel. delayed: names of
    parameters in separate buckets that are launched last. rebuild: whether buckets are assigned again in the order of
    arrival. check: compares the weights of all ranks in some passes.
    """

    stashes_gradients = True                                # see Accumulation
    accumulation: Accumulation
    shared: SharedParameters

    def __init__(self, named: list[tuple[str, Tensor]], comm: Communicator, cap_mb: float, average: str, *,
                 delayed: frozenset[str] = frozenset(), rebuild: bool = True,
                 unused: UnusedParameters | None = None, check: WeightCheck | None = None) -> None:
        self.comm: Communicator = comm.duplicate()
        self.users_comm: Communicator = comm
        self.number: int = next(creation_numbers)
        self.named: list[tuple[str, Tensor]] = named
        self.delayed: frozenset[str] = delayed
        self.cap: float = cap_mb * 2**20
        self.enabled = True                          # False in no_sync(); read when a pass begins
        self.local = False                           # True in no_sync() inside of a step that is being recorded
        self.superseded = ""                         # see take_over()
        self.grad_in_bucket = True                   # whether .grad is a view of its bucket
        self.averages_grad = True                    # whether autograd.grad() with respect to parameters averages, too
        self.skipping: StepGuard | None = None       # of the model.skipping() block that runs
        self.joined: JoinedStep | None = None        # of the model.join() block that runs
        self.watch: PassWatch | None = None
        self.check: WeightCheck | None = check if comm.size > 1 else None
        self.state: PassState = PassState()
        self.weights: Weights = Weights(average, comm.size == 1)
        self.unused: UnusedParameters = unused or UnusedParameters()
        self.stats: Stats = Stats()
        counted_elsewhere: set[Tensor] = set()
        self.accumulation = Accumulation(named, self.weights, self.unused, counted_elsewhere, self.stashes_gradients)
        self.shared = SharedParameters(self, self.state, self.accumulation, counted_elsewhere, comm.size == 1)
        self.second_order: SecondOrder = SecondOrder(self, named, comm, self.weights, lambda: self.enabled)
        buckets = self._make_buckets()
        self.departure: Departure = Departure(buckets, self._make_transport(buckets), self.stats)
        self._arrival_order: list[Tensor] | None = [] if rebuild and len(buckets) > 1 else None
        self._take_parameters()

    def _make_buckets(self) -> list[Any]:
        """The buckets of all parameters; a sharded model's are Units."""
        return assign_all(self.named, self.cap, self.delayed, self.comm, ROOM if self.check is not None else 0)

    def _make_transport(self, buckets: list[Any]) -> Transport:
        """The transport without a comm hook. Gradients of half precision are scaled before their sum."""
        narrow = any(is_half(bucket.buffer.dtype) for bucket in buckets)
        return (ScaledAllReduceTransport(self.users_comm) if narrow else
                AllReduceTransport(self.comm, self.weights.average == "rows"))

    def _take_parameters(self) -> None:
        """Let the buckets count the gradients of their parameters."""
        self._nbytes: int = sum(bucket.nbytes for bucket in self.buckets)
        for bucket in self.buckets:
            bucket.listener = self
            for p in bucket.params:
                self.shared.count(bucket, p)
                if self.comm.size > 1:
                    p.averaged_by = WeakMethod(self.largest_over_ranks)

    def largest_over_ranks(self, values: list[float]) -> list[float] | None:
        """The largest of each number over ranks, for a GradScaler that decides for all of them; None inside join(), where
        ranks that have run out make no steps. Collective.
        """
        return None if self.joined is not None else self.comm.allreduce([np.array(values)], "max")[0].tolist()

    @property
    def buckets(self) -> list[Any]:
        """The buckets, in launch order."""
        return self.departure.buckets

    @property
    def transport(self) -> Transport:
        """How buckets reach the other ranks."""
        return self.departure.transport

    def use_hook(self, hook: CommHook) -> None:
        """Average the buckets with a comm hook from now on."""
        self.departure.transport = HookTransport(self.users_comm, self.comm, hook, self.transport)

    # --- a pass begins --------------------------------------------------------------------------------------------------

    def begin(self, call: ForwardCall | None = None, arrived: Tensor | None = None) -> PassKind:
        """Called as soon as a backward pass reaches an output of the module (call) or a parameter (arrived). Returns what
        the reducer does with the pass's gradients."""
        passes = running.passes
        if not passes:
            return PassKind.LOCAL
        backward_pass, state = passes[-1], self.state
        if backward_pass is state.backward_pass:
            if call is not None:
                self.weights.calls.add(call)
                if state.unannounced:
                    self._announce()
            return state.kind
        if not backward_pass.accumulate:
            self._begin_grad(backward_pass, call)
            return PassKind.LOCAL
        if state.backward_pass is not None and state.backward_pass in passes:
            if call is not None:
                self.weights.calls.add(call)
            return PassKind.NESTED if state.kind is PassKind.SUMMED else PassKind.LOCAL
        self._begin_pass(backward_pass, call, arrived)
        return state.kind

    def _begin_pass(self, backward_pass: BackwardPass, call: ForwardCall | None, arrived: Tensor | None) -> None:
        """Begin a pass that accumulates in .grad."""
        if self.superseded:
            raise RuntimeError(self.superseded)
        local: list[Reducer] | None = getattr(backward_pass, "local", None)      # of recorded passes and their replays
        if local is not None and self.local:
            local.append(self)
        enabled = self.enabled and (local is None or self not in local)
        if self.watch is not None:
            self.watch.begins(enabled)
        state, weights = self.state, self.weights
        if state.backward_pass is not None:          # it ended in an exception
            state.backward_pass = None
            self.transport.drop()
        weights.begin_pass(call)
        state.backward_pass, state.counts_nothing, state.unannounced = backward_pass, False, False
        self.departure.start_pass()
        self.accumulation.before_pass = []
        if self.shared.params:
            self.shared.claim(backward_pass)
        if weights.passes or not enabled or weights.average == "sum":
            state.counts_nothing = self.accumulation.begin_pass(
                arrived, self.shared.prepared, lambda: calls_in(backward_pass.marked(), self), summed=enabled)
        if not enabled:
            self.refuse_unsummed(backward_pass)
            state.kind = PassKind.LOCAL
            call_at_end(backward_pass, self.number, self._finish_unsummed)
            return
        state.kind = PassKind.RECORDED if backward_pass.create else PassKind.SUMMED
        self._begin_counting(backward_pass, call)
        state.unannounced = True
        if call is not None or not weights.calls:
            self._announce()                         # otherwise when the pass reaches an output, as on the other ranks
        if backward_pass.create:
            self._begin_recorded()
        call_at_end(backward_pass, self.number, self._finish_recorded if backward_pass.create else self._finish)

    def _begin_counting(self, backward_pass: BackwardPass, call: ForwardCall | None) -> None:
        """Let the buckets count this pass's gradients, without calling the reducer for each where that is possible."""
        marked: list[Any] = backward_pass.marked()
        state, departure = self.state, self.departure
        transport = departure.transport
        only_own = call is not None and len(marked) == 1 == len(marked[0].calls)     # the usual case: one output
        state.waits_for_end = transport.compares_hooks or (not only_own and (
            runs_nested_passes(marked) or (transport.blocks and has_other_collectives(marked, self))))
        reported = (backward_pass.create or state.waits_for_end or self._arrival_order is not None
                    or (self.watch is not None and self.watch.each_gradient))
        for bucket in departure.buckets:
            bucket.start_pass(None if reported else backward_pass)
        if not only_own:
            self.weights.calls |= calls_in(marked, self)     # a parameter may be reached before an output

    def _announce(self) -> None:
        """Run the collectives on the user's communicator that begin a pass. That happens at the node of the module's output,
        whose position among the pass's collectives is the same on all ranks; that of a leaf may not be."""
        self.state.unannounced = False
        self.stats.backward_begins()
        if self.skipping is not None:
            self.skipping.barrier()
        if self.joined is not None:
            self.joined.backward_begins(self.weights.weight_of(self.weights.calls)[1])
        elif any(map(EVALUATED, self.weights.calls)):
            self._check_training()

    def _check_training(self) -> None:
        """After forward passes in evaluation mode, which skipped collectives: if other ranks wait in a collective of
        training, all raise.
        """
        self.users_comm.named_barrier("backward_in_evaluation_mode")

    # --- gradients arrive, buckets leave ----------------------------------------------------------------------------------

    def gradient_arrived(self, p: Tensor) -> None:
        """A gradient has arrived that its bucket did not count: the first of a pass, one of a nested pass, or one in memory
        outside the bucket."""
        kind = self.begin(None, p)
        if kind is PassKind.LOCAL:
            return
        if self.watch is not None:
            self.watch.arrived(p)
        bucket = self.shared.bucket_of[p]
        number = bucket.number_of[p]
        if kind is PassKind.RECORDED:
            bucket.used[number] = 1
            return
        if p.grad is not None and not bucket.holds(p):
            bucket.copy_in(p)
        if self._arrival_order is not None and not bucket.used[number]:
            self._arrival_order.append(p)
        bucket.used[number] = 1
        if kind is PassKind.NESTED:                  # more may arrive: the bucket is launched at the end
            if self.departure.is_launched(bucket):
                raise RuntimeError(MSG_TWICE.format(name=bucket.names[number]))
            return
        bucket.left -= 1
        if bucket.left == 0:
            self.bucket_full()

    def bucket_full(self) -> None:
        """All gradients of a bucket have arrived: launch the buckets that may be, unless all wait for the end of the
        pass.
        """
        if not self.state.waits_for_end and not self.state.unannounced:
            self._leave(final=False)
        if recorders:
            self.departure.note_full()

    def _leave(self, final: bool) -> None:
        """Launch the buckets that may be launched; final: all."""
        if self.departure.may_launch(final):
            factor, weight = self.weights.factor_and_weight()
            self.departure.launch(factor, weight, final, self._complete, self.state.backward_pass)

    def _complete(self, bucket: GradientBucket) -> None:
        """Complete the gradients of a bucket that is launched."""
        bucket.stop_counting()
        if bucket.left > 0:
            bucket.fill(bool(self.weights.passes), self.shared.counted_elsewhere)
        if self.state.counts_nothing:
            self.accumulation.restore(bucket.params)     # now, since the bucket is launched
        if bucket.room.size and self.check is not None and self.state.backward_pass is not None:
            self.check.fill(bucket.room, self.state.backward_pass.replaced)      # not by a rank without a batch

    # --- a pass ends ------------------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        """End a summed pass: launch the remaining buckets, wait for all, and put the results into .grad."""
        stats, state, skipping, unused = self.stats, self.state, self.skipping, self.unused
        buckets, transport = self.departure.buckets, self.departure.transport
        if state.unannounced:
            self._announce()
        stats.backward_computed()
        if self.watch is not None:
            self.watch.computed()
        leaving_waits = transport.compares_hooks     # ranks without the hook wait in skipping.barrier()
        if skipping is not None and leaving_waits:
            skipping.barrier()
        self._leave(final=True)
        state.backward_pass, state.counts_nothing, self.accumulation.before_pass = None, False, []
        if skipping is not None and not leaving_waits:
            skipping.barrier()
        self._collect()
        if skipping is not None:
            skipping.check([bucket.gradients for bucket in buckets], transport.same_on_all_ranks)
        all_used = self._deliver()
        if self.weights.passes:
            self.accumulation.clear_waiting_passes()
        self.weights.calls.clear()
        stats.summed(sum(transport.bytes_sent) if transport.bytes_sent else self._nbytes)
        if not all_used or unused.static_graph or unused.everywhere or unused.somewhere:
            self._report_unused()
        if self._arrival_order is not None:
            self._rebuild()
        if self.watch is not None:
            self.watch.ends()

    def _collect(self) -> None:
        """Wait for all buckets and divide. If a rank has sent nan or infinity as its weight, all ranks raise."""
        not_finite, buckets = 0.0, self.departure.buckets
        average = self.departure.transport.collect(buckets)
        if self.watch is not None:
            self.watch.collected()
        for bucket in buckets:
            total = bucket.weight
            if not math.isfinite(total):
                not_finite = total if not math.isnan(not_finite) else not_finite
            elif average:
                divide(bucket.gradients, total)
        if not_finite:
            self._raise_everywhere(not_finite)
        if self.check is not None:
            self._compare_weights(buckets[-1].room)

    def _compare_weights(self, room: np.ndarray[Any, Any]) -> None:
        """Compare the weights of all ranks by the sums in `room`; if they differ, all ranks raise."""
        assert self.check is not None
        if self.departure.transport.parted:
            self.check.stop()
        try:
            self.check.compare(room, self.comm, lambda: all(same(bucket.used.tolist(), self.comm.size)
                                                            for bucket in self.buckets))
        except CollectiveError:
            self.clear()
            raise

    def _deliver(self) -> bool:
        """Put the results into .grad. Returns whether all ranks used all parameters."""
        all_used = True
        for bucket in self.departure.buckets:
            all_used &= bucket.deliver(self.comm.size, self.grad_in_bucket)
        if self.accumulation.stashed:
            self.accumulation.add_stashed()
        return all_used

    def _report_unused(self) -> None:
        """Pass the summed flags to UnusedParameters."""
        used_on = {name: int(n) for bucket in self.buckets
                   for name, n in zip(bucket.names, bucket.used.tolist(), strict=True)}
        self.unused.update(self.named, used_on, self.comm.size, counted_elsewhere=self.shared.counted_elsewhere,
                         some_ended=self.joined is not None)

    def _finish_unsummed(self) -> None:
        """End a pass inside no_sync()."""
        if self.state.counts_nothing:
            self.accumulation.restore(p for _, p in self.named)
            self.accumulation.before_pass = []
        self.state.backward_pass = None
        self.accumulation.end_of_pass()

    def _raise_everywhere(self, total: float) -> NoReturn:
        """The sum of weights is nan or infinite, on all ranks: drop the gradients and raise the error that a rank has
        signalled by it.
        """
        problem = self.weights.problem or self.transport.problem
        self.clear()
        if math.isnan(total):
            problems = self.comm.allgather_object([problem])
            texts = [f"rank {rank}: {text}" for rank, text in enumerate(problems) if text]
            raise RuntimeError("; ".join(texts) or "a rank's weight is not a number")
        raise StepSkipped("a rank could not finish this step, so all ranks skip it (model.skipping())")

    def _rebuild(self) -> None:
        """Assign the buckets again, in the order in which the first gradients arrived on rank 0."""
        arrived, self._arrival_order = self._arrival_order or [], None
        if self.transport.fixed_buckets:
            return
        number = {p: i for i, (_, p) in enumerate(self.named)}
        arrived += [p for _, p in reversed(self.named)]            # some occur twice, after a failed pass
        own_order = [number[p] for p in dict.fromkeys(arrived)]
        order = self.comm.broadcast(np.array(own_order, np.int64))[0].tolist()
        buckets = assign_all([self.named[i] for i in reversed(order)], self.cap, self.delayed, self.comm,
                             ROOM if self.check is not None else 0)
        if [b.names for b in buckets] == [b.names for b in self.buckets]:
            return
        old_buckets: list[Bucket] = self.buckets
        self.departure.replace(buckets)
        in_old_buckets = [p for bucket in old_buckets for p in bucket.params if bucket.holds(p)]
        self._take_parameters()
        for p in in_old_buckets:
            self.shared.bucket_of[p].copy_in(p)
        self.stats.rebuilt = True

    # --- gradients with a graph -------------------------------------------------------------------------------------------

    def _begin_grad(self, backward_pass: BackwardPass, call: ForwardCall | None) -> None:
        """Begin an autograd.grad() pass: if it is with respect to parameters, average their gradients when it ends."""
        if self.local:
            side_effect("grad() inside of no_sync()")
        if not (self.enabled and self.averages_grad):
            return
        second_order = self.second_order
        if not second_order.averages(backward_pass):
            params = second_order.requested_parameters(backward_pass)
            if not params:
                return
            self._refuse_recorded("autograd.grad() with respect to parameters", in_grad=False)
            if any(map(EVALUATED, calls_in(backward_pass.marked(), self))):       # join() has refused this pass
                self._check_training()
            second_order.start_grad(backward_pass, params)
            call_at_end(backward_pass, self.number, lambda: self._average(lambda: second_order.finish_grad(backward_pass)))
        if call is not None:
            second_order.reached(backward_pass, call)

    def _begin_recorded(self) -> None:
        """Begin a backward(create_graph=True) pass."""
        self._refuse_recorded("backward(create_graph=True)", in_grad=True)
        if self.weights.passes:
            raise NotImplementedError("backward(create_graph=True) can't follow passes inside no_sync(): zero_grad() first")
        self.second_order.start_recorded({p for bucket in self.buckets for p in bucket.params
                                          if bucket.used[bucket.number_of[p]]})

    def _finish_recorded(self) -> None:
        """End a backward(create_graph=True) pass."""
        if self.state.unannounced:
            self._announce()
        if self.skipping is not None:
            self.skipping.barrier()
        room = np.zeros(0 if self.check is None else ROOM)
        if self.check is not None and self.state.backward_pass is not None:
            self.check.fill(room, self.state.backward_pass.replaced)
        self.state.backward_pass = None
        self._average(lambda: self.second_order.finish_recorded(room))
        if self.check is not None:
            self._compare_weights(room)
        if self.skipping is not None:
            self.skipping.check([p.grad.array for _, p in self.named
                                 if p.grad is not None and p not in self.shared.counted_elsewhere], True)
        self.weights.calls.clear()
        self.stats.summed(0, timed=False)

    def _average(self, finish: Callable[[], None]) -> None:
        """Run a collective of SecondOrder. If a rank's weight is not finite, all ranks raise."""
        try:
            finish()
        except NotFinite:
            self._raise_everywhere(math.nan)

    def _refuse_recorded(self, what: str, in_grad: bool) -> None:
        """NotImplementedError if gradients can't be averaged with their graph. in_grad: they go into .grad, not to the
        caller.
        """
        self.refuse_graphs(what, in_grad)
        if self.joined is not None:
            raise NotImplementedError(f"{what} inside join(): ranks that have run out of batches can't take part in it")

    # --- called by DataParallel, skipping() and join() -------------------------------------------------------------------

    def clear(self) -> None:
        """Set all gradients to None, and discard the weights of their passes."""
        self.state.backward_pass, self.state.unannounced = None, False
        self.accumulation.forget()
        for bucket in self.buckets:
            bucket.forget()
        self.weights.calls.clear()
        self.weights.problem = ""
        for _, p in self.named:
            set_grad(p, None)

    def drop(self) -> None:
        """Wait for the pending sums, and drop them and all gradients."""
        self.transport.drop()
        self.clear()

    def match(self, weight: float) -> None:
        """Start the remaining sums of a pass with gradients of zero and this weight, on a rank that can't compute them."""
        if self.state.backward_pass is None:
            self.departure.start_pass()
        for bucket in self.departure.remaining():
            bucket.fill_with_zeros()
        weights = Weights("rows")
        weights.override = ForwardCall(weight, True)
        try:
            if self.departure.may_launch(final=True):
                self.departure.launch(*weights.factor_and_weight(), True, self._complete, self.state.backward_pass)
        finally:
            self.state.backward_pass = None

    def match_others(self) -> None:
        """Start the remaining sums of a summed pass in which this rank failed, if the others may wait for them."""
        if self.state.others_may_wait and self.transport.can_send_zeros:
            self.match(SKIPPED)

    def shadow(self, weight: float) -> None:
        """Take part in a whole pass of the other ranks with gradients of zero, on a rank that has no batch."""
        self.match(weight)
        self._collect()
        if self._arrival_order is not None:
            self._rebuild()

    def loss_weight(self, call: ForwardCall) -> float:
        """The weight of this rank's loss in the running pass; 1 in a pass whose gradients are not averaged. For layers whose
        gradients cross ranks before they reach the parameters (SyncBatchNorm)."""
        backward_pass = running.passes[-1]
        averages = backward_pass.accumulate or self.second_order.averages(backward_pass)
        weight = self.weights.weight_of({call})[0] if averages else 1.0
        return weight if math.isfinite(weight) else 0.0

    @property
    def before_collective(self) -> Callable[[], object] | None:
        """The function that a layer calls before a collective; None if ranks need not agree on anything first."""
        return None

    def refuse_graphs(self, what: str, in_grad: bool = True) -> None:
        """NotImplementedError if gradients can't have a graph."""

    def refuse_unsummed(self, backward_pass: BackwardPass) -> None:
        """NotImplementedError if gradients of a pass inside no_sync() can't stay on this rank."""


__all__ = ["Reducer", "StepSkipped"]
