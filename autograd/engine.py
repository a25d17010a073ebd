"""The engine: backward() and grad(). Nodes run newest first, once what they made has sent its gradients back.

An operation is numbered when it is made, after its inputs, so decreasing numbers are a topological order: nothing is
counted but the uses of each leaf, which is delivered as soon as its last use has reported. The order is the same on
all ranks that run the same program, so that each collective's backward meets its partners; it depends on nothing
else, in particular not on the order of arguments or of losses.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from .graph import AccumulateGrad, Edge, Node, edge_of
from .lanes import run_lanes
from .mode import modes
from .tensor import Tensor, result, unshared

MSG_SCALAR = "grad can be implicitly created only for scalar outputs, this one has shape {shape}"
MSG_UNUSED = ("The differentiated Tensor at index {index} appears to not have been used in the graph. Set "
              "allow_unused=True if this is the desired behavior.")

by_number = attrgetter("seq")


class _Running(threading.local):
    """The backward passes that this thread is inside, innermost last."""

    def __init__(self) -> None:
        self.walks: list[Walk] = []


_running = _Running()


class Walk:
    """One backward pass over `order`: gradients waiting for their node, and uses of leaves still to report."""

    def __init__(self, create: bool, keep: bool, uses: dict[Node, int]) -> None:
        self.create, self.keep, self.uses = create, keep, uses
        self.pending: dict[Node, Any] = {}           # node -> gradient of its output, or list of them
        self.owned: set[Node] = set()                # whose pending gradient is a sum made here: may be added to
        self.watch: dict[Node, dict[int, list[Any]]] = {}    # grad(): node -> output number -> where to put it
        self.accumulate = True
        self.wanted: set[Node] | None = None         # with inputs=: leaves to accumulate into
        self.callbacks: list[Callable[[], None]] = []

    def run(self, order: Sequence[Node]) -> None:
        """Run the nodes in order; sections that lanes recorded run in parallel."""
        start = 0
        for position, node in enumerate(order):
            if position < start:
                continue
            if node.lane is not None and modes.lane is None:
                start = self._run_section(order, position)
            else:
                self.step(node)

    def step(self, node: Node) -> None:
        """Run one node and send its gradients on."""
        pending, owned, create = self.pending, self.owned, self.create
        g = pending.pop(node, None)
        owned.discard(node)
        if node.hooks is not None or node in self.watch:
            g = self._before(node, g)
        if g is None and not node.always_runs:
            grads: Any = (None,) * len(node.edges)
        else:
            if g is None and node.outputs > 1:
                g = [None] * node.outputs
            grads = node.run(g, create)
            if node.hooks is not None and node.hooks.post:
                grads = _run_post_hooks(node, grads, g, create)
        if not self.keep and node.saved is not None:
            node.release()
        for edge, value in zip(node.edges, grads, strict=True):
            if edge is None:
                continue
            target, number = edge
            if target.is_leaf:
                self.arrive(target, value)
            elif value is None:
                continue
            elif target.outputs > 1:
                self.add(target, number, value)
            else:
                held = pending.get(target)
                if held is None:
                    pending[target] = value
                elif create or target not in owned:
                    pending[target] = held + value
                    owned.add(target)
                else:
                    held += value                    # our own sum: nobody else holds it
                    pending[target] = held

    def add(self, target: Node, number: int, value: Any) -> None:
        """Add a gradient for output `number` of target to what is waiting."""
        if target.outputs == 1:
            held = self.pending.get(target)
            self.pending[target] = value if held is None else held + value
            if held is not None:
                self.owned.add(target)
            return
        slots = self.pending.get(target)
        if slots is None:
            slots = self.pending[target] = [None] * target.outputs
        slots[number] = value if slots[number] is None else slots[number] + value

    def arrive(self, leaf: Node, value: Any) -> None:
        """One use of a leaf has reported; after the last one the leaf is delivered."""
        if value is not None:
            held = self.pending.get(leaf)
            if held is None:
                self.pending[leaf] = value
            elif self.create or leaf not in self.owned:
                self.pending[leaf] = held + value
                self.owned.add(leaf)
            else:
                held += value
                self.pending[leaf] = held
            del held, value
        left = self.uses[leaf] - 1
        self.uses[leaf] = left
        if left == 0:
            self.deliver(leaf)

    def deliver(self, leaf: Any) -> None:
        """Hand a leaf its whole gradient: hooks, .grad, then the post-accumulate hooks."""
        self.owned.discard(leaf)
        variable = leaf.variable
        hooks = variable.hooks
        if hooks is None and leaf.hooks is None and not self.watch and self.wanted is None:
            if leaf in self.pending and self.accumulate:
                leaf.run(self.pending.pop(leaf), self.create)
            return
        g = self.pending.pop(leaf, None)
        if hooks is not None and g is not None and hooks.tensor:
            g = _run_tensor_hooks(hooks.tensor[0], g, self.create)
        if leaf.hooks is not None or leaf in self.watch:
            g = self._before(leaf, g)
        if g is None or not self.accumulate or (self.wanted is not None and leaf not in self.wanted):
            return
        leaf.run(g, self.create)
        if hooks is not None:
            for hook in list(hooks.post.values()):
                hook(variable)
        if leaf.hooks is not None:
            for hook in list(leaf.hooks.post.values()):
                hook((), (_tensor(g, self.create),))

    def _before(self, node: Node, g: Any) -> Any:
        """What users see before a node runs: tensor hooks, captures for grad(), retained .grad, node prehooks."""
        slots = list(g) if isinstance(g, list) else [g]
        if g is None and node.outputs > 1:
            slots = [None] * node.outputs
        hooks = node.hooks
        for number, value in enumerate(slots):
            if value is None:
                continue
            if hooks is not None and number in hooks.tensor:
                slots[number] = value = _run_tensor_hooks(hooks.tensor[number], value, self.create)
            for place in self.watch.get(node, {}).get(number, ()):
                place.append(_tensor(value, self.create))
            if hooks is not None and number in hooks.retain and self.accumulate:
                kept = hooks.retain[number]()
                if kept is not None:
                    kept.accumulate_grad(value, self.create)
        if hooks is not None and hooks.pre:
            slots = _run_pre_hooks(node, slots, self.create)
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
            for node in order[start:end]:
                self.step(node)
            return end
        walks = [LaneWalk(self, nodes) for nodes in by_lane.values()]
        run_lanes([walk.walk for walk in walks], list(by_lane))
        for walk in walks:                           # in lane order, whichever finished first: sums are reproducible
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
        for leaf, times in walk.uses.items():
            self.uses[leaf] += 1 - times             # all but one of its uses in this lane
            self.arrive(leaf, walk.pending.get(leaf))


class LaneWalk(Walk):
    """The part of a pass that one lane runs in its own thread; what leaves the lane waits for the merge."""

    def __init__(self, parent: Walk, nodes: list[Node]) -> None:
        super().__init__(parent.create, parent.keep, {})
        self.watch, self.accumulate, self.wanted = parent.watch, parent.accumulate, parent.wanted
        self.nodes, self.parent = nodes, parent
        for node in nodes:
            if node in parent.pending:
                self.pending[node] = parent.pending.pop(node)

    def walk(self) -> None:
        """Run the lane's nodes."""
        _running.walks.append(self.parent)
        recording, modes.recording = modes.recording, self.create
        try:
            self.run(self.nodes)
        finally:
            modes.recording = recording
            _running.walks.pop()

    def arrive(self, leaf: Node, value: Any) -> None:
        """Sum up; the leaf is delivered by the pass that this lane belongs to."""
        self.uses[leaf] = self.uses.get(leaf, 0) + 1
        if value is not None:
            held = self.pending.get(leaf)
            self.pending[leaf] = value if held is None else held + value


def _lanes_touch(by_lane: dict[int, list[Node]]) -> bool:
    """Whether an edge leads from one lane of a section into another: then it can't run in parallel."""
    lane_of = {node: lane for lane, nodes in by_lane.items() for node in nodes}
    return any(edge is not None and lane_of.get(edge[0], lane) != lane
               for node, lane in lane_of.items() for edge in node.edges)


# --- hooks ----------------------------------------------------------------------------------------------------------

def _tensor(value: Any, create: bool) -> Tensor:
    """What users see of a gradient: always a Tensor."""
    return value if create else result(value)


def _value(tensor: Tensor, create: bool) -> Any:
    return tensor if create else tensor.array


def _run_tensor_hooks(hooks: dict[int, Any], value: Any, create: bool) -> Any:
    """Tensor.register_hook's functions in order, each seeing what the one before returned."""
    tensor = _tensor(value, create)
    for hook in list(hooks.values()):
        out = hook(tensor)
        if out is None:
            continue
        if not isinstance(out, Tensor):
            raise TypeError(f"expected Tensor, but hook {_name(hook)} returned {type(out).__name__!r}")
        if out.shape != tensor.shape:
            raise RuntimeError(f"hook {_name(hook)} has changed the size of value: {list(tensor.shape)} to "
                               f"{list(out.shape)}")
        if out.dtype != tensor.dtype:
            raise RuntimeError(f"hook {_name(hook)} has changed the type of value: {tensor.dtype} to {out.dtype}")
        tensor = out
    return _value(tensor, create)


def _run_pre_hooks(node: Node, slots: list[Any], create: bool) -> list[Any]:
    """Node.register_prehook's functions: each may replace the gradients of the outputs."""
    assert node.hooks is not None
    tensors = tuple(None if v is None else _tensor(v, create) for v in slots)
    for hook in list(node.hooks.pre.values()):
        tensors = _replaced(hook, hook(tensors), tensors)
    return [None if t is None else _value(t, create) for t in tensors]


def _run_post_hooks(node: Node, grads: Any, g: Any, create: bool) -> list[Any]:
    """Node.register_hook's functions: each may replace the gradients of the inputs."""
    assert node.hooks is not None
    outputs = tuple(None if v is None else _tensor(v, create) for v in (g if node.outputs > 1 else (g,)))
    tensors = tuple(None if v is None else _tensor(v, create) for v in grads)
    for hook in list(node.hooks.post.values()):
        tensors = _replaced(hook, hook(tensors, outputs), tensors)
    return [None if t is None else _value(t, create) for t in tensors]


def _replaced(hook: Any, out: Any, tensors: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a node hook makes of `tensors`: itself if it returned None, else its tuple, checked."""
    if out is None:
        return tensors
    out = out if isinstance(out, tuple) else (out,)
    if len(out) != len(tensors):
        raise RuntimeError(f"hook {_name(hook)} has returned an incorrect number of values (got {len(out)}, but "
                           f"expected {len(tensors)})")
    for before, after in zip(tensors, out, strict=True):
        if before is None and after is not None:
            raise RuntimeError(f"hook {_name(hook)} can't replace a None gradient with a non-None value")
    return out


def _name(hook: Any) -> str:
    return repr(getattr(hook, "__name__", hook))


# --- the passes -----------------------------------------------------------------------------------------------------

def survey(roots: list[Edge]) -> tuple[list[Node], dict[Node, int]]:
    """All nodes that the roots reach, newest first, without leaves; and how often each leaf is used."""
    seen = {edge[0] for edge in roots}
    uses: dict[Node, int] = {}
    for edge in roots:
        if edge[0].is_leaf:
            uses[edge[0]] = uses.get(edge[0], 0) + 1
    stack = [node for node in seen if not node.is_leaf]
    order = list(stack)
    while stack:
        for edge in stack.pop().edges:
            if edge is None:
                continue
            node = edge[0]
            if node.is_leaf:
                uses[node] = uses.get(node, 0) + 1
            elif node not in seen:
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
                 targets: list[Edge] | None, accumulate: bool) -> list[Any]:
    """Send `seeds` (Tensors) back from `roots`. With targets and not `accumulate`: the gradients at the targets."""
    order, uses = survey(roots)
    walk = Walk(create, keep, uses)
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
    recording, modes.recording = modes.recording, create
    _running.walks.append(walk)
    try:
        for (node, number), seed in zip(roots, seeds, strict=True):
            value = _value(seed, create)
            if node.is_leaf:
                walk.arrive(node, value)
            else:
                walk.add(node, number, value)
        walk.run(order)
        if targets is not None:
            _capture_ends(walk)
        while walk.callbacks:
            walk.callbacks.pop(0)()
    finally:
        _running.walks.pop()
        modes.recording = recording
    return [place[0] if place else None for place in places]


def _uses(order: list[Node], roots: list[Edge]) -> dict[Node, int]:
    """How often each leaf is used by the nodes that will run."""
    uses: dict[Node, int] = {}
    for edge in [*roots, *(e for node in order for e in node.edges)]:
        if edge is not None and edge[0].is_leaf:
            uses[edge[0]] = uses.get(edge[0], 0) + 1
    return uses


def _capture_ends(walk: Walk) -> None:
    """Targets that did not run themselves: their gradient waits where they would have taken it."""
    for node in list(walk.watch):
        if node in walk.pending:
            walk._before(node, walk.pending.pop(node))


def current_pass() -> Walk | None:
    """The backward pass that this thread is inside (the innermost), None outside; `.accumulate` is False in grad()."""
    return _running.walks[-1] if _running.walks else None


def queue_callback(callback: Callable[[], None]) -> None:
    """Call `callback` once when the current (innermost) backward pass has ended."""
    if not _running.walks:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    _running.walks[-1].callbacks.append(callback)


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
    node.seq, node.saved, node.hooks, node.lane, node.edges = 0, None, None, None, ((AccumulateGrad(probe), 0),)
    run_backward([(node, 0)], [result(np.ones(1))], False, False, None, True)
    return probe.count


unshared[0] = _measure_unshared()
