"""Reducer: sums gradients over ranks while backward still runs.

Gradients live in buckets. When the last gradient of a bucket is there (and every bucket before it has left), it is
multiplied by the rank's weight and a non-blocking allreduce starts. At the end of backward the rest leave, with zeros for
what was not used here; then all are waited for and divided by the sum of the weights. Buckets leave in a fixed order on a
communicator of their own, whatever order they fill in, and on every rank, whatever that rank's loss depends on.

After the first backward the buckets are filled anew in the order in which rank 0's gradients came. What a rank has to say
to the others (a mistake, a step that it could not finish) travels in the place of its weight.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from autograd import Tensor, as_tensor
from autograd.core.graph import shared_counter
from autograd.core.tensor import ensure_hooks
from autograd.core.walk import running
from autograd.kernels.halves import scale

from ..comm import Communicator
from ..comm.persistent import divide
from ..comm.reference import is_half
from .buckets import Bucket, assign_all
from .pass_ends import at_end, made
from .second_order import GraphPasses
from .shared_parameters import Sharing
from .sink import calls_in, crosses, reenters
from .stats import Logbook
from .transport import Hooked, Summed
from .unused import Unused
from .weights import ForwardCall, Weights

NO, NESTED, SUMMED, RECORDED = range(4)              # what becomes of a pass: NO: its gradients stay on this rank

MSG_GRAPH = ("{name}.grad has a graph, from backward(create_graph=True) inside no_sync() or from your own hand, and summing "
             "it over ranks would cut that; set .grad to None first, or use autograd.grad(..., create_graph=True)")

MSG_TWICE = ("{name} got a second gradient, from a backward pass inside the pass, after its sum over ranks had begun; say "
             "`reenters = True` in the Function whose backward runs that pass, and sums wait for it")


class StepSkipped(RuntimeError):
    """A rank could not finish its step. Raised on all ranks by backward(); `with model.skipping()` ends it."""


class Place:
    """Where one parameter's gradient lives."""

    __slots__ = ("bucket", "name", "number", "view")

    def __init__(self, name: str) -> None:
        self.name = name

    def move(self, bucket: Bucket, number: int) -> None:
        """Take the place `number` in a bucket."""
        self.bucket, self.number, self.view = bucket, number, bucket.views[number]


class Reducer:
    """The buckets of one module on one rank. average: what ranks count by, see DataParallel. delayed: names of parameters
    that leave last, in buckets of their own. rebuild: whether buckets follow the order in which gradients came first."""

    place: Any = Place                               # what knows where a parameter's gradient lives

    def __init__(self, named: list[tuple[str, Tensor]], comm: Communicator, cap_mb: float, average: str, *,
                 delayed: frozenset[str] = frozenset(), rebuild: bool = True, unused: Unused | None = None) -> None:
        self.comm, self.users_comm, self.number = comm.duplicate(), comm, next(made)
        self.named, self.delayed, self.cap = named, delayed, cap_mb * 2**20
        self.buckets = self._make_buckets()
        self.weights = Weights(average, comm.size == 1)
        self.unused = unused or Unused()
        self.log = Logbook()
        self.enabled = True                          # read when backward begins
        self.views = True                            # whether .grad is a view of its bucket, or memory of its own
        self.caution: Any = None                     # of model.skipping(), while inside
        self.joined: Any = None                      # of model.join(), while inside
        self.transport = self._make_transport()
        self.places = {p: self.place(name) for name, p in named}
        self.sharing = Sharing(self)
        self.graph_passes = GraphPasses(self)
        self._pass: Any = None                       # the backward pass that is running
        self._kind = NO
        self._next = 0                               # the first bucket that has not left
        self._agreed = False                         # what gradients are multiplied by, see Transport.agree()
        self._void = False                           # the pass counts nothing
        self._unmet = False                          # the pass has begun, and has not met the other ranks
        self._more = False                           # buckets wait for the end of the pass: more may come to any of them
        self._set_aside: list[tuple[Tensor, Any]] = []    # summed gradients that new ones are added to, after their sum
        self._restored: list[tuple[Tensor, Any]] = []     # what a pass that counts nothing must leave as it was
        self._kept: list[tuple[Bucket, int, Any]] = []    # places of unused gradients, with what was there
        self._zeros: dict[int, int] = {}             # gradients of 0 that wait to be summed, with their versions
        self._arrived: list[Tensor] | None = [] if rebuild and len(self.buckets) > 1 else None
        self._settle()

    def _make_buckets(self) -> list[Any]:
        return assign_all(self.named, self.cap, self.delayed, self.comm)

    def _make_transport(self) -> Any:
        narrow = any(is_half(bucket.buffer.dtype) for bucket in self.buckets)
        return Hooked(self.users_comm, self.comm, None) if narrow else Summed(self.comm, self.weights.average == "rows")

    def _settle(self) -> None:
        """Give every parameter its place in the buckets."""
        self._nbytes = [bucket.nbytes for bucket in self.buckets]
        for bucket in self.buckets:
            for number, p in enumerate(bucket.params):
                self.places[p].move(bucket, number)
                hooks = ensure_hooks(p)
                if hooks.tally is not None:
                    self.sharing.meet(p, hooks.tally)
                hooks.home, hooks.tally = bucket.views[number], bucket
            bucket.reducer = self

    # --- while backward runs ------------------------------------------------------------------------------------------

    def arrived(self, p: Tensor) -> None:
        """A parameter has got a gradient that its bucket did not simply count: the first of a pass, one from a pass within
        the pass, one in other memory."""
        kind = self.begin(None, p)
        if kind == NO:
            return
        place = self.places[p]
        bucket, number = place.bucket, place.number
        if kind == RECORDED:
            bucket.used[number] = 1
            return
        if p._grad is not None and p._grad.array is not place.view:
            self._bring_home(p, place)
        if self._arrived is not None and not bucket.used[number]:
            self._arrived.append(p)
        bucket.used[number] = 1
        if kind == NESTED:                           # a pass inside the pass may bring more: wait for the end
            if any(left is bucket for left in self.buckets[:self._next]):
                raise RuntimeError(MSG_TWICE.format(name=place.name))
            return
        bucket.left -= 1
        if bucket.left == 0:
            self.leave()

    def leave(self) -> None:
        """A bucket is full: it and those that wait for it leave, unless all wait for the end of the pass."""
        if not self._more and not self._unmet:
            self._leave(final=False)

    @staticmethod
    def _bring_home(p: Tensor, place: Place) -> None:
        """A gradient that was set by hand moves into the bucket."""
        grad: Any = p._grad
        if grad.edge is not None:
            raise RuntimeError(MSG_GRAPH.format(name=place.name))
        np.copyto(place.view, grad.array, casting="same_kind")
        p._grad = as_tensor(place.view)

    def begin(self, call: ForwardCall | None = None, arrived: Tensor | None = None) -> int:
        """Called as soon as a backward pass concerns the module, by an output or an arrived gradient: what becomes of it."""
        walks = running.walks
        if not walks:
            return NO
        walk = walks[-1]
        if walk is not self._pass:
            if not walk.accumulate:
                self.graph_passes.meet(walk, call)
                return NO
            if self._pass is not None and self._pass in walks:
                if call is not None:
                    self.weights.calls.add(call)
                return NESTED if self._kind == SUMMED else NO
            self._start(walk, call, arrived)
        elif call is not None:
            self.weights.calls.add(call)
            if self._unmet:
                self._meet_others()
        return self._kind

    def _start(self, walk: Any, call: ForwardCall | None, arrived: Tensor | None) -> None:
        """The first that is seen of a pass."""
        weights = self.weights
        if self._pass is not None:                   # that pass ended in an exception: what it counted is void
            self._pass, self._unmet = None, False
            self.transport.drop()
        weights.calls.clear()
        if call is not None:
            weights.calls.add(call)
        self._pass, self._next, self._void, self._agreed = walk, 0, False, False
        self._restored, self._kept = [], []
        if self.sharing.params:
            self.sharing.claim(walk)
        if weights.passes or (self._set_aside or not self.enabled or weights.average == "sum"):
            self._prepare(walk, [(p, g) for p, g in self._held() if p is not arrived and p not in self.sharing.prepared])
        if not self.enabled:
            self.refuse_unsummed(walk)
            self._kind = NO
            at_end(walk, self.number, self._end_unsummed)
            return
        self._kind = RECORDED if walk.create else SUMMED
        marked = walk.marked()
        alone = call is not None and len(marked) == 1 == len(marked[0].calls)      # the node that called, as mostly
        self._more = self.transport.unsure or (not alone and (
            reenters(marked) or (self.transport.blocks and crosses(marked, self))))
        looked_at = walk.create or self._more or self._arrived is not None
        for bucket in self.buckets:
            bucket.begin(None if looked_at else walk)
        if not alone:
            weights.calls |= calls_in(marked, self)  # a parameter's gradient may come before it passes an output
        self._unmet = True
        if call is not None or not weights.calls:
            self._meet_others()                      # else at the output's node, where ranks without this leaf's gradient do
        if walk.create:
            self.graph_passes.start()
        at_end(walk, self.number, self._finish_recorded if walk.create else self._finish)

    def _meet_others(self) -> None:
        """The collectives on the user's communicator that begin a pass. They start at the node of the module's output, which
        has one place among the pass's collectives on all ranks: a leaf that the loss uses may come at any."""
        self._unmet = False
        if self.caution is not None:
            self.caution.announce()
        self.meet_training(self.weights.calls)
        if self.joined is not None:
            self.joined.backward_begins(self.weights.of(self.weights.calls)[1])
        if self.log.sampling:
            self.log.backward_begins()

    def meet_training(self, calls: Any) -> None:
        """After forward passes in evaluation mode: an error on all ranks if others wait in a collective of training."""
        for call in calls:
            if call.evaluated and self.joined is None:
                return self.users_comm.meet("backward_in_evaluation_mode")

    # --- passes that add up -------------------------------------------------------------------------------------------

    def _held(self) -> list[tuple[Tensor, Any]]:
        """The parameters that have a gradient, with its array; but those that another reducer counts."""
        return [(p, p._grad.array) for _, p in self.named if p._grad is not None and p not in self.sharing.elsewhere]

    def dropped(self) -> bool:
        """Whether the user has dropped the gradients that wait to be summed: all are gone, or zeros that they were not."""
        waiting: list[Any] = [p._grad for p, _ in self._held()]
        return not any(g.array.any() for g in waiting) and (
            not waiting or any(self._zeros.get(id(g)) != g._version for g in waiting))

    def forget_dropped(self) -> None:
        """Nothing waits any more where the user has dropped it."""
        if self.weights.passes and self.dropped():
            self.weights.forget()
            self.unused.forget_steps(self)
            self._set_aside = []

    def _prepare(self, walk: Any, held: list[tuple[Tensor, Any]]) -> None:
        """Bring what earlier passes left into proportion with the pass that begins."""
        weights = self.weights
        self.forget_dropped()
        if not weights.passes:
            if held and (not self.enabled or weights.average == "sum"):
                self._set_aside += [(p, g.copy()) for p, g in held]
                for p, _ in held:
                    p._grad = None
            return
        weight, given = weights.of(self.graph_passes.calls_in(walk))
        if weight == 0.0 and (given or weights.average != "sum"):
            self._restored, self._void = self._restored + [(p, g.copy()) for p, g in held], True
        elif weights.average != "sum" and weight != weights.scale:
            for _, g in held:
                if weights.scale:
                    scale(g, weights.scale / weight)
                else:
                    g[...] = 0                       # also what is nan
            weights.scale = weight

    def _restore(self, params: Iterable[Tensor]) -> None:
        """After a pass that counts nothing: these gradients as they were before."""
        before = {id(p): array for p, array in self._restored}
        for p in params:
            if p._grad is not None:
                p._grad.array[...] = before.get(id(p), 0)

    def _end_unsummed(self) -> None:
        """The end of a pass inside no_sync()."""
        if self._void:
            self._restore(p for _, p in self.named)
            self._restored = []
        self.weights.end_of_pass()
        self._pass = None
        waiting = [p._grad for _, p in self.named if p._grad is not None]
        self._zeros = {} if any(g.array.any() for g in waiting) else {id(g): g._version for g in waiting}
        self.unused.watch_steps(self)

    # --- leaving and coming back --------------------------------------------------------------------------------------

    def _leave(self, final: bool) -> None:
        """Start the allreduce of every bucket that may go: full ones in order; at the end all."""
        if self._next == len(self.buckets) or (self.buckets[self._next].left > 0 and not final):
            return
        if self._next == 0 and self.log.sampling:
            self.log.communication_begins()
        transport = self.transport
        factor, weight = self.weights.final()
        if not self._agreed:                         # once in a pass: it may be a collective
            self._agreed = True
            factor = transport.agree(factor, weight, self.buckets)
        else:
            factor = transport.again(factor, weight)
        while self._next < len(self.buckets):
            bucket = self.buckets[self._next]
            if (bucket.left > 0 and not final) or not transport.ready(bucket, final):
                return
            bucket.end()
            if bucket.left > 0:
                self._fill(bucket)
            if self._void:
                self._restore(bucket.params)         # now, not at the end: buckets leave in step with other ranks'
            gradients = bucket.gradients
            if factor == 0.0:
                gradients[...] = 0                   # also what is nan: the mean over no rows
            elif factor != 1.0:
                scale(gradients, factor)
            transport.start(bucket, weight, self._next, self._next == len(self.buckets) - 1)
            self._next += 1
            if self._pass is not None and self._go_on not in self._pass.meanwhile:
                self._pass.meanwhile.append(self._go_on)

    def _go_on(self) -> None:
        """Between two nodes of the pass: what is on its way goes on, until all of it is back."""
        if self.transport.progress():
            self._pass.meanwhile.remove(self._go_on)

    def _fill(self, bucket: Bucket) -> None:
        """Zeros for what was not used here, or the gradient that was there before, which stays if no rank used it."""
        for number, (p, view) in enumerate(zip(bucket.params, bucket.views, strict=True)):
            if bucket.used[number]:
                continue
            grad = p._grad
            if grad is None or p in self.sharing.elsewhere:
                view[...] = 0
            elif self.weights.passes:                # it was used in a pass before
                bucket.used[number] = 1
                if grad.array is not view:
                    self._bring_home(p, self.places[p])
            elif grad.array is view:
                self._kept.append((bucket, number, view.copy()))
            else:
                np.copyto(view, grad.array, casting="same_kind")

    def _finish(self) -> None:
        """The end of backward: all buckets have left, are waited for, and divided."""
        log = self.log
        if log.sampling:
            log.backward_computed()
        if self._unmet:
            self._meet_others()
        first = self.transport.unsure                # then to leave is to wait for the others, who meet first
        if first and self.caution is not None:
            self.caution.announce()
        self._leave(final=True)
        self._pass, self._void, self._restored = None, False, []
        if self.caution is not None and not first:
            self.caution.announce()
        self._collect()
        if self.caution is not None:
            self.caution.check([bucket.gradients for bucket in self.buckets], self.transport.same_everywhere)
        all_used = self._deliver()
        if self.weights.passes:
            self.unused.forget_steps(self)
        self.weights.forget()
        self.weights.calls.clear()
        log.summed(self.transport.bytes_sent or self._nbytes)
        if not all_used or self.unused.watches:
            self.unused.look(self)
        if self._arrived is not None:
            self._rebuild()

    def _deliver(self) -> bool:
        """Put the results into .grad; whether all ranks used all parameters."""
        size, all_used = float(self.comm.size), True
        for bucket in self.buckets:
            for p, view, used in zip(bucket.params, bucket.views, bucket.used.tolist(), strict=True):
                if used < size:
                    all_used = False
                if used and not self.views:
                    self._copy(p, view)
                elif used and (p._grad is None or p._grad.array is not view):
                    p._grad = as_tensor(view)        # used on some rank, though not here; else it stays None
        for bucket, number, before in self._kept:
            if not bucket.used[number]:
                bucket.views[number][...] = before
        self._kept = []
        if self._set_aside:
            self._add_what_was_there()
        return all_used

    def _copy(self, p: Tensor, view: Any) -> None:
        """Put a result into memory that is not the bucket's: the gradient's own, if it has some."""
        if p._grad is None or p._grad.array is view:
            p._grad = as_tensor(view.copy())
        elif p._grad.array is not view:
            np.copyto(p._grad.array, view)
            shared_counter(p._grad).value += 1

    def _collect(self) -> None:
        """Wait for all buckets and divide; raise, on all ranks, what one of them had to say."""
        worst = 0.0
        average = self.transport.collect(self.buckets)
        for bucket in self.buckets:
            total = bucket.weight
            if not math.isfinite(total):
                worst = total if not math.isnan(worst) else worst
            elif average:
                divide(bucket.gradients, total)
        if worst:
            self.refuse(worst)

    def refuse(self, total: float) -> None:
        """Weights that are not finite came back, on all ranks: drop the gradients and raise what they stand for."""
        problem = self.weights.problem or self.transport.problem
        self.clear()
        if math.isnan(total):
            everyone = self.comm.allgather_object([problem])
            texts = [f"rank {rank}: {text}" for rank, text in enumerate(everyone) if text]
            raise RuntimeError("; ".join(texts) or "a rank's weight is not a number")
        raise StepSkipped("a rank could not finish this step, and all skip it (model.skipping())")

    def clear(self) -> None:
        """Forget all gradients and what they counted."""
        self._pass, self._unmet = None, False
        self._set_aside, self._restored, self._kept = [], [], []
        self.weights.forget()
        self.weights.calls.clear()
        self.weights.problem = ""
        self.unused.forget_steps(self)
        for _, p in self.named:
            p._grad = None

    def match(self, weight: float) -> None:
        """Start what is left of the sums of a pass that this rank has no gradients for: zeros, with this weight."""
        if self._pass is None:
            self._next, self._agreed = 0, False
        for bucket in self.buckets[self._next:]:
            bucket.empty()
        weights, self.weights = self.weights, Weights("rows")
        self.weights.inside = ForwardCall(weight, True)
        try:
            self._leave(final=True)
        finally:
            self.weights, self._pass = weights, None

    def shadow(self, weight: float) -> None:
        """Take part in a pass of the other ranks, with zeros."""
        self.match(weight)
        self._collect()
        if self._arrived is not None:
            self._rebuild()

    def counts(self, call: ForwardCall) -> float:
        """What this rank's loss counts in the running pass, for gradients that cross ranks inside the module on their way to
        parameters; 1 in a pass whose gradients are not averaged."""
        walk = running.walks[-1]
        weight = self.weights.of({call})[0] if walk.accumulate or self.graph_passes.averages(walk) else 1.0
        return weight if math.isfinite(weight) else 0.0

    def refuse_graphs(self, what: str, kept: bool = True) -> None:
        """NotImplementedError where gradients, which are kept in .grad or handed out, can't be averaged with their graph."""

    @property
    def meet(self) -> Any:
        """What a layer calls before it communicates; None: there is nothing to agree on."""
        return None

    def refuse_unsummed(self, walk: Any) -> None:
        """NotImplementedError where gradients of this pass, inside no_sync(), can't stay on this rank."""

    def is_under_way(self) -> bool:
        """Whether a summed pass has begun and not ended: some ranks may be waiting for this one."""
        return self._pass is not None and self._kind == SUMMED and not self._unmet

    def drop(self) -> None:
        """Wait for what is on its way, and forget it and all gradients."""
        self.transport.drop()
        self.clear()

    def _add_what_was_there(self) -> None:
        for p, before in self._set_aside:
            if p._grad is None:
                p._grad = as_tensor(before)
            else:
                p._grad.array[...] += before
        self._set_aside = []

    def _finish_recorded(self) -> None:
        """The end of backward(create_graph=True)."""
        if self._unmet:
            self._meet_others()
        if self.caution is not None:
            self.caution.announce()
        self._pass = None
        self.graph_passes.finish()
        if self.caution is not None:
            self.caution.check([g for _, g in self._held()], True)
        self.weights.calls.clear()
        self.log.summed([])

    def _rebuild(self) -> None:
        """Fill the buckets anew, in the order in which the first gradients came on rank 0."""
        arrived, self._arrived = self._arrived or [], None
        if isinstance(self.transport, Hooked):       # hooks keep state by the bucket's number
            return
        number = {p: i for i, (_, p) in enumerate(self.named)}
        arrived += [p for _, p in reversed(self.named)]            # and some came twice, where a pass did not end well
        here = [number[p] for p in dict.fromkeys(arrived)]
        order = self.comm.broadcast(np.array(here, np.int64))[0].tolist()
        named = [self.named[i] for i in reversed(order)]
        buckets = assign_all(named, self.cap, self.delayed, self.comm)
        if [b.names for b in buckets] == [b.names for b in self.buckets]:
            return
        old = {p: self.places[p].view for _, p in self.named}
        self.buckets = buckets
        self._settle()
        for p, view in old.items():
            if p._grad is not None and p._grad.array is view:
                np.copyto(self.places[p].view, view)
                p._grad = as_tensor(self.places[p].view)
        self.log.rebuilt = True


__all__ = ["Reducer", "StepSkipped"]
