# cython: annotation_typing=True
"""backward() and grad(): their arguments, and how a backward pass starts and ends.

BackwardPass in engine.py runs the nodes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from ..base.errors import warn_user
from ..base.hidden import Hidden
from ..spans import spans
from .edges import GradientEdge, input_metadata
from .engine import BackwardPass, count_uses, on_the_way, running, survey
from .graph import Edge, Node
from .hooks import observe
from .interceptors import node_runner
from .lane_pass import run_by_sections
from .modes import DUAL, GRAD, modes, process
from .operation import Operation, sum_to_like
from .parallel import on_fresh_stack
from .primitive import this_thread, watchers
from .tensor import AccumulateGrad, Tensor, edge_of, result

MSG_UNUSED = ("The differentiated Tensor at index {index} appears to not have been used in the graph. Set "
              "allow_unused=True if this is the desired behavior.")

MSG_CYCLE = ("Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
             "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
             "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
             "the cycle and avoid the leak.")
MSG_SCALAR = "grad can be implicitly created only for scalar outputs, this one has shape {shape}"
MSG_MISMATCH = ("Mismatch in shape: grad_output[{number}] has a shape of {got} and output[{number}] has a shape of "
                "{expected}.")
MSG_BATCHED = ("If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. "
               "The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
               "mismatch was detected: grad_output[{number}] has a shape of {got} and output[{number}] has a shape of "
               "{expected}.")

PASS = spans.number_of("autograd::backward", spans.PASS)


def backward(tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
             grad_variables: Any = None, inputs: Any = None) -> None:
    """Add d(sum of <tensor, grad>)/d(leaf) to .grad of every leaf that the tensors were computed from.

    tensors: Tensors or GradientEdges. grad_tensors: one per tensor, of its shape; None stands for 1 and needs a tensor
    of one element. retain_graph (default: create_graph) keeps saved values for another pass. create_graph records the
    backward pass itself, so that its results can be differentiated again. inputs: accumulate into these tensors only
    (non-leaves too; a dict stands for its values). grad_variables: grad_tensors' old name."""
    if grad_variables is not None:
        warn_user("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
                               "Please only use `grad_tensors`.")
        grad_tensors = grad_variables
    targets = None
    if inputs is not None:
        wanted = listed_inputs(inputs, "backward")
        targets = edges_of(wanted)
        for tensor in wanted:
            if isinstance(tensor, Tensor):
                tensor.retain_grad()
    edges, seeds = roots_and_seeds(listed(tensors), grad_tensors)
    if create_graph:
        warn_user(MSG_CYCLE)
    run_backward(edges, seeds, create_graph if retain_graph is None else retain_graph, create_graph, targets, True)


def backward_method(self: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None,
                    create_graph: bool = False, inputs: Any = None) -> None:
    """Add d(self)/d(leaf) to .grad of every leaf behind this tensor; see autograd.backward."""
    backward([self], [gradient], retain_graph, create_graph, inputs=inputs)


@overload
def grad(outputs: Any, inputs: Mapping[Any, Tensor], grad_outputs: Any = None, retain_graph: bool | None = None,
         create_graph: bool = False, only_inputs: bool = True, allow_unused: bool | None = None,
         is_grads_batched: bool = False, materialize_grads: bool = False) -> dict[Any, Tensor | Any]: ...
@overload
def grad(outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None,
         create_graph: bool = False, only_inputs: bool = True, allow_unused: bool | None = None,
         is_grads_batched: bool = False, materialize_grads: bool = False) -> tuple[Tensor | Any, ...]: ...
def grad(outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None,
         create_graph: bool = False, only_inputs: bool = True, allow_unused: bool | None = None,
         is_grads_batched: bool = False, materialize_grads: bool = False) -> Any:
    """The gradients of the sum of <output, grad_output> with respect to each of `inputs`, as a tuple. .grad is unchanged.

    If inputs is a dict, so is the result. An input on which the outputs do not depend is an error; with allow_unused its
    gradient is None, with materialize_grads zeros. is_grads_batched: each of grad_outputs, and each gradient, is a stack
    along its first dimension; the pass runs once per row. For the other arguments see backward()."""
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
                         "allow_unused=False.")
    if not only_inputs:
        warn_user("only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient "
                  "for other parts of the graph, please use autograd.backward.", FutureWarning)
    wanted = listed_inputs(inputs, "grad")
    edges, seeds = roots_and_seeds(listed(outputs), grad_outputs, is_grads_batched)
    targets = edges_of(wanted)
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        rows = rows_of(seeds)
        found = stacked([run_backward(edges, row, keep or row is not rows[-1], create_graph, targets, False)
                               for row in rows], wanted)
    else:
        found = run_backward(edges, seeds, keep, create_graph, targets, False)
    for index, g in enumerate(found):
        if g is None and materialize_grads:
            if not isinstance(wanted[index], Tensor):
                raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
            found[index] = result(np.zeros_like(wanted[index].array))
            found[index].tracked = create_graph
        elif g is None and not allow_unused:
            raise RuntimeError(MSG_UNUSED.format(index=index))
    return dict(zip(inputs, found, strict=True)) if isinstance(inputs, dict) else tuple(found)


# --- the arguments ----------------------------------------------------------------------------------------------------

def listed(value: Any) -> list[Any]:
    """One Tensor or GradientEdge, or a sequence of them, as a list."""
    return [value] if isinstance(value, (Tensor, GradientEdge)) else list(value)


def listed_inputs(inputs: Any, caller: str) -> list[Any]:
    """The `inputs` of backward() or grad() as a list; a dict stands for its values."""
    if isinstance(inputs, Mapping):
        if type(inputs) is not dict:
            raise TypeError(f"`inputs` argument to `{caller}()` must be a dict, not {type(inputs).__name__}. Other "
                            "Mapping types are not supported.")
        inputs = list(inputs.values())
    inputs = listed(inputs)
    if not inputs:
        raise RuntimeError(f"`inputs` argument to `{caller}()` cannot be empty.")
    return inputs


def edges_of(inputs: Sequence[Any]) -> list[Edge]:
    """The edges of the inputs whose gradient is requested."""
    edges: list[Edge] = []
    for number, given in enumerate(inputs):
        if isinstance(given, GradientEdge):
            edges.append((given.node, given.output_nr))
            continue
        if not isinstance(given, Tensor):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(given).__name__}")
        edge = edge_of(given)
        if type(given.array) is Hidden:
            given.array.refuse("backward() or grad(inputs)")
        if edge is None and given.requires_grad:     # a view created in inference mode: never gets a gradient
            edge = AccumulateGrad(given), 0
        if edge is None:
            raise RuntimeError(f"One of the differentiated Tensors does not require grad: inputs[{number}]")
        edges.append(edge)
    return edges


def roots_and_seeds(roots: list[Any], grads: Any, batched: bool = False) -> tuple[list[Edge], list[Tensor]]:
    """The edges of the roots and their initial gradients: 1 for a scalar. With `batched`, stacks of gradients."""
    grads = [None] * len(roots) if grads is None else [grads] if isinstance(grads, Tensor) else list(grads)
    if len(roots) != len(grads):
        raise RuntimeError(f"got {len(roots)} tensors and {len(grads)} gradients")
    edges: list[Edge] = []
    starts = []
    for number, (root, g) in enumerate(zip(roots, grads, strict=True)):
        edge, shape, dtype = _root(root, number)
        edges.append(edge)
        if g is None:
            if batched:
                raise NotImplementedError("grad(is_grads_batched=True) needs a stack of gradients for each output, but "
                                          f"grad_outputs[{number}] is None")
            starts.append(_one(shape, dtype))
        else:
            check_seed(g, number, shape, dtype, batched)
            starts.append(g if dtype is None or g.dtype is dtype else sum_to_like(g, g.shape, dtype))
    return edges, starts


def check_seed(g: Any, number: int, shape: Any, dtype: Any, batched: bool) -> None:
    """Raise an error unless g is a valid initial gradient for output `number` of this shape and dtype."""
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    if batched and g.ndim == 0:
        raise ValueError(f"grad(is_grads_batched=True): grad_outputs[{number}] has no dimension, expected a stack")
    got = g.shape[1:] if batched else g.shape
    if shape is not None and got != shape:
        message = MSG_BATCHED if batched else MSG_MISMATCH
        raise RuntimeError(message.format(number=number, got=list(got), expected=list(shape)))
    if dtype is not None and (g.dtype.kind == "c") != (dtype.kind == "c"):
        raise RuntimeError(f"For complex Tensors, both grad_output[{number}] and output[{number}] are required to have "
                           f"the same dtype. Mismatch in dtype: grad_output[{number}] has {g.dtype}, output[{number}] "
                           f"has {dtype}.")


def _root(root: Any, number: int) -> tuple[Edge, Any, Any]:
    """The edge, shape and dtype of a root."""
    if isinstance(root, GradientEdge):
        return (root.node, root.output_nr), *input_metadata(root)
    if not isinstance(root, Tensor):
        raise TypeError(f"element {number} is a {type(root).__name__}, not a Tensor")
    edge = edge_of(root)
    if edge is None:
        if type(root.array) is Hidden:
            root.array.refuse("backward() or grad(outputs)")
        raise RuntimeError(f"element {number} of tensors does not require grad and does not have a grad_fn")
    return edge, root.array.shape, root.array.dtype


def _one(shape: Any, dtype: Any) -> Tensor:
    """The gradient of a root of one element with respect to itself."""
    if shape is None:
        raise RuntimeError("grad can be implicitly created only for scalar outputs: of this GradientEdge the shape is "
                           "not known, pass its gradient")
    if math.prod(shape) != 1:
        raise RuntimeError(MSG_SCALAR.format(shape=list(shape)))
    if dtype.kind == "c":
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {dtype}")
    return result(np.ones(shape, dtype))


# --- a stack of gradients ---------------------------------------------------------------------------------------------

class StackGradients(Operation, name="Stack"):
    """Arrays of one shape along a new first dimension."""

    @staticmethod
    def forward(ctx: Any, *arrays: Any) -> Any:
        """The arrays, of one shape, along a new first dimension."""
        ctx.count = len(arrays)
        return np.stack(arrays)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The rows of g."""
        return tuple([g[number] for number in range(ctx.count)])


def rows_of(starts: list[Tensor]) -> list[list[Tensor]]:
    """Turn one stack of gradients per root into one list of gradients per row."""
    sizes = [g.shape[0] for g in starts]
    if len(set(sizes)) > 1:
        raise ValueError("grad(is_grads_batched=True): Expected all tensors to have the same size in the mapped "
                         f"dimension, got sizes {sizes} for the mapped dimension")
    return [[g[row] for g in starts] for row in range(sizes[0] if sizes else 0)]


def stacked(rows: list[list[Any]], inputs: Sequence[Any]) -> list[Any]:
    """The gradients of each input, stacked over the rows; None for an input without one."""
    if not rows:
        return [result(np.zeros((0, *i.shape), i.dtype)) if isinstance(i, Tensor) else None for i in inputs]
    return [None if any(g is None for g in column) else StackGradients.apply(*column) for column in zip(*rows, strict=True)]


# --- one pass ---------------------------------------------------------------------------------------------------------

def run_backward(roots: list[Edge], seeds: list[Any], keep: bool, create: bool,
                 targets: list[Edge] | None, accumulate: bool, since: int = 0) -> list[Any]:
    """Propagate `seeds` (Tensors) back from `roots`. With targets and not `accumulate`: return the gradients at the targets.

    Nodes numbered below `since` are skipped: the caller knows that they lead to no target.
    """
    if running.passes and _deep():
        return _deeper(lambda: run_backward(roots, seeds, keep, create, targets, accumulate, since))
    order, uses = survey(roots, since)
    if running.joining is not None and not running.passes and not since:
        joined = running.joining(order, targets, keep, accumulate)
        if joined:
            order, uses = survey([*roots, *joined])
    tensors = create or bool(modes.recording & DUAL)      # in a dual level gradients have tangents, which arrays can't have
    watcher = this_thread.call_watcher if watchers else None
    if watcher is not None and any(type(seed.array) is Hidden for seed in seeds):
        tensors = True                               # inside vmap() there is no array of all samples
    kind: Any = BackwardPass if watcher is None or watcher.backward_pass is None else watcher.backward_pass
    runner = node_runner() if process.interceptors or modes.interceptors else None
    current: BackwardPass = kind(tensors, keep, uses, runner)
    current.accumulate = accumulate
    places: list[list[Any]] = []
    if targets is not None:
        current.targets = {edge[0] for edge in targets}
        order = on_the_way(order, current.targets, accumulate)
        for node, number in targets:
            places.append([])
            if not accumulate:
                current.captures.setdefault(node, {}).setdefault(number, []).append(places[-1])
        current.uses = count_uses(order, roots)
    current.order = order
    recording = modes.recording
    current.recording = modes.recording = create | (recording & ~GRAD)
    running.passes.append(current)
    span = spans.begin(PASS) if spans.active else 0
    try:
        for (node, number), seed in zip(roots, seeds, strict=True):
            if not node.is_leaf:
                current.add(node, number, seed if tensors else seed.array)
                continue
            if not tensors and node not in current.pending:
                current.owned.add(node)              # .grad may keep the copy
            current.add(node, 0, seed if tensors else seed.array.copy())
            current.count_use(node)
        if modes.lane is None and modes.multithreading and has_lanes(order):
            if watcher is not None:
                watcher.refuse("lanes (parallel_apply, local devices) can't be recorded")
            run_by_sections(current, order)
        else:
            current.run(order)
        if targets is not None:
            _capture_ends(current)
        while current.callbacks:
            current.callbacks.pop(0)()
    finally:
        if span:
            spans.end(span)
        running.passes.pop()
        modes.recording = (modes.recording & ~GRAD) | (recording & GRAD)       # hooks may have installed interceptors
    return [place[0] if place else None for place in places]


def has_lanes(order: list[Node]) -> bool:
    """Whether any node was recorded in a parallel section."""
    node: Node
    for node in order:                               # noqa: SIM110 - a generator takes 5 times as long
        if node.lane is not None:
            return True
    return False


def _deep() -> bool:
    """Whether nested passes have used a third of Python's recursion limit."""
    frame, left = sys._getframe(), sys.getrecursionlimit() // 3
    while frame.f_back is not None:
        frame = frame.f_back
        left -= 1
        if left == 0:
            return True
    return False


def _deeper(run: Callable[[], Any]) -> Any:
    """Run a pass on a fresh stack, as the innermost of this thread's passes."""
    passes = list(running.passes)

    def run_inside() -> Any:
        running.passes = passes
        return run()

    return on_fresh_stack(run_inside)


def _capture_ends(current: BackwardPass) -> None:
    """Capture the gradients of targets that did not run: they are still pending."""
    node: Node
    for node in list(current.captures):
        if node in current.pending:
            observe(current, node, current.pending.pop(node))
