"""BackwardSignal: a node around a module's output that notifies the reducer, on every rank, when a backward pass begins.

DataParallel's forward applies it (model/forward.py); second_order.py notifies in the same way.
"""

from __future__ import annotations

from typing import Any, Protocol

from autograd.core.function import FunctionNode
from autograd.core.modes import GRAD, modes
from autograd.core.primitive import primitive, watchers

from ..autograd import Function, Tensor
from .weights import ForwardCall


class PassListener(Protocol):
    """The interface of a reducer for nodes of the graph: they call begin() when a backward pass reaches them."""

    def begin(self, call: ForwardCall | None = None) -> Any:
        """A backward pass comes from this call of the module (None: the call is unknown)."""


@primitive
def backward_begins(reducer: PassListener, call: ForwardCall) -> None:
    """Notify the reducer that a backward pass comes from this call of its module."""
    reducer.begin(call)


class SignalNode(FunctionNode):
    """The node of BackwardSignal, which usually passes the array on without making a Tensor of it."""

    reducer: PassListener
    calls: tuple[ForwardCall]

    def run(self, g: Any, create: bool) -> Any:
        """Notify the reducer, then return the gradient unchanged."""
        if create or g is None or watchers:
            return super().run(g, create)
        self.reducer.begin(self.calls[0])
        return g, None, None


class BackwardSignal(Function):
    """Identity on a module's output, whose backward notifies the reducer, also on a rank where no parameter gets a gradient.
    With create_graph its backward contains a BackwardSignal again, for passes over the graph of a backward pass."""

    node = SignalNode
    always_runs = True
    transparent = True

    @staticmethod
    def forward(ctx: Any, x: Tensor, reducer: PassListener, call: ForwardCall) -> Tensor:
        """The input x, unchanged: only backward acts."""
        ctx.reducer, ctx.calls = reducer, (call,)
        return x

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        """Notify the reducer, then return the gradient unchanged."""
        (call,) = ctx.calls
        backward_begins(ctx.reducer, call)
        return SignalInBackward.apply(g, ctx.reducer, call) if modes.recording else g, None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor | None, *settings_tangents: None) -> Tensor | None:
        """The tangent unchanged: forward mode is local to this rank's rows."""
        return tangent


class SignalInBackward(BackwardSignal):
    """BackwardSignal in the graph of a backward pass. It is recorded even if the gradient is a constant (for example that of
    a sum), because that gradient, too, comes from calls of the module.
    """

    asks = True

    @classmethod
    def records(cls, node: Any, tracked: int, settings: dict[str, Any]) -> int:
        """Record whenever recording is on."""
        return (tracked | GRAD) & modes.recording


def calls_in(nodes: list[Any], reducer: PassListener) -> set[ForwardCall]:
    """The calls of the reducer's module that a pass comes from, before it reaches them. nodes: backward_pass.marked()."""
    return {call for node in nodes if node.always_runs and getattr(node, "reducer", None) is reducer for call in node.calls}


def has_other_collectives(nodes: list[Any], reducer: PassListener) -> bool:
    """Whether a backward pass has other collectives: SyncBatchNorm's, the loss's, or those of another reducer. Buckets are
    launched at different moments on different ranks, so a rank that waited for a bucket could block ranks that are in one
    of these collectives.
    """
    return any(node.always_runs and getattr(node, "reducer", None) is not reducer for node in nodes)


def runs_nested_passes(nodes: list[Any]) -> bool:
    """Whether nodes of a backward pass run nested passes (reentrant checkpoints), from which leaves may get further
    gradients."""
    return any(node.reenters for node in nodes)
