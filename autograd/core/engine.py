# cython: annotation_typing=True
"""The engine: one backward pass, under backward() and grad() (backward.py). Nodes run newest first.

An operation is numbered when it is made, after its inputs, so decreasing numbers are a topological order: nothing is
counted but the uses of each leaf, which is delivered as soon as its last use has reported. The order is the same on
all ranks that run the same program, so that each collective's backward meets its partners; it depends on nothing
else, in particular not on the order of arguments or of losses.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from .graph import AccumulateGrad, Edge, Node
from .hooks import as_value
from .interceptors import node_runner
from .modes import DUAL, GRAD, modes
from .parallel import on_fresh_stack
from .primitive import observers, thread
from .tensor import edge_of, result, unshared
from .walk import Walk, running

by_number = attrgetter("seq")


# --- the passes -----------------------------------------------------------------------------------------------------

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


def run_backward(roots: list[Edge], seeds: list[Any], keep: bool, create: bool,
                 targets: list[Edge] | None, accumulate: bool, since: int = 0) -> list[Any]:
    """Send `seeds` (Tensors) back from `roots`. With targets and not `accumulate`: the gradients at the targets.

    Nodes numbered below `since` are left out: the targets are known not to be behind them.
    """
    if running.walks and _deep():
        return _deeper(lambda: run_backward(roots, seeds, keep, create, targets, accumulate, since))
    order, uses = survey(roots, since)
    if running.joining is not None and not running.walks and not since:
        joined = running.joining(order, targets, keep, accumulate)
        if joined:
            order, uses = survey([*roots, *joined])
    tensors = create or bool(modes.recording & DUAL)      # in a dual level gradients have tangents, which arrays have not
    made: Any = Walk if not observers or thread.observer is None else thread.observer.walk
    walk: Walk = made(tensors, keep, uses, node_runner())
    walk.accumulate = accumulate
    places: list[list[Any]] = []
    if targets is not None:
        walk.targets = {edge[0] for edge in targets}
        order = on_the_way(order, walk.targets, accumulate)
        for node, number in targets:
            places.append([])
            if not accumulate:
                walk.watch.setdefault(node, {}).setdefault(number, []).append(places[-1])
        walk.uses = _uses(order, roots)
    walk.order = order
    recording = modes.recording
    walk.recording = modes.recording = create | (recording & ~GRAD)
    running.walks.append(walk)
    try:
        for (node, number), seed in zip(roots, seeds, strict=True):
            if node.is_leaf:                         # a copy: the leaf may adopt what it is handed
                walk.arrive(node, seed if tensors else seed.array.copy())
            else:
                walk.add(node, number, as_value(seed, tensors))
        walk.run(walk.order)
        if targets is not None:
            _capture_ends(walk)
        while walk.callbacks:
            walk.callbacks.pop(0)()
    finally:
        running.walks.pop()
        modes.recording = recording
    return [place[0] if place else None for place in places]


def _deep() -> bool:
    """Whether a pass inside a pass has used a third of Python's recursion limit."""
    frame, left = sys._getframe(), sys.getrecursionlimit() // 3
    while frame.f_back is not None:
        frame = frame.f_back
        left -= 1
        if left == 0:
            return True
    return False


def _deeper(pass_: Callable[[], Any]) -> Any:
    """Run a pass on a stack of its own, as the inner one of the passes that this thread is inside."""
    walks = list(running.walks)

    def there() -> Any:
        running.walks = walks
        return pass_()

    return on_fresh_stack(there)


def _uses(order: list[Node], roots: list[Edge]) -> dict[Node, int]:
    """How often each leaf is used by the nodes that will run."""
    uses: dict[Node, int] = {}
    for used in [*roots, *(e for node in order for e in node.edges)]:
        if used is not None and used[0].is_leaf:
            uses[used[0]] = uses.get(used[0], 0) + 1
    return uses


def _capture_ends(walk: Walk) -> None:
    """Targets that did not run themselves: their gradient waits where they would have taken it."""
    for node in list(walk.watch):
        if node in walk.pending:
            walk.meet(node, walk.pending.pop(node))


def current_pass() -> Walk | None:
    """The backward pass that this thread is inside (the innermost), None outside; `.accumulate` is False in grad()."""
    return running.walks[-1] if running.walks else None


def queue_callback(callback: Callable[[], None]) -> None:
    """Call `callback` once when the current (innermost) backward pass has ended."""
    if not running.walks:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    running.walks[-1].callbacks.append(callback)


def is_checkpoint_valid() -> bool:
    """Whether no pass that this thread is inside asks for certain inputs only: then all leaves get their gradient."""
    return all(walk.targets is None for walk in running.walks)


# --- when a leaf may adopt a gradient ---------------------------------------------------------------------------------

class _Fresh(Node):
    """A node that makes a gradient which nobody else holds."""

    __slots__ = ()

    def run(self, g: Any, create: bool) -> Any:
        """A new array, known by its id."""
        array = np.ones(1)
        made[0] = id(array)
        return (array,)


made = [0]


def measured(limit: list[int], edge: Edge | None, taken: Callable[[int], bool]) -> int:
    """The reference count, where it is compared with limit[0], of a gradient that only the engine holds, by trying; it
    depends on the interpreter. That is the first limit with which a gradient sent along `edge` is taken, as its id is asked
    for; 0 if there is none."""
    node = _Fresh()
    node.seq, node.saved, node.hooks, node.lane, node.outputs = 1, None, None, None, 1
    node.edges = (edge,)
    for count in range(1, 20):
        limit[0] = count
        run_backward([(node, 0)], [result(np.ones(1))], True, False, None, True)
        if taken(made[0]):
            return count
    return 0


def _measure_adopted() -> int:
    leaf = result(np.ones(1))
    leaf.tracked = GRAD

    def taken(fresh: int) -> bool:
        grad, leaf._grad = leaf._grad, None
        return id(grad.array) == fresh

    return measured(unshared, edge_of(leaf), taken)


unshared[0] = _measure_adopted()
