"""The backward pass of a traced step: BackwardPass, with each node, sum and delivery written down."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from ..core.engine import BackwardPass, running
from ..core.graph import Node
from .calls import Call, Held


class ReplayedPass(BackwardPass):
    """The pass that a replay stands for: what counters find themselves in, and the collectives, which reducers look for."""

    replayed = True
    fills_buffers = False


def begin_pass(always: list[Any]) -> None:
    """In a replay: the pass begins."""
    walk = ReplayedPass(False, False, {})
    walk.order = always
    running.passes.append(walk)


def count(leaf: Any) -> None:
    """Tell a leaf's counter that it has its gradient."""
    walk = running.passes[-1]
    leaf.hooks.counter.count(walk, leaf)
    walk.tend()


def meet(leaf: Any) -> None:
    """Tell a leaf's counter that the pass has begun."""
    leaf.hooks.counter.before_uncounted()


class TracedPass(BackwardPass):
    """A BackwardPass that tells the tracer what it does. Nodes keep what they saved: replays use it."""

    fills_buffers = False

    def __init__(self, tracer: Any, create: bool, keep: bool, uses: dict[Node, int], runner: Any = None) -> None:
        super().__init__(create, True, uses, self.run_node)
        self.tracer, self.met = tracer, set[Any]()   # counters that know of the pass
        self._always: list[Any] = []
        tracer.calls.append(Call(begin_pass, (Held(self._always),), label="begin_pass"))

    def run(self, order: Sequence[Node]) -> None:
        """Run the nodes in order, then the callbacks."""
        self._always += [SimpleNamespace(**vars(node), always_runs=True, reenters=node.reenters)     # without the graph
                         for node in order if node.always_runs]
        if any(node.lane is not None for node in order):
            self.tracer.refuse("lanes (parallel_apply, local devices) can't be recorded")
        super().run(order)
        self.tracer.end_pass(self)

    def run_node(self, node: Node, g: Any, create: bool) -> Any:
        """One node's gradients, written down."""
        return self.tracer.run_node(node, g)

    def add(self, target: Node, number: int, value: Any) -> None:
        """Add a gradient for output `number` of target to what is waiting."""
        if target.outputs == 1:
            held = self.pending.get(target)
            self.pending[target] = value if held is None else self.tracer.plus(held, value)
            return
        slots = self.pending.setdefault(target, [None] * target.outputs)
        slots[number] = value if slots[number] is None else self.tracer.plus(slots[number], value)

    def tend(self) -> None:
        """Nothing: replays tend where they count."""

    def give(self, leaf: Any, g: Any, owned: bool) -> None:
        """Into .grad, now and in replays."""
        counter = None if leaf.variable.hooks is None else leaf.variable.hooks.counter
        if counter is not None and counter not in self.met:
            self.met.add(counter)
            self.tracer.calls.append(Call(meet, (Held(leaf.variable),), label="met"))
            self.tracer.gradients.look()             # what waits to be averaged alone was put aside
        self.tracer.gradients.deliver(leaf.variable, g)

    def count(self, variable: Any) -> None:
        """Tell its counter, now and in replays."""
        self.tracer.counted(variable)
