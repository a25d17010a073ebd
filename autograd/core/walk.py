# cython: annotation_typing=True
"""Walk: one backward pass. Takes nodes in order, runs each on the gradients that reached it, and sends the results on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .graph import FREED, AccumulateGrad, Node
from .hooks import as_tensor, run_leaf_hooks, run_post_hooks, run_pre_hooks, run_tensor_hooks
from .modes import modes
from .parallel import run_lanes

ndarray, add = np.ndarray, np.add


class _Running(threading.local):
    """The backward passes that this thread is inside, innermost last."""

    def __init__(self) -> None:
        self.walks: list[Walk] = []
        # (nodes in order, targets, keep, accumulate) -> further edges to begin with: messages that no path leads to
        self.joining: Callable[[list[Node], Any, bool, bool], list[Any]] | None = None


running = _Running()
accumulating = threading.RLock()                     # threads may share leaves: one adds to .grad at a time


def home_for(node: Any, place: int) -> Any:
    """Where the rule of `node` may write the gradient of its input `place` at once: the home of a leaf that gets no other
    gradient and that nobody watches; else None, and what the rule returns is copied there."""
    edge = node.edges[place]
    if type(edge) is not tuple or type(edge[0]) is not AccumulateGrad:       # what replays a rule has no edges
        return None
    leaf: Any = edge[0]
    hooks = leaf.variable.hooks
    if hooks is None or hooks.home is None or hooks.tensor or leaf.hooks is not None or node.hooks is not None:
        return None
    if not running.walks:                            # tangents run rules too
        return None
    walk = running.walks[-1]                         # a replay has memory of its own
    free = walk.writes_home and walk.accumulate and not walk.create and walk.targets is None and walk.uses.get(leaf) == 1
    return hooks.home if free and leaf not in walk.pending and leaf.variable._grad is None else None


class Walk:
    """One backward pass over `order`: gradients waiting for their node, and uses of leaves still to report."""

    writes_home = True                               # rules may write gradients where they are to live
    replayed = False                                 # of a recorded step: nodes have no graph, gradients their own memory

    def __init__(self, create: bool, keep: bool, uses: dict[Node, int], runner: Any = None) -> None:
        self.create, self.keep, self.uses = create, keep, uses
        self.pending: dict[Node, Any] = {}           # node -> gradient of its output, or list of them
        self.owned: set[Node] = set()                # whose pending gradient is a sum made here: may be added to
        self.watch: dict[Node, dict[int, list[Any]]] = {}    # grad(): node -> output number -> where to put it
        self.runner = runner                         # called in place of node.run(), see interceptors.py
        self.accumulate = True
        self.callbacks: list[Callable[[], None]] = []
        self.meanwhile: list[Callable[[], object]] = []      # called after each node: messages go on while nodes run
        self.recording: int = create
        self.order: Sequence[Node] = ()              # all nodes that run, but leaves
        self.targets: set[Node] | None = None        # with inputs=: the nodes asked for
        self._members: set[Node] | None = None

    def reaches(self, node: Node) -> bool:
        """Whether a gradient for `node` is computed in this pass."""
        if self._members is None:
            self._members = {*self.order, *(self.uses if self.targets is None else self.targets)}
        return node in self._members

    def asked_for(self, node: Node, grads: Sequence[Any]) -> Sequence[Any]:
        """What a node's hooks see of the gradients of its inputs: None for those that lead to nothing this pass asks for."""
        if self.targets is None:
            return grads
        return [None if edge is None or not self.reaches(edge[0]) else g
                for g, edge in zip(grads, node.edges, strict=True)]

    def marked(self) -> list[Node]:
        """The nodes that always run, or whose backward runs a pass of its own: few, and those that reducers ask for."""
        return [node for node in self.order if node.always_runs or node.reenters]

    def run(self, order: Sequence[Node]) -> None:
        """Run the nodes in order; sections that lanes recorded run in parallel."""
        position = 0
        while position < len(order):
            position = self._stretch(order[position:] if position else order, position)

    def _stretch(self, order: Sequence[Node], start: int) -> int:
        """Run nodes one by one up to the next section of lanes, and that section; the position after it."""
        pending, owned, uses, watch, create, keep, runner = (
            self.pending, self.owned, self.uses, self.watch, self.create, self.keep, self.runner)
        serial = modes.lane is not None or not modes.multithreading
        node: Node                                   # types of variables are those of C in a compiled core
        target: Node
        for node in order:
            if node.lane is not None and not serial:
                return start + self._run_section(order, order.index(node))
            g = pending.pop(node, None)
            if node.hooks is not None or (watch and node in watch):
                g = self._before(node, g)
            if g is None and not node.always_runs:
                grads: Any = (None,) * len(node.edges)
            else:
                if g is None and node.outputs > 1:
                    g = [None] * node.outputs
                grads = value = held = None          # or they would hold g, which its node may write to, see declare.py
                grads = node.run(g, create) if runner is None else runner(node, g, create)
                if create and node.joins is not None:
                    grads = node.joined(grads)
            if node.hooks is not None and node.hooks.post:
                grads = run_post_hooks(node, self.asked_for(node, grads), g, create)
            if not keep and node.saved is not None:
                node.saved = FREED
            for place, edge in enumerate(node.edges):
                if edge is None:
                    continue
                target, number = edge
                value = grads[place]
                if value is not None:
                    if target.outputs == 1:
                        if target not in pending:
                            pending[target] = value
                        elif target in owned:        # our own sum, an array: nobody else holds it
                            held = pending[target]
                            add(held, value, held)
                        else:
                            held = pending[target] = pending[target] + value
                            if type(held) is ndarray:
                                owned.add(target)
                    else:
                        self.add(target, number, value)
                if type(target) is AccumulateGrad:
                    left = uses[target] = uses.get(target, 0) - 1
                    if left == 0:
                        held = None
                        self.deliver(target)
            if self.meanwhile:
                self.tend()
        return start + len(order)

    def tend(self) -> None:
        """Call those that want to be called between nodes; one that wants it no more takes itself off the list."""
        for function in tuple(self.meanwhile):
            function()

    def add(self, target: Node, number: int, value: Any) -> None:
        """Add a gradient for output `number` of target to what is waiting."""
        if target.outputs == 1:
            held = self.pending.get(target)
            self.pending[target] = value if held is None else held + value
            return
        slots = self.pending.get(target)
        if slots is None:
            slots = self.pending[target] = [None] * target.outputs
        slots[number] = value if slots[number] is None else slots[number] + value

    def arrive(self, leaf: Node, value: Any, times: int = 1) -> None:
        """Uses of a leaf have reported, with `value` as their sum; after the last one the leaf is delivered."""
        if value is not None:
            self.add(leaf, 0, value)
        left = self.uses[leaf] = self.uses[leaf] - times
        if left == 0:
            self.deliver(leaf)

    def deliver(self, leaf: Any) -> None:
        """Hand a leaf its whole gradient: hooks, .grad, then the post-accumulate hooks."""
        self.owned.discard(leaf)
        if leaf.variable.hooks is None and leaf.hooks is None and self.targets is None:
            if leaf in self.pending and self.accumulate:
                with accumulating:
                    leaf.run(self.pending.pop(leaf), self.create)
        else:
            self.deliver_watched(leaf)

    def deliver_watched(self, leaf: Any) -> None:
        """The same where somebody may be told of it, or only some leaves are asked for."""
        hooks = leaf.variable.hooks
        g = self.pending.pop(leaf, None)
        if self.targets is not None and leaf not in self.targets:
            return
        shown = False
        if hooks is not None and hooks.tensor:       # hooks are called without a gradient too, with None
            g, shown = run_tensor_hooks(hooks.tensor[0], g, self.create), True
        if leaf in self.watch:
            g = self.meet(leaf, g)
        if not self.accumulate:
            return
        if leaf.hooks is not None and leaf.hooks.pre:
            (g,), shown = run_pre_hooks(leaf, [g], self.create), True
        if g is not None:
            if hooks is not None and hooks.tally is not None and hooks.tally.walk is not self:
                hooks.tally.meet()
            self.give(leaf, g, shown)
        if hooks is not None:
            if hooks.post:
                run_leaf_hooks(hooks.post, leaf.variable)
            if hooks.tally is not None and g is not None:
                self.count(leaf.variable)
        if leaf.hooks is not None and leaf.hooks.post:
            run_post_hooks(leaf, (), g, self.create)

    def give(self, leaf: Any, g: Any, shown: bool) -> None:
        """Put a leaf's gradient into .grad. shown: hooks have seen it."""
        if shown and not self.create:
            g = g.copy()                             # the leaf may adopt what it gets, and a hook may have kept this
        with accumulating:
            leaf.run(g, self.create)

    def count(self, variable: Any) -> None:
        """Tell a leaf's tally that its gradient is there."""
        variable.hooks.tally.count(self, variable)

    def _before(self, node: Node, g: Any) -> Any:
        """What users see before a node runs: what meet() does, and node prehooks."""
        g = self.meet(node, g)
        slots = list(g) if node.outputs > 1 else [g]
        if node.hooks is not None and node.hooks.pre:
            slots = run_pre_hooks(node, slots, self.create)
        if node.outputs > 1:
            return None if all(value is None for value in slots) else slots
        return slots[0]

    def meet(self, node: Node, g: Any) -> Any:
        """The gradient of a node's outputs is known: tensor hooks, captures for grad(), retained .grad."""
        slots = list(g) if isinstance(g, list) else [g]
        if g is None and node.outputs > 1:
            slots = [None] * node.outputs
        hooks = node.hooks
        for number, value in enumerate(slots):
            if hooks is not None and number in hooks.tensor:
                slots[number] = value = run_tensor_hooks(hooks.tensor[number], value, self.create)
            if value is None:
                continue
            if hooks is not None and number in hooks.retain:
                kept = hooks.retain[number]()
                if kept is not None:
                    kept.accumulate_grad(value, self.create)
            for place in self.watch.get(node, {}).get(number, ()):
                place.append(as_tensor(value, self.create))
        return slots if node.outputs > 1 else slots[0]

    def _run_section(self, order: Sequence[Node], start: int) -> int:
        """Run the stretch of nodes from `start` that lanes recorded, one thread per lane; the position after it."""
        end = start
        while end < len(order) and order[end].lane is not None:
            end += 1
        by_lane: dict[int, list[Node]] = {}
        for node in order[start:end]:
            by_lane.setdefault(node.lane, []).append(node)  # type: ignore[arg-type]
        if len(by_lane) == 1 or _lanes_touch(by_lane):
            modes.lane = -1                          # as if in a lane: one by one
            try:
                self.run(order[start:end])
            finally:
                modes.lane = None
            return end
        lanes = sorted(by_lane, reverse=True)        # as if one had recorded after the other, whichever was first: nodes and
        walks = [LaneWalk(self, by_lane[lane]) for lane in lanes]        # merges come in one order, so sums are reproducible
        run_lanes([walk.walk for walk in walks], lanes)
        for walk in walks:
            self._merge(walk)
        return end

    def _merge(self, walk: LaneWalk) -> None:
        """Take over what a lane sent out of its section."""
        for target, value in walk.pending.items():
            if target.outputs > 1:
                for number, g in enumerate(value):
                    if g is not None:
                        self.add(target, number, g)
            elif not target.is_leaf:
                self.add(target, 0, value)
        for leaf, count in walk.uses.items():
            value = walk.pending.get(leaf)
            value = value if self.create or value is None else np.array(value)      # others may hold it
            self.arrive(leaf, value, -count)


class LaneWalk(Walk):
    """The part of a pass that one lane runs in its own thread; what leaves the lane waits for the merge."""

    def __init__(self, parent: Walk, nodes: list[Node]) -> None:
        super().__init__(parent.create, parent.keep, {}, parent.runner)
        self.watch, self.accumulate, self.targets = parent.watch, parent.accumulate, parent.targets
        self.nodes, self.parent, self.walks = nodes, parent, list(running.walks)
        for node in nodes:
            if node in parent.pending:
                self.pending[node] = parent.pending.pop(node)

    def walk(self) -> None:
        """Run the lane's nodes."""
        before, running.walks = running.walks, self.walks      # also those that the parent is inside
        recording, modes.recording = modes.recording, self.parent.recording
        try:
            self.run(self.nodes)
        finally:
            modes.recording = recording
            running.walks = before

    def deliver(self, leaf: Any) -> None:
        """Never: uses count from 0 down here; the leaf is delivered by the pass that this lane belongs to."""


def _lanes_touch(by_lane: dict[int, list[Node]]) -> bool:
    """Whether an edge leads from one lane of a section into another: then it can't run in parallel."""
    lane_of = {node: lane for lane, nodes in by_lane.items() for node in nodes}
    return any(edge is not None and lane_of.get(edge[0], lane) != lane
               for node, lane in lane_of.items() for edge in node.edges)
