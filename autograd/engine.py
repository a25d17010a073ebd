"""The engine: backward() and grad(). Nodes run newest first.

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

from .graph import AccumulateGrad, Edge, Node, edge_of
from .hooks import as_value
from .mode import DUAL, modes
from .tensor import Tensor, result, unshared
from .walk import Walk, running

MSG_SCALAR = "grad can be implicitly created only for scalar outputs, this one has shape {shape}"
MSG_UNUSED = ("The differentiated Tensor at index {index} appears to not have been used in the graph. Set "
              "allow_unused=True if this is the desired behavior.")

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
    while stack:
        for edge in stack.pop().edges:
            if edge is None:
                continue
            node = edge[0]
            if node.__class__ is AccumulateGrad:
                uses[node] = uses.get(node, 0) + 1
            elif node not in seen and node.seq >= since:
                seen.add(node)
                stack.append(node)
                order.append(node)
    order.sort(key=by_number, reverse=True)
    return order, uses


def on_the_way(order: list[Node], targets: set[Node]) -> list[Node]:
    """The nodes of `order` that must run so that gradients reach the targets; collectives run whatever is asked."""
    needed: set[Node] = set()
    for node in reversed(order):                     # oldest first: a node's inputs come before it
        if node.always_runs or any(e is not None and (e[0] in targets or e[0] in needed) for e in node.edges):
            needed.add(node)
    return [node for node in order if node in needed]


def run_backward(roots: list[Edge], seeds: list[Any], keep: bool, create: bool,
                 targets: list[Edge] | None, accumulate: bool, since: int = 0) -> list[Any]:
    """Send `seeds` (Tensors) back from `roots`. With targets and not `accumulate`: the gradients at the targets.

    Nodes numbered below `since` are left out: the targets are known not to be behind them.
    """
    order, uses = survey(roots, since)
    tensors = create or bool(modes.recording & DUAL)      # in a dual level gradients have tangents, which arrays have not
    walk = Walk(tensors, keep, uses)
    walk.accumulate = accumulate
    places: list[list[Any]] = []
    if targets is not None:
        nodes = {edge[0] for edge in targets}
        order = on_the_way(order, nodes)
        if accumulate:
            walk.wanted = nodes
        for node, number in targets:
            places.append([])
            if not (accumulate and node.is_leaf):
                walk.watch.setdefault(node, {}).setdefault(number, []).append(places[-1])
        walk.uses = _uses(order, roots)
    recording = modes.recording
    walk.recording = modes.recording = create | (recording & DUAL)
    running.walks.append(walk)
    try:
        for (node, number), seed in zip(roots, seeds, strict=True):
            if node.is_leaf:                         # a copy: the leaf may adopt what it is handed
                walk.arrive(node, seed if tensors else seed.array.copy())
            else:
                walk.add(node, number, as_value(seed, tensors))
        walk.run(order)
        if targets is not None:
            _capture_ends(walk)
        while walk.callbacks:
            walk.callbacks.pop(0)()
    finally:
        running.walks.pop()
        modes.recording = recording
    return [place[0] if place else None for place in places]


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
            walk._before(node, walk.pending.pop(node))


def current_pass() -> Walk | None:
    """The backward pass that this thread is inside (the innermost), None outside; `.accumulate` is False in grad()."""
    return running.walks[-1] if running.walks else None


def queue_callback(callback: Callable[[], None]) -> None:
    """Call `callback` once when the current (innermost) backward pass has ended."""
    if not running.walks:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    running.walks[-1].callbacks.append(callback)


# --- what users call ------------------------------------------------------------------------------------------------

def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _seeds(tensors: list[Tensor], grads: list[Any], create: bool) -> tuple[list[Edge], list[Tensor]]:
    """Edges of the roots and the gradient to start each from: 1 for a scalar."""
    if len(tensors) != len(grads):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(grads)} gradients")
    edges, seeds = [], []
    for number, (tensor, g) in enumerate(zip(tensors, grads, strict=True)):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"element {number} is a {type(tensor).__name__}, not a Tensor")
        edge = edge_of(tensor)
        if edge is None:
            raise RuntimeError(f"element {number} of tensors does not require grad and does not have a grad_fn")
        if g is None:
            if tensor.array.size != 1:
                raise RuntimeError(MSG_SCALAR.format(shape=list(tensor.shape)))
            g = result(np.ones(tensor.array.shape, tensor.array.dtype))
        elif not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        if g.shape != tensor.shape:
            raise RuntimeError(f"Mismatch in shape: grad_output[{number}] has a shape of {list(g.shape)} and "
                               f"output[{number}] has a shape of {list(tensor.shape)}.")
        edges.append(edge)
        seeds.append(g)
    return edges, seeds


def backward(tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
             inputs: Any = None) -> None:
    """Add d(sum of <tensor, grad>)/d(leaf) to .grad of every leaf that the tensors were computed from.

    grad_tensors: one per tensor, of its shape; None stands for 1 and needs a tensor of one element. retain_graph
    (default: create_graph) keeps saved values for another pass. create_graph records the backward pass itself, so
    that its results can be differentiated again. inputs: accumulate into these tensors only (non-leaves too).
    """
    roots = _as_list(tensors)
    grads = [None] * len(roots) if grad_tensors is None else _as_list(grad_tensors)
    targets = None
    if inputs is not None:
        wanted = _as_list(inputs)
        if not wanted:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
        targets = _targets(wanted)
    edges, seeds = _seeds(roots, grads, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    found = run_backward(edges, seeds, keep, create_graph, targets, True)
    if inputs is not None:
        for tensor, g in zip(wanted, found, strict=True):
            if tensor.edge is not None and g is not None:
                tensor.accumulate_grad(g if create_graph else g.array, create_graph)


def grad(outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None,
         create_graph: bool = False, allow_unused: bool | None = None, is_grads_batched: bool = False,
         materialize_grads: bool = False) -> tuple[Any, ...]:
    """The gradients of the sum of <output, grad_output> with respect to each of inputs, as a tuple; .grad is untouched.

    An input that the outputs do not depend on is an error; with allow_unused its gradient is None, with
    materialize_grads zeros. The other arguments are backward()'s.
    """
    if is_grads_batched:
        raise NotImplementedError("grad(is_grads_batched=True) is not implemented; call grad() once per row")
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: False.")
    roots, wanted = _as_list(outputs), _as_list(inputs)
    grads = [None] * len(roots) if grad_outputs is None else _as_list(grad_outputs)
    targets = _targets(wanted)
    edges, seeds = _seeds(roots, grads, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    found = run_backward(edges, seeds, keep, create_graph, targets, False)
    for index, g in enumerate(found):
        if g is None and materialize_grads:
            found[index] = result(np.zeros_like(wanted[index].array))
        elif g is None and not allow_unused:
            raise RuntimeError(MSG_UNUSED.format(index=index))
    return tuple(found)


def _targets(tensors: list[Any]) -> list[Edge]:
    """The edges whose gradient is asked for."""
    edges = []
    for number, tensor in enumerate(tensors):
        edge = edge_of(tensor) if isinstance(tensor, Tensor) else None
        if edge is None:
            raise RuntimeError(f"One of the differentiated Tensors does not require grad: inputs[{number}]")
        edges.append(edge)
    return edges


# --- when a leaf may adopt a gradient ---------------------------------------------------------------------------------

class _Probe:
    """A leaf that counts who holds the gradient it is handed, where Tensor.accumulate_grad would count."""

    hooks = None

    def accumulate_grad(self, g: Any, create: bool) -> None:
        self.count = sys.getrefcount(g)


class _Fresh(Node):
    """A node that makes a gradient which nobody else holds."""

    __slots__ = ()

    def run(self, g: Any, create: bool) -> Any:
        return (np.ones(1),)


def _measure_unshared() -> int:
    """The reference count of a gradient that only the engine holds; other interpreters count otherwise."""
    probe, node = _Probe(), _Fresh()
    node.seq, node.saved, node.hooks, node.lane, node.outputs = 0, None, None, None, 1
    node.edges = ((AccumulateGrad(probe), 0),)
    run_backward([(node, 0)], [result(np.ones(1))], False, False, None, True)
    return probe.count


unshared[0] = _measure_unshared()
