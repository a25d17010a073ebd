# cython: annotation_typing=True
"""The reverse loop: the order of the nodes, and BackwardPass, which runs them, adds up gradients and hands them on.

An operation is numbered when it is made, after its inputs, so decreasing numbers are a topological order: nothing is
counted but the uses of each leaf, which is delivered as soon as its last use has reported. The order is the same on
all ranks that run the same program, so that each collective's backward meets its partners; it depends on nothing
else, in particular not on the order of arguments or of losses.

Not here: what users hang on tensors and nodes (hooks.py), parallel sections (lane_pass.py), where gradients of leaves live
(grad_buffers.py), how a pass starts and ends (backward.py), and who watches nodes run (interceptors.py).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from ..kernels.blocks import owns_memory
from ..spans import spans
from .graph import FREED, Edge, Node, OutputNumber, Position
from .hooks import before_node, deliver_observed, run_post_hooks
from .tensor import AccumulateGrad

ndarray: type[np.ndarray[Any, Any]] = np.ndarray
add: Callable[..., Any] = np.add
by_number: Callable[[Node], int] = attrgetter("seq")


class _Running(threading.local):
    """The backward passes that this thread is inside, innermost last."""

    def __init__(self) -> None:
        self.passes: list[BackwardPass] = []
        # (nodes in order, targets, keep, accumulate) -> further edges to begin with: messages that no path leads to
        self.joining: Callable[[list[Node], Any, bool, bool], list[Any]] | None = None


running: _Running = _Running()
accumulating: threading.RLock = threading.RLock()    # threads may share leaves: one adds to .grad at a time


# --- order ------------------------------------------------------------------------------------------------------------

def survey(roots: list[Edge], since: int = 0) -> tuple[list[Node], dict[Node, int]]:
    """All nodes that the roots reach, newest first, without leaves, nor what is numbered below `since`; and how often
    each leaf is used.
    """
    seen = {edge[0] for edge in roots}
    uses: dict[Node, int] = {}
    for root, _ in roots:
        if root.is_leaf:
            uses[root] = uses.get(root, 0) + 1
    stack = [node for node in seen if not node.is_leaf]
    order = list(stack)
    node: Node                                       # types of variables are those of C in a compiled core
    while stack:
        node = stack.pop()
        for edge in node.edges:
            if edge is None:
                continue
            node = edge[0]
            if type(node) is AccumulateGrad:
                uses[node] = uses.get(node, 0) + 1
            elif node not in seen and node.seq >= since:
                seen.add(node)
                stack.append(node)
                order.append(node)
    order.sort(key=by_number, reverse=True)
    return order, uses


def on_the_way(order: list[Node], targets: set[Node], themselves: bool) -> list[Node]:
    """The nodes of `order` that must run so that gradients reach the targets, the targets too where these run `themselves`,
    as in backward(inputs=); collectives run whatever is asked."""
    needed: set[Node] = set()
    for node in reversed(order):                     # oldest first: a node's inputs come before it
        if node.always_runs or (themselves and node in targets) or any(
                e is not None and (e[0] in targets or e[0] in needed) for e in node.edges):
            needed.add(node)
    return [node for node in order if node in needed]


def count_uses(order: list[Node], roots: list[Edge]) -> dict[Node, int]:
    """How often each leaf is used by the roots and by the nodes that will run."""
    uses: dict[Node, int] = {}
    for used in [*roots, *(e for node in order for e in node.edges)]:
        if used is not None and used[0].is_leaf:
            uses[used[0]] = uses.get(used[0], 0) + 1
    return uses


# --- the loop ---------------------------------------------------------------------------------------------------------

class BackwardPass:
    """One backward pass: gradients that wait for their node, and the uses of leaves that have still to report."""

    fills_buffers = True                             # rules may write gradients into the leaves' buffers
    replayed = False                                 # of a recorded step: nodes have no graph, gradients their own memory

    def __init__(self, create: bool, keep: bool, uses: dict[Node, int], runner: Any = None) -> None:
        self.create: bool = create
        self.keep: bool = keep
        self.uses: dict[Node, int] = uses
        self.pending: dict[Node, Any] = {}           # node -> gradient of its output, or list of them
        self.owned: set[Node] = set()                # whose pending gradient is an array that nobody else holds
        self.captures: dict[Node, dict[int, list[Any]]] = {}     # grad(): node -> output number -> where to put it
        self.runner = runner                         # called in place of node.run(), see interceptors.py
        self.accumulate = True
        self.callbacks: list[Callable[[], None]] = []
        self.meanwhile: list[Callable[[], object]] = []      # called after each node: messages go on while nodes run
        self.recording: int = create
        self.order: Sequence[Node] = ()              # all nodes that run, but leaves
        self.targets: set[Node] | None = None        # with inputs=: the nodes asked for
        self.replaced: list[tuple[Any, Node]] = []   # hooks that put another gradient in the place of one, and where
        self._members: set[Node] | None = None

    def run(self, order: Sequence[Node]) -> None:
        """Run the nodes in order: each on the gradients that reached it; its saved values are freed, its results sent on."""
        pending, owned, captures, create, runner = self.pending, self.owned, self.captures, self.create, self.runner
        node: Node                                   # types of variables are those of C in a compiled core
        for node in order:
            span = spans.evaluate(node) if spans.fine else 0
            g = pending.pop(node, None)
            mine = False                             # whether nobody but this pass holds g
            if owned and node in owned:
                owned.discard(node)
                mine = True
            if node.hooks is not None or (captures and node in captures):
                g, mine = before_node(self, node, g), False
            if g is None and not node.always_runs:
                grads: Any = (None,) * len(node.edges)
            else:
                if g is None and node.outputs > 1:
                    g = [None] * node.outputs
                inner = spans.run(node, g) if span else 0
                if runner is not None:
                    grads, mine = runner(node, g, create), False
                elif mine and node.reuses:
                    grads = node.run_in_place(g)
                else:
                    grads = node.run(g, create)
                if create and node.joins is not None:
                    grads = node.joined(grads)
                if inner:
                    spans.end(inner)
            if node.hooks is not None and node.hooks.post:
                grads = run_post_hooks(self, node, self.asked_for(node, grads), g)
            unshared = None if create else self.unshared(node, g, grads, mine)
            if not self.keep and node.saved is not None:
                node.saved = FREED
            g = None
            if span:
                spans.end(span)
            self.send(node, grads, unshared)
            if self.meanwhile:
                self.tend()

    def send(self, node: Node, grads: Any, unshared: Any) -> None:
        """Add the gradients of a node's inputs to those that wait; deliver the leaves whose last use this was. unshared: the
        places of gradients that nobody else holds, or None."""
        target: Node
        for place, edge in enumerate(node.edges):
            if edge is None:
                continue
            target, number = edge
            value = grads[place]
            if value is not None:
                if unshared is not None and place in unshared and target not in self.pending:
                    self.owned.add(target)
                self.add(target, number, value)
            if type(target) is AccumulateGrad:
                self.count_use(target)

    def add(self, target: Node, number: OutputNumber, value: Any) -> None:
        """Add a gradient of output `number` of target to what waits for it: in place, where that is `owned`."""
        pending = self.pending
        if target.outputs != 1:
            slots = pending.get(target)
            if slots is None:
                slots = pending[target] = [None] * target.outputs
            slots[number] = value if slots[number] is None else slots[number] + value
        elif target not in pending:
            pending[target] = value
        elif target in self.owned:
            held = pending[target]
            add(held, value, held)
        else:
            held = pending[target] = pending[target] + value
            if type(held) is ndarray:
                self.owned.add(target)

    def count_use(self, leaf: Node) -> None:
        """A use of a leaf has reported; after the last one the leaf is delivered."""
        left = self.uses[leaf] = self.uses.get(leaf, 0) - 1
        if left == 0:
            self.deliver(leaf)

    def deliver(self, leaf: Any) -> None:
        """A leaf's gradient is complete: add it to .grad, if this pass does that."""
        if spans.fine:
            span = spans.evaluate(leaf)
            spans.run(leaf, self.pending.get(leaf))
            self.deliver_now(leaf)
            spans.end(span)
        else:
            self.deliver_now(leaf)

    def deliver_now(self, leaf: Any) -> None:
        """deliver(), without a word to a profiler."""
        owned = leaf in self.owned
        if owned:
            self.owned.discard(leaf)
        if leaf.variable.hooks is not None or leaf.hooks is not None or self.targets is not None:
            deliver_observed(self, leaf, owned)
        elif leaf in self.pending and self.accumulate:
            self.add_to_grad(leaf, self.pending.pop(leaf), owned)

    def add_to_grad(self, leaf: Any, g: Any, owned: bool) -> None:
        """Add g to the .grad of a leaf, which may keep the very array if it is `owned`."""
        with accumulating:
            leaf.variable.accumulate_grad(g, self.create, owned)

    def unshared(self, node: Node, g: Any, grads: Any, mine: bool) -> Any:
        """The places of gradients that nobody but this pass holds, for leaves, which may keep them as their .grad, and for
        nodes that may write over them; None if there are none. It is asked before the saved values are freed.

        That is an array that a built-in rule has made, whose memory is its own, and that no user has seen: not g, unless it
        is `mine`, no saved value, nothing that the node keeps, no other gradient and not what another one is a view of.
        """
        found: Any = None
        target: Node
        for place, edge in enumerate(node.edges):
            if edge is None:
                continue
            target = edge[0]
            value = grads[place]
            if type(value) is not ndarray or not (type(target) is AccumulateGrad or target.reuses) or target in self.pending:
                continue                             # a further gradient is added to the one that waits
            if (mine if value is g else (value.base is None or owns_memory(value)) and not is_held(value, node, g)) and (
                    len(grads) == 1 or is_alone(value, place, grads)) and node.hooks is None and node.makes_gradients:
                found = (place,) if found is None else (*found, place)
        return found

    def tend(self) -> None:
        """Call those that want to be called between nodes; one that wants it no more takes itself off the list."""
        for function in tuple(self.meanwhile):
            function()

    def count(self, variable: Any) -> None:
        """Tell a leaf's counter that its gradient is there."""
        variable.hooks.counter.count(self, variable)

    # --- what others ask of a pass ----------------------------------------------------------------------------------

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


def is_held(value: Any, node: Node, g: Any) -> bool:
    """Whether an array that `node` has made of g is one of its saved values, of its attributes or of what tuples and
    lists there hold, or one of the gradients g. Elsewhere a built-in rule must not keep what it returns."""
    if type(node.saved) is tuple:
        for saved in node.saved:
            if saved is value or getattr(saved, "array", None) is value:
                return True
    if node.keeps_attributes:
        for kept in vars(node).values():
            if kept is value or (type(kept) is ndarray and kept.base is value):
                return True
            if type(kept) is tuple or type(kept) is list:
                for item in kept:
                    if item is value or (type(item) is ndarray and item.base is value):
                        return True
    if type(g) is list:
        for other in g:
            if other is value:
                return True
    return False


def is_alone(value: Any, place: Position, grads: Any) -> bool:
    """Whether no other gradient is the same array or a view of it."""
    for number, other in enumerate(grads):
        if number != place and type(other) is ndarray and (other is value or other.base is value):
            return False
    return True


# --- asked from inside a pass -----------------------------------------------------------------------------------------

def current_pass() -> BackwardPass | None:
    """The backward pass that this thread is inside (the innermost), None outside; `.accumulate` is False in grad()."""
    return running.passes[-1] if running.passes else None


def queue_callback(callback: Callable[[], None]) -> None:
    """Call `callback` once when the current (innermost) backward pass has ended.

    Args:
        callback (callable): Without arguments.

    Raises:
        RuntimeError: no backward pass is running.

    Example:
        >>> x = ag.ones(1, requires_grad=True)
        >>> engine = ag.autograd.Variable._execution_engine
        >>> handle = x.register_hook(lambda g: engine.queue_callback(lambda: print("the pass has ended")))
        >>> x.sum().backward()
        the pass has ended
    """
    if not running.passes:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    running.passes[-1].callbacks.append(callback)


def is_checkpoint_valid() -> bool:
    """Whether no pass that this thread is inside asks for certain inputs only: then all leaves get their gradient.

    Example:
        >>> ag.autograd.Variable._execution_engine.is_checkpoint_valid()
        True
    """
    return all(each.targets is None for each in running.passes)
