"""Sink: how a reducer learns, on every rank, that a backward pass comes from its module's outputs."""

from __future__ import annotations

from typing import Any

from autograd import Function, Tensor
from autograd.core.modes import GRAD, modes
from autograd.core.traced import again

from .weights import ForwardCall


class Sink(Function):
    """Identity on a module's output: tells the reducer that backward has begun, also on a rank where no parameter
    gets a gradient. Its backward goes through it again, for passes over the graph of a backward pass."""

    always_runs = True
    transparent = True

    @staticmethod
    def forward(ctx: Any, x: Tensor, reducer: Any, call: ForwardCall) -> Tensor:
        """x."""
        ctx.reducer, ctx.calls = reducer, (call,)
        return x

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        """g."""
        (call,) = ctx.calls
        again(ctx.reducer.begin, call)
        return Behind.apply(g, ctx.reducer, call) if modes.recording else g, None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *of_settings: Any) -> Any:
        """The tangent: forward mode concerns this rank's rows only."""
        return tangent


class Behind(Sink):
    """Sink in a backward pass. A gradient that is a constant, as a sum's is, has calls behind it too: always recorded."""

    asks = True

    @classmethod
    def records(cls, node: Any, tracked: int, settings: dict[str, Any]) -> int:
        """Where recording is on."""
        return (tracked | GRAD) & modes.recording


def calls_in(nodes: list[Any], reducer: Any) -> set[ForwardCall]:
    """The calls of the reducer's module that a backward pass comes from, before they are reached. nodes: walk.marked()."""
    return {call for node in nodes if node.always_runs and getattr(node, "reducer", None) is reducer for call in node.calls}


def crosses(nodes: list[Any], reducer: Any) -> bool:
    """Whether a backward pass has collectives of its own, as SyncBatchNorm's, the loss's or those of another reducer: where
    buckets leave at other moments on other ranks, who waits for a bucket there keeps those waiting that are in one of
    these."""
    return any(node.always_runs and getattr(node, "reducer", None) is not reducer for node in nodes)


def reenters(nodes: list[Any]) -> bool:
    """Whether a backward pass has passes inside it (reentrant checkpoints), so that leaves may get more gradients yet."""
    return any(node.reenters for node in nodes)
