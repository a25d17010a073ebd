"""The backward pass of a traced step: Walk, with each node, sum and delivery written down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph import AccumulateGrad, Node
from ..hooks import run_leaf_hooks, run_post_hooks, run_pre_hooks, run_tensor_hooks
from ..walk import Walk, running
from .calls import Call


def begin_pass() -> None:
    """In a replay: a pass that tallies find themselves in."""
    running.walks.append(Walk(False, False, {}))


def count(leaf: Any) -> None:
    """Tell a leaf's tally that it has its gradient."""
    leaf.hooks.tally.count(running.walks[-1], leaf)


class TracedWalk(Walk):
    """A Walk that tells the tracer what it does. Nodes keep what they saved: replays use it."""

    def __init__(self, tracer: Any, *given: Any) -> None:
        super().__init__(*given)
        self.tracer = tracer
        tracer.calls.append(Call(begin_pass, (), label="begin_pass"))

    def run(self, order: Sequence[Node]) -> None:
        """Run the nodes in order, then the callbacks."""
        for node in order:
            if node.lane is not None:
                self.tracer.refuse("lanes (parallel_apply, local devices) can't be recorded")
            self._run_one(node)
        self.tracer.end_pass(self)

    def _run_one(self, node: Node) -> None:
        """One node: hooks, its backward, and what it sends on."""
        g = self.pending.pop(node, None)
        if node.hooks is not None or node in self.watch:
            g = self._before(node, g)
        if g is None and not node.always_runs:
            grads: Any = (None,) * len(node.edges)
        else:
            if g is None and node.outputs > 1:
                g = [None] * node.outputs
            grads = self.tracer.run_node(node, g)
            if node.hooks is not None and node.hooks.post:
                grads = run_post_hooks(node, grads, g, False)
        for edge, value in zip(node.edges, grads, strict=True):
            if edge is None:
                continue
            target, number = edge
            if value is not None:
                self.add(target, number, value)
            if isinstance(target, AccumulateGrad):
                self.uses[target] = self.uses.get(target, 0) - 1
                if self.uses[target] == 0:
                    self.deliver(target)

    def add(self, target: Node, number: int, value: Any) -> None:
        """Add a gradient for output `number` of target to what is waiting."""
        if target.outputs == 1:
            held = self.pending.get(target)
            self.pending[target] = value if held is None else self.tracer.plus(held, value)
            return
        slots = self.pending.setdefault(target, [None] * target.outputs)
        slots[number] = value if slots[number] is None else self.tracer.plus(slots[number], value)

    def deliver(self, leaf: Any) -> None:
        """Hand a leaf its whole gradient."""
        variable, hooks = leaf.variable, leaf.variable.hooks
        g = self.pending.pop(leaf, None)
        if self.targets is not None and leaf not in self.targets:
            return
        if hooks is not None and g is not None and hooks.tensor:
            g = run_tensor_hooks(hooks.tensor[0], g, False)
        if leaf in self.watch:
            g = self.meet(leaf, g)
        if g is None or not self.accumulate:
            return
        if leaf.hooks is not None and leaf.hooks.pre:
            (g,) = run_pre_hooks(leaf, [g], False)
            if g is None:
                return
        self.tracer.gradients.deliver(variable, g)
        if hooks is not None:
            run_leaf_hooks(hooks.post, variable)
            if hooks.tally is not None:
                self.tracer.counted(variable)
        if leaf.hooks is not None and leaf.hooks.post:
            run_post_hooks(leaf, (), g, False)
