"""Averages of gradients with a graph: backward(create_graph=True), and autograd.grad() with respect to parameters.

One recorded collective on a separate communicator averages all gradients at the end of the pass, on all ranks, in the
order of the parameters. Buckets can't be used: their sums have no graph, and start before the pass has ended.

With c_r = w_r / (sum of w), DataParallel trains on the sum over ranks of c_r * loss_r. If rank s's loss contains the
averaged gradient a = sum over r of c_r g_r, that objective's derivative reaches g_r as c_r * (sum over s of c_s u_s), with
u_s the derivative of rank s's loss with respect to a. What rank r sends back through its own graph is multiplied by c_r in
the end, so it starts from the sum of c_s u_s: the backward of the weighted mean is the weighted mean itself, to any order.
Where the pass comes from other calls than the average, as in MAML, its weights o_r may differ: it starts from the sum of
o_s u_s, times c_r / o_r.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograd.core.engine import BackwardPass, running
from autograd.core.grad_buffers import set_grad
from autograd.core.modes import GRAD
from autograd.core.tensor import edge_of
from autograd.kernels.halves import converted

from ..autograd import Function, Tensor, as_tensor
from ..comm import Communicator
from ..pytree.flat_arrays import unflatten
from .backward_signal import PassListener, calls_in
from .weights import ForwardCall, Weights

MSG_LEFT_OUT = ("a loss of weight 0 on this rank depends on averaged gradients to which this rank's rows have "
                "contributed, so their part would be lost; give it a weight above 0 with model.weighted()")


class NotFinite(FloatingPointError):
    """The sum of the ranks' weights is nan or infinite, which the Reducer turns into an error on all ranks."""


@dataclass
class GradPass:
    """An autograd.grad() pass: the parameters that it differentiates by, or fast weights in their place, and the calls of
    the module that it has reached.
    """

    params: list[Tensor]
    calls: set[ForwardCall] = field(default_factory=set)


class SecondOrder:
    """Averages the gradients of such passes of one reducer, `listener`."""

    def __init__(self, listener: PassListener, named: list[tuple[str, Tensor]], users_comm: Communicator,
                 weights: Weights, enabled: Callable[[], bool]) -> None:
        self.enabled: Callable[[], bool] = enabled   # whether gradients are summed over ranks: not in no_sync()
        self.listener: PassListener = listener
        self.named: list[tuple[str, Tensor]] = named
        self.users_comm: Communicator = users_comm
        self.weights: Weights = weights
        self._comm: Communicator | None = None
        self._grad_passes: dict[BackwardPass, GradPass] = {}
        self._stashed: list[tuple[Tensor, Tensor]] = []

    @property
    def comm(self) -> Communicator:
        """A duplicate of the user's communicator, created on first use, which is collective."""
        if self._comm is None:
            self._comm = self.users_comm.duplicate()
        return self._comm

    # --- autograd.grad() ----------------------------------------------------------------------------------------------

    def averages(self, backward_pass: BackwardPass) -> bool:
        """Whether this is a grad() pass with respect to parameters, whose gradients are averaged when it ends."""
        return backward_pass in self._grad_passes

    def requested_parameters(self, backward_pass: BackwardPass) -> list[Tensor]:
        """The parameters with respect to which a grad() pass differentiates, and fast weights that replaced them."""
        if backward_pass.targets is None:
            return []
        fast = [(edge[0].seq, edge[1], t) for call in calls_in(backward_pass.marked(), self.listener) for t in call.fast
                if (edge := t.edge) is not None]
        fast.sort(key=lambda found: found[:2])       # the same on all ranks
        return [t for t in dict.fromkeys([*(p for _, p in self.named), *(t for *_, t in fast)])
                if (edge := edge_of(t)) is not None and edge[0] in backward_pass.targets]

    def start_grad(self, backward_pass: BackwardPass, params: list[Tensor]) -> None:
        """Average the gradients of these parameters when the pass ends."""
        alive = [*running.passes, backward_pass]               # without passes that ended in an exception
        self._grad_passes = {w: entry for w, entry in self._grad_passes.items() if w in alive}
        self._grad_passes[backward_pass] = GradPass(params)

    def reached(self, backward_pass: BackwardPass, call: ForwardCall) -> None:
        """Record that the grad() pass comes from this call of the module."""
        self._grad_passes[backward_pass].calls.add(call)

    def finish_grad(self, backward_pass: BackwardPass) -> None:
        """Replace the captured gradients of a grad() pass that ends by their averages."""
        entry = self._grad_passes.pop(backward_pass)
        edges: Any = map(edge_of, entry.params)
        captured = [backward_pass.captures.get(node, {}).get(number, []) for node, number in edges]
        grads = [next((results[0] for results in lists if results), None) for lists in captured]
        for g, lists in zip(self._averaged(grads, entry.params, entry.calls), captured, strict=True):
            for results in lists:
                results[:] = [] if g is None else [g]

    def _averaged(self, grads: list[Tensor | None], params: list[Tensor], calls: set[ForwardCall],
                  room: np.ndarray[Any, Any] | None = None) -> list[Tensor | None]:
        """The gradients averaged over ranks, with the weights of the calls."""
        factor, weight = self.weights.factor_and_weight(calls, waiting=False)
        return averaged(grads, params, self.comm, factor, weight, reducer=self.listener, calls=calls, room=room)

    def share_in_pass(self) -> float | None:
        """The factor of this rank's gradients at the end of the running pass; None if they are not averaged. Collective."""
        backward_pass = running.passes[-1]
        if not self.enabled() or not (backward_pass.accumulate or self.averages(backward_pass)):
            return None
        calls = calls_in(backward_pass.marked(), self.listener)
        factor, weight = self.weights.factor_and_weight(calls, waiting=backward_pass.accumulate)
        return factor / (float(self.comm.allreduce([np.array([weight])])[0][0]) or 1.0)

    # --- backward(create_graph=True) ----------------------------------------------------------------------------------

    def start_recorded(self, arrived: Collection[Tensor]) -> None:
        """Begin a recorded pass: stash the earlier .grad, so that only the pass's gradients are averaged. arrived:
        parameters whose gradient of this pass has already been added.
        """
        self._stashed = [(p, p.grad) for _, p in self.named if p.grad is not None and p not in arrived]
        for p, _ in self._stashed:
            set_grad(p, None)

    def finish_recorded(self, room: np.ndarray[Any, Any]) -> None:
        """End a recorded pass: add the averages, with their graph, to the earlier .grad. room: numbers that are summed over
        ranks in the same message."""
        params = [p for _, p in self.named]
        averages = self._averaged([p.grad for p in params], params, set(self.weights.calls), room)
        stashed = dict(self._stashed)
        self._stashed = []
        for p, g in zip(params, averages, strict=True):
            earlier = stashed.get(p)
            set_grad(p, earlier if g is None else g if earlier is None else earlier + g)


class Averaged(Function):
    """Tensors of every rank -> their sum over ranks, each multiplied by its rank's share, on every rank. Collective.

    Like BackwardSignal, its backward notifies the reducer that a pass comes from these calls of the module: on a rank
    without rows, or with a linear loss, the pass may reach no BackwardSignal.
    """

    always_runs = True
    asks = True

    @classmethod
    def records(cls, node: Any, tracked: int, settings: dict[str, Any]) -> int:
        """Record on all ranks, whatever their inputs require."""
        node.agreed = GRAD
        return GRAD

    @staticmethod
    def forward(ctx: Any, *gs: Tensor, comm: Communicator, share: float, reducer: PassListener,
                calls: Collection[ForwardCall]) -> tuple[Tensor, ...]:
        """Sum all tensors in one allreduce."""
        ctx.reducer, ctx.calls = reducer, calls
        ctx.settings = {"comm": comm, "share": share, "reducer": reducer, "calls": calls}
        flat = np.concatenate([g.array.reshape(-1) for g in gs]) * share if share else np.zeros(
            sum(g.array.size for g in gs), np.result_type(*[g.array.dtype for g in gs]))
        total = comm.allreduce([flat])[0]
        return tuple(as_tensor(converted(view if g.array.dtype.kind == "c" else view.real, g.array.dtype))
                     for g, view in zip(gs, unflatten(total, [g.array.shape for g in gs]), strict=True))

    @staticmethod
    def backward(ctx: Any, *us: Tensor) -> tuple[Tensor, ...]:
        """Averaged of the gradients, see the module's docstring."""
        calls: Iterable[ForwardCall | None] = ctx.calls or (None,)
        for call in calls:
            ctx.reducer.begin(call)
        share, outer = ctx.settings["share"], ctx.reducer.second_order.share_in_pass()
        settings = ctx.settings if outer is None else {**ctx.settings, "share": outer}
        gradients: tuple[Tensor, ...] = Averaged.apply(*us, **settings)
        if outer is None or outer == share:
            return gradients
        if not outer:
            ctx.reducer.weights.problem = ctx.reducer.weights.problem or MSG_LEFT_OUT
        return tuple(g * (share / outer if outer else 0.0) for g in gradients)


def averaged(grads: Sequence[Tensor | None], params: Sequence[Tensor], comm: Communicator, factor: float, weight: float, *,
             reducer: PassListener, calls: Collection[ForwardCall],
             room: np.ndarray[Any, Any] | None = None) -> list[Tensor | None]:
    """The gradients (None: unused on this rank) averaged over ranks; None if no rank has one. Collective.

    room: numbers that are summed in the same message. factor, weight: of Weights.factor_and_weight(). NotFinite if the
    sum of weights is not finite.
    """
    used = np.array([g is not None for g in grads], np.float64)
    room = np.empty(0) if room is None else room
    summed = comm.allreduce([np.concatenate([used, room, [weight]])])[0]
    total, room[...] = float(summed[-1]), summed[len(used):-1]
    if not math.isfinite(total):
        raise NotFinite("a rank's weight is not finite")
    share = factor / (total or 1.0)
    defined = [as_tensor(np.zeros_like(p.array)) if g is None else g for g, p in zip(grads, params, strict=True)]
    results = Averaged.apply(*defined, comm=comm, share=share, reducer=reducer, calls=tuple(calls))
    return [y if n else None for y, n in zip(results, summed[:len(used)], strict=True)]
