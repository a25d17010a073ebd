# cython: annotation_typing=True
"""The backward loop: survey() orders the nodes; BackwardPass runs them, adds up their gradients and passes these on.

A node gets its number when it is created, after its inputs, so decreasing numbers are a topological order. Only the uses of
each leaf are counted, so that a leaf's gradient is delivered as soon as its last use has run. The order is the same on all
ranks that run the same program, so each collective's backward matches its partners. It depends on nothing else, in
particular not on the order of arguments or losses.

Elsewhere: hooks on tensors and nodes (hooks.py), parallel sections (lane_pass.py), storage for gradients of leaves
(grad_buffers.py), how a pass starts and ends (backward.py), and observers of nodes (interceptors.py).
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
    """The backward passes that this thread is running, innermost last."""

    def __init__(self) -> None:
        self.passes: list[BackwardPass] = []
        # (nodes in order, targets, keep, accumulate) -> more edges to start from: messages that no path reaches
        self.joining: Callable[[list[Node], Any, bool, bool], list[Any]] | None = None


running: _Running = _Running()
accumulating: threading.RLock = threading.RLock()    # threads may share leaves: only one adds to .grad at a time


# --- order ------------------------------------------------------------------------------------------------------------

def survey(roots: list[Edge], since: int = 0) -> tuple[list[Node], dict[Node, int]]:
    """All nodes that the roots reach, newest first, without leaves and without nodes numbered below `since`; and the number
    of uses of each leaf."""
    seen = {edge[0] for edge in roots}
    uses: dict[Node, int] = {}
    for root, _ in roots:
        if root.is_leaf:
            uses[root] = uses.get(root, 0) + 1
    stack = [node for node in seen if not node.is_leaf]
    order = list(stack)
    node: Node                                       # a C type in the compiled core
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
    """The nodes of `order` on a path to a target; the targets too if they run `themselves`, as in backward(inputs=).
    Collectives always run."""
    needed: set[Node] = set()
    for node in reversed(order):                     # oldest first: a node's inputs come before it
        if node.always_runs or (themselves and node in targets) or any(
                e is not None and (e[0] in targets or e[0] in needed) for e in node.edges):
            needed.add(node)
    return [node for node in order if node in needed]


def count_uses(order: list[Node], roots: list[Edge]) -> dict[Node, int]:
    """The number of uses of each leaf by the roots and by the nodes that will run."""
    uses: dict[Node, int] = {}
    for used in [*roots, *(e for node in order for e in node.edges)]:
        if used is not None and used[0].is_leaf:
            uses[used[0]] = uses.get(used[0], 0) + 1
    return uses


# --- the loop ---------------------------------------------------------------------------------------------------------

class BackwardPass:
    """One backward pass: the gradients that wait for their node, and the remaining uses of each leaf."""

    fills_buffers = True                             # rules may write gradients into the leaves' buffers
    replayed = False                                 # a recorded step: nodes have no graph, gradients have their own memory

    def __init__(self, create: bool, keep: bool, uses: dict[Node, int], runner: Any = None) -> None:
        self.create: bool = create
        self.keep: bool = keep
        self.uses: dict[Node, int] = uses
        self.pending: dict[Node, Any] = {}           # node -> gradient of its output, or list of them
        self.owned: set[Node] = set()                # nodes whose pending gradient has no other reference
        self.captures: dict[Node, dict[int, list[Any]]] = {}     # grad(): node -> output number -> list for the result
        self.runner = runner                         # called instead of node.run(), see interceptors.py
        self.accumulate = True
        self.callbacks: list[Callable[[], None]] = []
        self.meanwhile: list[Callable[[], object]] = []      # called after each node: progresses messages
        self.recording: int = create
        self.order: Sequence[Node] = ()              # all nodes that run, without leaves
        self.targets: set[Node] | None = None        # with inputs=: the requested nodes
        self.replaced: list[tuple[Any, Node]] = []   # hooks that replaced a gradient, and their nodes
        self._members: set[Node] | None = None

    def run(self, order: Sequence[Node]) -> None:
        """Run the nodes in order: each on the gradients that reached it. Free its saved values and pass its results on."""
        pending, owned, captures, create, runner = self.pending, self.owned, self.captures, self.create, self.runner
        node: Node                                   # a C type in the compiled core
        for node in order:
            span = spans.evaluate(node) if spans.fine else 0
            g = pending.pop(node, None)
            mine = False                             # whether only this pass holds g
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
        """Add the gradients of a node's inputs to the pending ones; deliver leaves whose last use this was. unshared: the
        indices of gradients without another reference, or None."""
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
        """Add a gradient of output `number` of target to the pending one: in place if that is `owned`."""
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
        """Count one use of a leaf as done; deliver the leaf after the last one."""
        left = self.uses[leaf] = self.uses.get(leaf, 0) - 1
        if left == 0:
            self.deliver(leaf)

    def deliver(self, leaf: Any) -> None:
        """Add a leaf's complete gradient to .grad, if this pass accumulates."""
        if spans.fine:
            span = spans.evaluate(leaf)
            spans.run(leaf, self.pending.get(leaf))
            self.deliver_now(leaf)
            spans.end(span)
        else:
            self.deliver_now(leaf)

    def deliver_now(self, leaf: Any) -> None:
        """deliver(), without profiling."""
        owned = leaf in self.owned
        if owned:
            self.owned.discard(leaf)
        if leaf.variable.hooks is not None or leaf.hooks is not None or self.targets is not None:
            deliver_observed(self, leaf, owned)
        elif leaf in self.pending and self.accumulate:
            self.add_to_grad(leaf, self.pending.pop(leaf), owned)

    def add_to_grad(self, leaf: Any, g: Any, owned: bool) -> None:
        """Add g to the .grad of a leaf. If g is `owned`, .grad may keep this array."""
        with accumulating:
            leaf.variable.accumulate_grad(g, self.create, owned)

    def unshared(self, node: Node, g: Any, grads: Any, mine: bool) -> Any:
        """The indices of gradients that only this pass holds: leaves may keep them as .grad, and nodes may overwrite them.
        None if there are none. Called before the saved values are freed.

        Such a gradient is an array that a built-in rule created, that owns its memory, and that no user code has seen. It is
        not g (unless `mine`), a saved value, an attribute of the node, another gradient, or the base of another gradient.
        """
        found: Any = None
        target: Node
        for place, edge in enumerate(node.edges):
            if edge is None:
                continue
            target = edge[0]
            value = grads[place]
            if type(value) is not ndarray or not (type(target) is AccumulateGrad or target.reuses) or target in self.pending:
                continue                             # added to the pending gradient
            if (mine if value is g else (value.base is None or owns_memory(value)) and not is_held(value, node, g)) and (
                    len(grads) == 1 or is_alone(value, place, grads)) and node.hooks is None and node.makes_gradients:
                found = (place,) if found is None else (*found, place)
        return found

    def tend(self) -> None:
        """Run the between-nodes callbacks; a callback removes itself when it is done."""
        for function in tuple(self.meanwhile):
            function()

    def count(self, variable: Any) -> None:
        """Notify a leaf's counter that its gradient is complete."""
        variable.hooks.counter.count(self, variable)

    # --- queries ----------------------------------------------------------------------------------------------------

    def reaches(self, node: Node) -> bool:
        """Whether this pass computes a gradient for `node`."""
        if self._members is None:
            self._members = {*self.order, *(self.uses if self.targets is None else self.targets)}
        return node in self._members

    def asked_for(self, node: Node, grads: Sequence[Any]) -> Sequence[Any]:
        """The gradients of a node's inputs as its hooks see them: None for inputs on no path to a target."""
        if self.targets is None:
            return grads
        return [None if edge is None or not self.reaches(edge[0]) else g
                for g, edge in zip(grads, node.edges, strict=True)]

    def marked(self) -> list[Node]:
        """The few nodes that always run or run an inner pass; reducers query them."""
        return [node for node in self.order if node.always_runs or node.reenters]


def is_held(value: Any, node: Node, g: Any) -> bool:
    """Whether an array that `node` computed from g is a saved value, an attribute or an item of a tuple or list there, or
    one of the gradients g. A built-in rule must not keep a result anywhere else."""
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


# --- from inside a pass -----------------------------------------------------------------------------------------------

def current_pass() -> BackwardPass | None:
    """The innermost backward pass of this thread; None outside. Its `.accumulate` is False in grad()."""
    return running.passes[-1] if running.passes else None


def queue_callback(callback: Callable[[], None]) -> None:
    """Call `callback` once, at the end of the current (innermost) backward pass.

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
    """Whether no running pass of this thread is limited to certain inputs, so that all leaves get their gradient."""
    return all(each.targets is None for each in running.passes)
