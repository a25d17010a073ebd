"""Passes whose gradients are more than numbers in a bucket: autograd.grad() with respect to parameters, and create_graph.

One recorded collective averages them at the end of the pass, on a communicator of their own: on all ranks, in the order of
the parameters, whatever order they came in. Buckets can't: their sum has no graph, and starts before the pass has ended.

With c_r = w_r / (sum of w), DataParallel trains on the sum over ranks of c_r * loss_r. If rank s's loss contains the
averaged gradient a = sum over r of c_r g_r, that objective's derivative reaches g_r as c_r * (sum over s of c_s u_s), with
u_s the derivative of rank s's loss with respect to a. What rank r sends back through its own graph is multiplied by c_r in
the end, so it starts from the sum of c_s u_s: the backward of the weighted mean is the weighted mean itself, to any order.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograd import Function, Tensor, as_tensor
from autograd.core.engine import running
from autograd.core.modes import GRAD

from ..comm import Communicator
from ..pytree.flat_arrays import unflatten
from .backward_signal import PassListener
from .weights import ForwardCall, Weights


class NotFinite(FloatingPointError):
    """A rank's weight came back that is not finite; the reducer knows what it stands for."""


@dataclass
class GradPass:
    """One autograd.grad() pass: the parameters that it asks for, and the calls of the module that it has reached."""

    params: list[Tensor]
    calls: set[ForwardCall] = field(default_factory=set)


class SecondOrder:
    """The gradients of such passes of one reducer, `listener`."""

    def __init__(self, listener: PassListener, named: list[tuple[str, Tensor]], users_comm: Communicator,
                 weights: Weights) -> None:
        self.listener, self.named, self.users_comm, self.weights = listener, named, users_comm, weights
        self._comm: Communicator | None = None
        self._grad_passes: dict[Any, GradPass] = {}  # by walk
        self._before: list[tuple[Tensor, Tensor]] = []

    @property
    def comm(self) -> Communicator:
        """Duplicated on first use, which all ranks come to together."""
        if self._comm is None:
            self._comm = self.users_comm.duplicate()
        return self._comm

    # --- autograd.grad() ----------------------------------------------------------------------------------------------

    def averages(self, walk: Any) -> bool:
        """Whether this grad() pass asks for parameters, and its gradients are averaged when it ends."""
        return walk in self._grad_passes

    def parameters_asked_for(self, walk: Any) -> list[Tensor]:
        """The parameters with respect to which a grad() pass differentiates."""
        if walk.targets is None:
            return []
        return [p for _, p in self.named if p.accumulator is not None and p.accumulator() in walk.targets]

    def start_grad(self, walk: Any, params: list[Tensor]) -> None:
        """Average the gradients of these parameters when the pass ends."""
        alive = [*running.passes, walk]               # others ended in exceptions
        self._grad_passes = {w: entry for w, entry in self._grad_passes.items() if w in alive}
        self._grad_passes[walk] = GradPass(params)

    def reached(self, walk: Any, call: ForwardCall) -> None:
        """The grad() pass comes from this call of the module."""
        self._grad_passes[walk].calls.add(call)

    def finish_grad(self, walk: Any) -> None:
        """The end of a grad() pass: put the averages where it will find them."""
        entry = self._grad_passes.pop(walk)
        captured = [walk.captures.get(p.accumulator(), {}).get(0, []) for p in entry.params]
        grads = [next((results[0] for results in lists if results), None) for lists in captured]
        for g, lists in zip(self._averaged(grads, entry.params, entry.calls), captured, strict=True):
            for results in lists:
                results[:] = [] if g is None else [g]

    def _averaged(self, grads: list[Any], params: list[Tensor], calls: set[ForwardCall]) -> list[Any]:
        """Averaged over ranks by what the calls count."""
        factor, weight = self.weights.final_of(calls)
        return averaged(grads, params, self.comm, factor, weight, reducer=self.listener, calls=calls)

    # --- backward(create_graph=True) ----------------------------------------------------------------------------------

    def start_recorded(self, arrived: Collection[Tensor]) -> None:
        """A recorded pass has begun: set aside what .grad holds, so that its gradients are averaged alone. arrived: the
        parameters that have got their gradient of this pass already."""
        self._before = [(p, p._grad) for _, p in self.named if p._grad is not None and p not in arrived]
        for p, _ in self._before:
            p._grad = None

    def finish_recorded(self) -> None:
        """The end of a recorded pass: .grad gets the averages, with their graph."""
        params = [p for _, p in self.named]
        found = self._averaged([p._grad for p in params], params, set(self.weights.calls))
        before = dict(self._before)
        self._before = []
        for p, g in zip(params, found, strict=True):
            earlier = before.get(p)
            p._grad = earlier if g is None else g if earlier is None else earlier + g


class Averaged(Function):
    """Tensors of every rank -> their sum over ranks, each multiplied by its rank's share, on every rank. Collective.

    Like BackwardSignal, its backward tells the reducer that a pass comes from these calls of the module: on a rank without
    rows, or with a loss that is linear, no other node of that pass may know.
    """

    always_runs = True
    asks = True

    @classmethod
    def records(cls, node: Any, tracked: int, settings: dict[str, Any]) -> int:
        """Always where recording is on: the same on all ranks, whatever they hold."""
        node.agreed = GRAD
        return GRAD

    @staticmethod
    def forward(ctx: Any, *gs: Tensor, comm: Communicator, share: float, reducer: PassListener,
                calls: Collection[ForwardCall]) -> Any:
        """One allreduce of all of them."""
        ctx.reducer, ctx.calls = reducer, calls
        ctx.settings = {"comm": comm, "share": share, "reducer": reducer, "calls": calls}
        flat = np.concatenate([g.array.reshape(-1) for g in gs]) * share if share else np.zeros(
            sum(g.array.size for g in gs), np.result_type(*[g.array.dtype for g in gs]))
        total = comm.allreduce([flat])[0]
        return tuple(as_tensor((view if g.array.dtype.kind == "c" else view.real).astype(g.array.dtype))
                     for g, view in zip(gs, unflatten(total, [g.array.shape for g in gs]), strict=True))

    @staticmethod
    def backward(ctx: Any, *us: Tensor) -> Any:
        """The same sum of the gradients."""
        calls: Iterable[ForwardCall | None] = ctx.calls or (None,)
        for call in calls:
            ctx.reducer.begin(call)
        return Averaged.apply(*us, **ctx.settings)


def averaged(grads: Sequence[Any], likes: Sequence[Any], comm: Communicator, factor: float, weight: float, *,
             reducer: PassListener, calls: Collection[ForwardCall]) -> list[Any]:
    """The gradients (None: unused on this rank) averaged over ranks; None where no rank has one. Collective.

    factor, weight: as Weights.final_of() gives them. likes: the parameters. NotFinite if a weight is not finite.
    """
    used = np.array([g is not None for g in grads], np.float64)
    summed = comm.allreduce([np.append(used, weight)])[0]
    total = float(summed[-1])
    if not math.isfinite(total):
        raise NotFinite("a rank's weight is not finite")
    share = factor / (total or 1.0)
    filled = [as_tensor(np.zeros_like(p.array)) if g is None else g for g, p in zip(grads, likes, strict=True)]
    results = Averaged.apply(*filled, comm=comm, share=share, reducer=reducer, calls=tuple(calls))
    return [y if n else None for y, n in zip(results, summed[:-1], strict=True)]
