"""The graph: nodes, numbered as they are made, and the edges from each to the nodes that made its inputs.

An edge is a tuple (node, output number), or None where nothing needs a gradient. A leaf tensor that requires grad
stands behind an AccumulateGrad node. Nodes own their edges and tensors own their node, never the other way round,
so a graph is freed when its last tensor goes, without the cyclic collector.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from .modes import GRAD, modes
from .versions import Counter, InferenceCounter

if TYPE_CHECKING:
    from .grad_buffers import LeafCounter

next_number: Callable[[], int] = itertools.count().__next__  # one count for all threads; taking a number is atomic
_hook_number = itertools.count().__next__
# two threads must not give one leaf two accumulators, or counters
once: threading.RLock = threading.RLock()

Edge = tuple["Node", int]
OutputNumber = int
Position = int                                      # a name, since a compiled core takes `int` for an object

FREED = ("freed",)                                  # stands for a node's saved values once backward has used them

MSG_FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
    "saved tensors after calling backward."
)
MSG_STALE_VIEW = (
    "A view was created in inference mode and its base or another view of its base has been modified inplace since. It "
    "can't enter a graph, and has no grad_fn. Make the view outside inference_mode(), or clone() it before the write."
)
MSG_CHANGED = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: {what}, saved "
    "by {name}, is at version {now}; expected version {then} instead.{writer} Change a copy, or make the change after "
    "backward()."
)


class RemovableHandle:
    """Takes one hook out of the dict that holds it; `remove()` twice is no error. Works as a `with` block too, at whose end
    the hook is removed.

    Every method that registers a hook, of a Tensor, a Module or an Optimizer, returns one.

    Args:
        hooks (dict[int, Any]): Where hooks are held; this one is added, under a number that no other hook has.
        hook: What is to be called.

    Example:
        >>> x = ag.ones(2, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: 10 * grad)
        >>> x.sum().backward()
        >>> x.grad
        tensor([10., 10.])
        >>> handle.remove()
        >>> x.sum().backward()
        >>> x.grad
        tensor([11., 11.])
    """

    id: int

    def __init__(self, hooks: dict[int, Any], hook: Any) -> None:
        self.id = _hook_number()
        hooks[self.id] = hook
        self._hooks = hooks

    def remove(self) -> None:
        """Unregister the hook."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


class NodeHooks:
    """What a node's user asked to be told of: gradients of its outputs, its start, its end."""

    __slots__ = ("counter", "grad_buffer", "post", "pre", "retain", "tensor")

    def __init__(self) -> None:
        self.tensor: dict[int, dict[int, Callable[..., Any]]] = {}      # output number -> Tensor.register_hook's
        self.retain: dict[int, weakref.ref[Any]] = {}                   # output number -> tensor whose .grad is kept
        self.pre: dict[int, Callable[..., Any]] = {}
        self.post: dict[int, Callable[..., Any]] = {}
        self.grad_buffer: Any = None                 # of a leaf: the array where its gradient is to live, if any
        self.counter: LeafCounter | None = None      # of a leaf: who is told that its gradient is complete


class Shown:
    """An attribute of nodes that a module above computes, by its name in `shown`; compiled classes take no new ones."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, node: Node | None, owner: Any = None) -> Any:
        return self if node is None else shown[self.name](node)


shown: dict[str, Callable[[Any], Any]] = {}         # filled by graph_api.py


class Node:
    """One recorded call. Its class is named after the operation, `<Name>Backward`.

    `run(g, create)` is the engine's door: `g` is the gradient of the output (a list of them where `outputs` > 1, with
    None for those that got none), as arrays, or as Tensors when `create` asks for a graph of the backward pass;
    it returns one gradient or None for each edge. `node(...)` and `node.apply(...)` do the same for users, on Tensors.

    Example:
        >>> x = ag.ones(2, requires_grad=True)
        >>> y = (3 * x).exp()
        >>> node = y.grad_fn
        >>> node.name(), [parent.name() for parent, _ in node.next_functions]
        ('ExpBackward0', ['MulBackward0'])
        >>> handles = [node.register_prehook(lambda outputs: print("before:", *outputs)),
        ...            node.register_hook(lambda inputs, outputs: print("after:", *inputs))]
        >>> y.sum().backward()
        before: tensor([1., 1.])
        after: tensor([20.0855, 20.0855])
        >>> node.metadata["note"] = "stays with the node"
    """

    __slots__ = ("__dict__", "__weakref__", "edges", "hooks", "lane", "meta", "outputs", "saved", "seq")

    seq: int
    edges: tuple[Edge | None, ...]
    saved: Any                                       # None: nothing saved, FREED: used up
    meta: Any                                        # shapes and dtypes to bring gradients back to, or None
    hooks: NodeHooks | None
    lane: int | None
    outputs: int                                     # how many there are

    is_leaf = False                                  # AccumulateGrad says True
    always_runs = False                              # runs even when no gradient came, or nobody asked for its result
    makes_gradients = False                          # of built-in operations: what run() returns is in no user's hands
    keeps_attributes = False                         # arrays may be kept as attributes of the node
    reuses = False                                   # has run_in_place(g), which may write its result over g
    reenters = False                                 # backward runs a pass of its own, which may reach further leaves
    joins: Any = None                                # of built-in operations: see Operation.joins
    agreed: int | None = None                        # of a collective: for what all ranks record it, GRAD and DUAL bits
    output_counters: dict[int, Counter] | None = None    # of outputs that got aliases or were written to
    output_duals: tuple[Any, ...] | None = None      # forward mode: (level, tangent) of each output
    versions: tuple[Any, ...] | None = None          # of saved inputs, where one is not 0: what Counter.saved() gave

    _saved_self, _saved_other, _saved_result = Shown("_saved_self"), Shown("_saved_other"), Shown("_saved_result")
    _raw_saved_self, _raw_saved_other = Shown("_raw_saved_self"), Shown("_raw_saved_other")
    _raw_saved_result, _raw_saved_tensors = Shown("_raw_saved_result"), Shown("_raw_saved_tensors")

    def run(self, g: Any, create: bool) -> Any:
        """Gradients of the outputs -> gradients for the edges."""
        raise NotImplementedError(f"{self.name()} has no run()")

    def run_in_place(self, g: Any) -> Any:
        """run(g, False) where nobody needs the array g any longer: a node that `reuses` may write its result there."""
        return self.run(g, False)

    def joined(self, grads: Any) -> Any:
        """The gradients of the inputs as functions of what `joins` names."""
        return grads

    def custom_push(self, inputs: tuple[Any, ...], outs: tuple[Any, ...], tangents: list[Any]) -> Any:
        """Tangents of the outputs by a rule of the node's own; None if it has none. See tangent.push."""
        return None

    def name(self) -> str:
        """The node's name, such as MulBackward0."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """(node, output number) for each input; (None, 0) for one that needs no gradient."""
        return tuple((None, 0) if edge is None else edge for edge in self.edges)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict for the user's own notes, kept with the node."""
        return vars(self).setdefault("_metadata", {})

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call a function each time this node has run.

        Args:
            fn (Callable[[tuple, tuple], Any]): Called with the gradients of the inputs and those of the outputs, tuples of
                tensors and None; a tuple that it returns replaces those of the inputs.

        Returns:
            A handle, whose remove() takes the function away.
        """
        return RemovableHandle(self.ensure_hooks().post, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call a function each time before this node runs.

        Args:
            fn (Callable[[tuple], Any]): Called with the gradients of the outputs, a tuple of tensors and None; a tuple that
                it returns replaces them.

        Returns:
            A handle, whose remove() takes the function away.
        """
        return RemovableHandle(self.ensure_hooks().pre, fn)

    def _sequence_nr(self) -> int:
        return self.seq

    def ensure_hooks(self) -> NodeHooks:
        """The node's hooks, made on first use."""
        if self.hooks is None:
            self.hooks = NodeHooks()
        return self.hooks

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"


def shared_counter(tensor: Any) -> Counter:
    """The counter of writes to the tensor's memory, made when the first alias or write needs it."""
    counter = tensor.counter
    if counter is None:
        with once:
            counter = tensor.counter
            if counter is None:
                counter = tensor.counter = Counter()
        if tensor.edge is not None:                  # its node may have saved this very memory
            node, number = tensor.edge
            node.output_counters = {**(node.output_counters or {}), number: counter}
    return counter


def join_views(view: Any, tensor: Any) -> None:
    """Make `view`, which shares `tensor`'s memory, a view of it, or of what that is a view of.

    A view made in inference mode, of a tensor that was not, requires a gradient if its base does, but has no grad_fn.
    """
    counter = view.counter = shared_counter(tensor)
    base = view.base = tensor if tensor.base is None else tensor.base
    if not modes.recording & GRAD:
        view.view_from = "unrecorded"
        if modes.inference:
            view.view_from = "inference"
            if not isinstance(counter, InferenceCounter) and view.array.dtype.kind in "fcV":
                view.made_at = counter.value
                view.tracked |= base.tracked & GRAD
    elif tensor.view_from:
        view.view_from = tensor.view_from
    elif tensor.base is not None and tensor.edge is not None and tensor.edge[0].outputs > 1:
        view.view_from = "one of many"
    views = counter.views
    views.append(weakref.ref(view))
    if len(views) >= 16 and not len(views) & (len(views) - 1):       # at 16, 32, ...: forget those that are gone
        counter.views = [r for r in views if r() is not None]


def demand_fresh(view: Any) -> None:
    """RuntimeError if the memory of a view made in inference mode was written to since, and its base requires a gradient:
    what it should come from cannot be told."""
    if view.base.tracked & GRAD and view.counter.value != view.made_at:
        raise RuntimeError(MSG_STALE_VIEW)


def raise_changed(name: str, what: str, counter: Counter, then: Any) -> NoReturn:
    """A value that the node of this name saved was written to after it was saved."""
    raise RuntimeError(MSG_CHANGED.format(what=what, name=name, now=counter.saved(), then=then,
                                          writer=counter.writer_since(then)))
