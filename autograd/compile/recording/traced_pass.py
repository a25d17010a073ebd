"""The pass objects of a recorded backward pass (TracedPass, GraphPass) and of its replays (ReplayedPass)."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from ...core.engine import BackwardPass, running
from ...core.graph import Node
from ...core.tensor import AccumulateGrad
from .calls import Array, Call, Constant, effect


class ReplayedPass(BackwardPass):
    """The running pass of a replay, for counters of gradients and for reducers, which look for collectives in its order."""

    replayed = True
    fills_buffers = False
    local: Sequence[Any] = ()                        # reducers in no_sync() when the step was recorded, inside of it


def begin_pass(always: list[Any], local: list[Any]) -> None:
    """In a replay: begin the pass."""
    current = ReplayedPass(False, False, {})
    current.order, current.local = always, local
    running.passes.append(current)


def count(leaf: Any) -> None:
    """In a replay: notify a leaf's counter that the leaf has its gradient."""
    current = running.passes[-1]
    leaf.hooks.counter.count(current, leaf)
    current.tend()


def count_all(leaves: Sequence[Any]) -> None:
    """In a native program: notify the counter of leaves that have their gradients."""
    for leaf in leaves:
        count(leaf)


def start_counter(leaf: Any) -> None:
    """In a replay: notify a leaf's counter that the pass has begun."""
    leaf.hooks.counter.listener.begin()


class RecordedPass(BackwardPass):
    """A pass of a step that is recorded. Its nodes keep their saved values."""

    fills_buffers = False

    def __init__(self, tracer: Any, create: bool, keep: bool, uses: dict[Node, int], runner: Any = None) -> None:
        super().__init__(create, True, uses, runner)
        self.tracer: Any = tracer
        self.frees = not keep                        # the step itself frees them once a node has run


class GraphPass(RecordedPass):
    """A pass with create_graph=True: its nodes call operations, which are recorded as all others are."""

    def run(self, order: Sequence[Node]) -> None:
        """Run the nodes in order."""
        if any(node.always_runs or node.lane is not None for node in order):
            self.tracer.refuse("create_graph=True through collectives, or on several devices, can't be recorded")
        super().run(order)

    def add_to_grad(self, leaf: AccumulateGrad, g: Any, owned: bool) -> None:
        """Reject .grad with a graph."""
        self.tracer.refuse("backward(create_graph=True) can't be recorded; grad(..., create_graph=True) can be")


class TracedPass(RecordedPass):
    """A pass that records each node, sum and delivery. Replays use saved values of nodes."""

    def __init__(self, tracer: Any, create: bool, keep: bool, uses: dict[Node, int], runner: Any = None) -> None:
        super().__init__(tracer, create, keep, uses, self.run_node)
        self.started: set[Any] = set[Any]()          # counters that were notified of the pass
        self._always: list[Any] = []
        self.local: list[Any] = []                   # reducers add themselves
        marks = Constant(self._always), Constant(self.local)
        tracer.calls.append(effect(Call(begin_pass, marks, label="begin_pass")))

    def run(self, order: Sequence[Node]) -> None:
        """Run the nodes in order, then the callbacks."""
        self._always += [SimpleNamespace(**vars(node), always_runs=True, reenters=node.reenters)  # copies without the graph
                         for node in order if node.always_runs]
        if any(node.lane is not None for node in order):
            self.tracer.refuse("lanes (parallel_apply, local devices) can't be recorded")
        super().run(order)
        self.runner = None                           # it refers to this object
        self.tracer.end_pass(self)

    def run_node(self, node: Node, g: Any, create: bool) -> Any:
        """Run one node and record it."""
        return self.tracer.run_node(node, g, self.frees)

    def add(self, target: Node, number: int, value: Any) -> None:
        """Add a gradient for output `number` of target to the pending ones."""
        if target.outputs == 1:
            pending = self.pending.get(target)
            self.pending[target] = value if pending is None else self.tracer.record_sum(pending, value)
            return
        slots = self.pending.setdefault(target, [None] * target.outputs)
        slots[number] = value if slots[number] is None else self.tracer.record_sum(slots[number], value)

    def tend(self) -> None:
        """Do nothing: in replays count() calls tend()."""

    def add_to_grad(self, leaf: AccumulateGrad, g: Array, owned: bool) -> None:
        """Add a leaf's gradient to .grad, now and in replays."""
        counter = None if leaf.variable.hooks is None else leaf.variable.hooks.counter
        if counter is not None and counter not in self.started:
            self.started.add(counter)
            self.tracer.calls.append(effect(Call(start_counter, (Constant(leaf.variable),), label="start_counter")))
            self.tracer.gradients.rescan()             # the reducer has set aside gradients that it averages separately
        self.tracer.deliver(leaf.variable, g)

    def count(self, variable: Any) -> None:
        """Notify the counter of a leaf, now and in replays."""
        self.tracer.record_count(variable)
