"""The backward pass of a traced step: Walk, with each node, sum and delivery written down."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from ..core.graph import AccumulateGrad, Node
from ..core.hooks import run_post_hooks
from ..core.walk import Walk, running
from .calls import Call, Held


class ReplayedWalk(Walk):
    """The pass that a replay stands for: what tallies find themselves in, and the collectives, which reducers look for."""

    replayed = True
    writes_home = False


def begin_pass(always: list[Any]) -> None:
    """In a replay: the pass begins."""
    walk = ReplayedWalk(False, False, {})
    walk.order = always
    running.walks.append(walk)


def count(leaf: Any) -> None:
    """Tell a leaf's tally that it has its gradient."""
    walk = running.walks[-1]
    leaf.hooks.tally.count(walk, leaf)
    walk.tend()


def meet(leaf: Any) -> None:
    """Tell a leaf's tally that the pass has begun."""
    leaf.hooks.tally.meet()


class TracedWalk(Walk):
    """A Walk that tells the tracer what it does. Nodes keep what they saved: replays use it."""

    writes_home = False

    def __init__(self, tracer: Any, *given: Any) -> None:
        super().__init__(*given)
        self.tracer, self.met = tracer, set[Any]()   # tallies that know of the pass
        self._always: list[Any] = []
        tracer.calls.append(Call(begin_pass, (Held(self._always),), label="begin_pass"))

    def run(self, order: Sequence[Node]) -> None:
        """Run the nodes in order, then the callbacks."""
        self._always += [SimpleNamespace(**vars(node), always_runs=True, reenters=node.reenters)     # without the graph
                         for node in order if node.always_runs]
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
        self.deliver_watched(leaf)

    def give(self, leaf: Any, g: Any, shown: bool) -> None:
        """Into .grad, now and in replays."""
        tally = None if leaf.variable.hooks is None else leaf.variable.hooks.tally
        if tally is not None and tally not in self.met:
            self.met.add(tally)
            self.tracer.calls.append(Call(meet, (Held(leaf.variable),), label="met"))
            self.tracer.gradients.look()             # what waits to be averaged alone was put aside
        self.tracer.gradients.deliver(leaf.variable, g)

    def count(self, variable: Any) -> None:
        """Tell its tally, now and in replays."""
        self.tracer.counted(variable)
