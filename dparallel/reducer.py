"""Reducer: sums gradients over ranks while backward still runs.

Gradients live in buckets. When the last gradient of a bucket is there (and every bucket before it has left), it is
multiplied by the rank's weight and a non-blocking allreduce starts. At the end of backward the rest leave, with zeros for
what was not used here; then all are waited for and divided by the sum of the weights. Buckets leave in a fixed order on a
communicator of their own, whatever order they fill in, and on every rank, whatever that rank's loss depends on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd import Function, Tensor, as_tensor
from autograd.engine import current_pass, queue_callback
from autograd.tensor import ensure_hooks

from .bucket_hook import CommHook, GradBucket
from .buckets import Bucket, assign
from .comm import Communicator


class ForwardCall:
    """One call of the module: how many rows it worked on. Its outputs carry it, so that it counts when, and only when,
    a backward pass comes from one of them."""

    def __init__(self, rows: float) -> None:
        self.rows = rows


class Reducer:
    """The buckets of one module on one rank. average: what ranks count by, see DataParallel."""

    def __init__(self, named: list[tuple[str, Tensor]], comm: Communicator, cap_mb: float, average: str) -> None:
        self.comm, self.users_comm = comm.duplicate(), comm
        self.hook: CommHook | None = None
        self.backwards = 0                           # passes that were summed
        self.buckets = assign(named, cap_mb * 2**20)
        self.average = average
        self.enabled = True                          # read when backward begins
        self.calls: set[ForwardCall] = set()         # whose gradients are in the buckets and not summed yet
        self._pass: Any = None                       # the backward pass that is being summed
        self._next = 0                               # the first bucket that has not left
        for bucket in self.buckets:
            for number, (p, view) in enumerate(zip(bucket.params, bucket.views, strict=True)):
                hooks = ensure_hooks(p)
                hooks.home = view
                p.register_post_accumulate_grad_hook(self._arrival(bucket, number))

    def _arrival(self, bucket: Bucket, number: int) -> Any:
        def arrived(p: Tensor) -> None:
            if not self.begin():
                return
            if p._grad is not None and p._grad.array is not bucket.views[number]:
                self._bring_home(p, bucket.views[number])
            bucket.used[number] = 1
            bucket.waiting -= 1
            if bucket.waiting == 0:
                self._leave(final=False)

        return arrived

    @staticmethod
    def _bring_home(p: Tensor, view: Any) -> None:
        """A gradient that was set by hand, or made with a graph, moves into the bucket."""
        grad = p._grad
        if grad.edge is None:
            view[...] = grad.array
            p._grad = as_tensor(view)
        else:
            raise RuntimeError("backward(create_graph=True) would put gradients with a graph into .grad, and summing them "
                               "over ranks would cut it; use autograd.grad(..., create_graph=True) and backward() on "
                               "what you make of it")

    def begin(self, call: ForwardCall | None = None) -> bool:
        """Called as soon as a backward pass concerns the module: whether this pass is summed over ranks."""
        walk = current_pass()
        if walk is None or not walk.accumulate:
            return False
        if self._pass is not None and walk is not self._pass:
            self._pass = None                        # that pass ended in an exception: what it counted is void
            self.calls.clear()
        if call is not None:
            self.calls.add(call)
        if not self.enabled:
            return False
        if walk is not self._pass:
            self._pass, self._next = walk, 0
            for bucket in self.buckets:
                bucket.waiting, bucket.handle = len(bucket.params), None
                bucket.used[...] = 0
            queue_callback(self._finish)
        return True

    def _weight(self) -> float:
        """What this rank's gradients count in the mean."""
        if self.average != "rows":
            return 1.0
        if not self.calls:
            raise RuntimeError("backward() reached parameters of a DataParallel module, but none of its outputs, so the "
                               "rows that this loss stands for are unknown; pass average='ranks' or 'sum'")
        return sum(call.rows for call in self.calls)

    def _leave(self, final: bool) -> None:
        """Start the allreduce of every bucket that may go: full ones in order; at the end all."""
        weight = 0.0 if self._next == len(self.buckets) else self._weight()
        if self.hook is not None and self._next == 0:
            self._agree_on_scale(weight)
        while self._next < len(self.buckets):
            bucket = self.buckets[self._next]
            if bucket.waiting > 0 and not final:
                return
            if bucket.waiting > 0:
                for p, view, used in zip(bucket.params, bucket.views, bucket.used, strict=True):
                    if not used and p._grad is None:
                        view[...] = 0
                    elif not used and p._grad.array is not view:
                        self._bring_home(p, view)
            if weight == 0.0:
                bucket.gradients[...] = 0            # also what is nan: the mean over no rows
            if self.hook is not None:
                self._hand_to_hook(self.hook, bucket)
            else:
                if weight not in (0.0, 1.0):
                    bucket.gradients *= weight
                bucket.buffer[-1] = weight
                bucket.handle = self.comm.start_sum_in_place([bucket.buffer])
            self._next += 1

    def _finish(self) -> None:
        """The end of backward: all buckets have left, are waited for, and divided."""
        self._leave(final=True)
        self._pass = None
        self.calls.clear()
        self.backwards += 1
        if self.hook is not None:
            self._receive_from_hook(self.hook)
        for bucket in self.buckets:
            if self.hook is None:
                bucket.handle.wait()
                total = bucket.weight
                if self.average != "sum" and total not in (0.0, 1.0):
                    bucket.gradients /= total
            for p, view, used in zip(bucket.params, bucket.views, bucket.used, strict=True):
                if used and (p._grad is None or p._grad.array is not view):
                    p._grad = as_tensor(view)        # used on some rank, though not here; else it stays None

    # --- with a comm hook -------------------------------------------------------------------------------------------

    def _agree_on_scale(self, weight: float) -> None:
        """What this rank's gradients are multiplied by, so that their plain mean over ranks is right."""
        size = float(self.comm.size)
        total = size if self.average == "ranks" else 1.0 if self.average == "sum" else self.users_comm.total(weight)
        self._scale = weight * size / total if total else 0.0

    def _hand_to_hook(self, hook: CommHook, bucket: Bucket) -> None:
        """Scale a bucket and call the hook."""
        if self._scale not in (0.0, 1.0):
            bucket.gradients *= self._scale
        given = GradBucket(bucket, self._next, self._next == len(self.buckets) - 1, self.users_comm)
        bucket.handle = given, hook.start(given)

    def _receive_from_hook(self, hook: CommHook) -> None:
        """Wait for all buckets, and sum the flags, which did not travel with them."""
        for bucket in self.buckets:
            given, returned = bucket.handle
            hook.finish(given, returned, bucket.gradients)
            bucket.handle = None
        flags = np.concatenate([bucket.used for bucket in self.buckets]).astype(np.float32)
        flags = self.users_comm.allreduce([flags])[0]
        for bucket in self.buckets:
            bucket.used[...], flags = flags[:len(bucket.params)], flags[len(bucket.params):]


class Sink(Function):
    """Identity on a module's output: tells the reducer that backward has begun, also on a rank where no parameter
    gets a gradient. Its backward goes through it again, for passes over the graph of a backward pass."""

    always_runs = True

    @staticmethod
    def forward(ctx: Any, x: Tensor, *, reducer: Reducer, call: ForwardCall) -> Tensor:
        """x."""
        ctx.reducer, ctx.call = reducer, call
        return x

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        """g."""
        ctx.reducer.begin(ctx.call)
        return Sink.apply(g, reducer=ctx.reducer, call=ctx.call)

    @staticmethod
    def jvp(ctx: Any, tangent: Any) -> Any:
        """The tangent: forward mode concerns this rank's rows only."""
        return tangent
