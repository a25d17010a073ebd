"""How replays call Operations and users' Functions that are not inlined: their forward and backward, with a ctx."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.function import Function
from ...core.graph import Node
from ...core.modes import GRAD, modes
from ...core.operation import Operation, OperationNode, sum_to_like, twin
from ...core.recording import Output
from ...core.tensor import Tensor, result
from .inline import Watched, instrumented

apply: Any = Function.apply.__func__                 # type: ignore[attr-defined]    # not the apply() of a subclass, which has run


class OperationReplay:
    """Replays one call of an Operation, with one ctx that each replay fills again."""

    def __init__(self, cls: type[Operation], node: Node) -> None:
        self.cls: type[Operation] = cls
        self.ctx: Any = cls.node()
        self.inlined = False                         # replays do not call forward: its saved values stay in fixed memory
        self.ctx.saved = self.ctx.hooks = self.ctx.meta = None
        self.ctx.edges = getattr(node, "edges", None) or ()      # backward() replaces each edge by True

    def forward(self, *arrays: Any, **settings: Any) -> Any:
        """Call forward on the emptied ctx."""
        return self.cls.forward(self.empty_ctx(), *arrays, **settings)

    def empty_ctx(self) -> Any:
        """The ctx without saved values, for a forward to fill."""
        self.ctx.saved = None
        return self.ctx

    def backward(self, node: Node, prepare: Callable[[Any], Any] = lambda rule: rule) -> Callable[..., Any]:
        """A function that calls backward on arrays, as OperationNode.run does, without its checks for writes to saved
        tensors."""
        ctx, rule, meta = self.ctx, prepare(self.cls.backward), node.meta
        ctx.edges = tuple([None if edge is None else True for edge in node.edges])
        ctx.outputs = node.outputs
        fits = None if meta is None else [m if edge is not None else None for m, edge in zip(meta, node.edges, strict=True)]

        def run(*gs: Any) -> Any:
            if ctx.saved is not None:
                ctx.values = list(ctx.saved)
            grads = rule(ctx, *gs)
            if grads.__class__ is not tuple and grads.__class__ is not list:
                grads = (grads,)
            if fits is not None:
                grads = [g if g is None or m is None else sum_to_like(g, *m) for g, m in zip(grads, fits, strict=True)]
            return grads

        return run


class FunctionReplay:
    """Replays one call of a user's Function: apply() on leaves in the place of its arguments, which makes a node each
    time."""

    def __init__(self, cls: type[Function], args: tuple[Any, ...], settings: dict[str, Any]) -> None:
        self.cls: type[Function] = cls
        self.settings: dict[str, Any] = settings
        self.node: Any = None
        self.args: tuple[Any, ...] = tuple([as_leaf(a) if isinstance(a, Tensor) else a for a in args])
        self.recording: int = modes.recording

    def forward(self) -> Any:
        """Call the Function's apply() again, in the modes of the recorded call."""
        before, modes.recording = modes.recording, self.recording
        try:
            out = apply(self.cls, *self.args, **self.settings)
        finally:
            modes.recording = before
        tensors = [o for o in (out if isinstance(out, tuple) else (out,)) if isinstance(o, Tensor)]
        self.node = next((t.edge[0] for t in tensors if t.edge is not None), None)
        return tensors[0].array if len(tensors) == 1 else [t.array for t in tensors]

    def backward(self, node: Node) -> Callable[..., Any]:
        """A function that runs the node of the last forward, without recording."""
        many = node.outputs > 1

        def run(*gs: Any) -> Any:
            before, modes.recording = modes.recording, modes.recording & ~GRAD
            try:
                return self.node.run(list(gs) if many else gs[0], False)
            finally:
                modes.recording = before

        return run


def as_leaf(x: Tensor) -> Tensor:
    """A leaf that shares the memory of x, and its `tracked`."""
    leaf = result(x.array)
    leaf.tracked = x.tracked
    return leaf


def backward_of(node: Node) -> Callable[..., Any]:
    """A function that runs a node whose saved arrays are in fixed memory."""
    many = node.outputs > 1
    single = detached_twin(node) if isinstance(node, OperationNode) else node
    return lambda *gs: single.run(list(gs) if many else gs[0], False)


def detached_twin(node: OperationNode) -> OperationNode:
    """A twin of a node without references to the rest of the graph."""
    other = twin(node)
    marks: Any = [None if edge is None else True for edge in node.edges]
    other.edges = tuple(marks)
    if isinstance(node.saved, tuple):
        other.saved = tuple([result(v.array) if isinstance(v, Tensor) else v for v in node.saved])
    if hasattr(node, "given"):
        other.given = node.given
    return other


def watched_twin(node: Any) -> OperationNode:
    """A twin of a declared operation's node with Watched arrays for its saved values, and instrumented rules."""
    other = twin(node)
    for name in ("rule", "give_x", "give_y", "adjoint"):
        if getattr(node, name, None) is not None:
            vars(other)[name] = instrumented(getattr(node, name))
    if isinstance(node.saved, tuple):
        arrays = [v.array if isinstance(v, (Tensor, Output)) else v for v in node.saved]
        other.saved = tuple([a.view(Watched) if isinstance(a, np.ndarray) else a for a in arrays])
    if hasattr(node, "given"):
        other.given = node.given
    return other
