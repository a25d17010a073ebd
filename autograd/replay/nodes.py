"""How replays run what has a ctx: built-in Operations and users' Functions, forward and backward, as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.function import Function
from ..core.modes import GRAD, modes
from ..core.operation import OperationNode, fit, twin
from ..core.saved_tensors import Output
from ..core.tensor import Tensor, result
from .inline import Watched, opened

apply: Any = Function.apply.__func__                 # type: ignore[attr-defined]    # below what a subclass's own apply() did


class OperationAgain:
    """One call of a built-in Operation: the same ctx is filled anew by each replay."""

    def __init__(self, cls: Any, node: Any) -> None:
        self.cls, self.ctx = cls, cls.node()
        self.inlined = False                         # forward is not called again: what it saved stays where it is
        self.ctx.saved = self.ctx.hooks = self.ctx.meta = None
        self.ctx.edges = getattr(node, "edges", None) or ()      # replaced by marks of the same truth in backward()

    def forward(self, *arrays: Any, **settings: Any) -> Any:
        """What it computes."""
        return self.cls.forward(self.empty_ctx(), *arrays, **settings)

    def empty_ctx(self) -> Any:
        """The ctx, to be filled by a forward."""
        self.ctx.saved = None
        return self.ctx

    def backward(self, node: Any, prepare: Callable[[Any], Any] = lambda rule: rule) -> Callable[..., Any]:
        """Its backward on arrays: what OperationNode.run does, without asking who wrote to what was saved."""
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
                grads = [g if g is None or m is None else fit(g, *m) for g, m in zip(grads, fits, strict=True)]
            return grads

        return run


class FunctionAgain:
    """One call of a user's Function: apply() on stand-ins for its arguments, recorded, so that all is as in the step."""

    def __init__(self, cls: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> None:
        self.cls, self.settings = cls, settings
        self.node: Any = None
        self.args = tuple([stand_in(a) if isinstance(a, Tensor) else a for a in args])
        self.recording = modes.recording

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

    def backward(self, node: Any) -> Callable[..., Any]:
        """The node's run()."""
        many = node.outputs > 1

        def run(*gs: Any) -> Any:
            before, modes.recording = modes.recording, modes.recording & ~GRAD
            try:
                return self.node.run(list(gs) if many else gs[0], False)
            finally:
                modes.recording = before

        return run


def stand_in(x: Tensor) -> Tensor:
    """A leaf with the same memory."""
    leaf = result(x.array)
    leaf.tracked = x.tracked
    return leaf


def run_again(node: Any) -> Callable[..., Any]:
    """The backward of a declared operation whose saved arrays stay where they are."""
    many = node.outputs > 1
    alone = apart(node) if isinstance(node, OperationNode) else node
    return lambda *gs: alone.run(list(gs) if many else gs[0], False)


def apart(node: Any) -> Any:
    """A twin of a node that does not hold the rest of the graph."""
    other = twin(node)
    marks: Any = [None if edge is None else True for edge in node.edges]
    other.edges = tuple(marks)
    if isinstance(node.saved, tuple):
        other.saved = tuple([result(v.array) if isinstance(v, Tensor) else v for v in node.saved])
    if hasattr(node, "given"):
        other.given = node.given
    return other


def watched_twin(node: Any) -> Any:
    """A declared operation's node with Watched arrays in the place of what it saved."""
    other = twin(node)
    for name in ("rule", "give_x", "give_y"):
        if getattr(node, name, None) is not None:
            vars(other)[name] = opened(getattr(node, name))
    if isinstance(node.saved, tuple):
        arrays = [v.array if isinstance(v, (Tensor, Output)) else v for v in node.saved]
        other.saved = tuple([a.view(Watched) if isinstance(a, np.ndarray) else a for a in arrays])
    if hasattr(node, "given"):
        other.given = node.given
    return other
