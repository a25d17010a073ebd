"""BackwardSignal: how a reducer learns, on every rank, that a backward pass comes from its module's outputs."""

from __future__ import annotations

from typing import Any, Protocol

from autograd import Function, Tensor
from autograd.core.modes import GRAD, modes
from autograd.core.primitive import primitive

from .weights import ForwardCall


class PassListener(Protocol):
    """What nodes of the graph tell that a backward pass has reached them: a reducer."""

    def begin(self, call: ForwardCall | None = None) -> Any:
        """A pass comes from this call of the module (None: from none that is known)."""


@primitive
def backward_begins(reducer: PassListener, call: ForwardCall) -> None:
    """Tell the reducer that a backward pass comes from this call of its module."""
    reducer.begin(call)


class BackwardSignal(Function):
    """Identity on a module's output: tells the reducer that backward has begun, also on a rank where no parameter
    gets a gradient. Its backward goes through it again, for passes over the graph of a backward pass."""

    always_runs = True
    transparent = True

    @staticmethod
    def forward(ctx: Any, x: Tensor, reducer: PassListener, call: ForwardCall) -> Tensor:
        """The input x, unchanged: only backward acts."""
        ctx.reducer, ctx.calls = reducer, (call,)
        return x

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        """The gradient, after the reducer was told."""
        (call,) = ctx.calls
        backward_begins(ctx.reducer, call)
        return SignalInBackward.apply(g, ctx.reducer, call) if modes.recording else g, None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *of_settings: Any) -> Any:
        """The tangent: forward mode concerns this rank's rows only."""
        return tangent


class SignalInBackward(BackwardSignal):
    """BackwardSignal in the graph of a backward pass. A gradient that is a constant, as a sum's is, has calls of the module
    behind it too, so this is always recorded."""

    asks = True

    @classmethod
    def records(cls, node: Any, tracked: int, settings: dict[str, Any]) -> int:
        """Where recording is on."""
        return (tracked | GRAD) & modes.recording


def calls_in(nodes: list[Any], reducer: PassListener) -> set[ForwardCall]:
    """The calls of the reducer's module that a pass comes from, before they are reached. nodes: walk.marked()."""
    return {call for node in nodes if node.always_runs and getattr(node, "reducer", None) is reducer for call in node.calls}


def has_other_collectives(nodes: list[Any], reducer: PassListener) -> bool:
    """Whether a backward pass has other collectives, as SyncBatchNorm's, the loss's or those of another reducer. Buckets
    leave at other moments on other ranks, so a rank that waits for a bucket could keep ranks waiting that are in one of
    these."""
    return any(node.always_runs and getattr(node, "reducer", None) is not reducer for node in nodes)


def runs_nested_passes(nodes: list[Any]) -> bool:
    """Whether a backward pass has passes inside it (reentrant checkpoints), so that leaves may get more gradients yet."""
    return any(node.reenters for node in nodes)
