"""The graph: nodes, numbered in order of creation, and edges from each node to the nodes that produced its inputs.

An edge is a tuple (node, output number), or None for an input that requires no gradient. A leaf tensor that requires grad
is represented by an AccumulateGrad node. Nodes own their edges and tensors own their node, never the reverse, so the graph
is freed with its last tensor, without the cyclic garbage collector.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from .modes import GRAD, changed, modes
from .versions import Counter, InferenceCounter

if TYPE_CHECKING:
    from .grad_buffers import LeafCounter

next_number: Callable[[], int] = itertools.count().__next__  # one counter for all threads; next() is atomic
_hook_number = itertools.count().__next__
# keeps two threads from creating two accumulators or counters for one leaf
once: threading.RLock = threading.RLock()

Edge = tuple["Node", int]
OutputNumber = int
Position = int                                      # an alias: in the compiled core `int` would mean a Python object

FREED = ("freed",)                                  # replaces a node's saved values after backward has used them

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
    """Removes one hook from the dict that holds it; calling `remove()` twice is allowed. As a context manager it removes the
    hook on exit.

    Every method of Tensor, Module or Optimizer that registers a hook returns one.

    Args:
        hooks (dict[int, Any]): The hooks by number; the new hook is added under a unique number.
        hook (callable): The hook.
        *flags (dict[int, bool]): Each also holds the number, with True, until the hook is removed.

    Example:
        >>> x = ag.ones(2, requires_grad=True)
        >>> with x.register_hook(lambda grad: 10 * grad):
        ...     x.sum().backward()
        >>> x.grad
        tensor([10., 10.])
    """

    id: int

    def __init__(self, hooks: dict[int, Any], hook: Any, *flags: dict[int, bool]) -> None:
        self.id = _hook_number()
        hooks[self.id] = hook
        for each in flags:
            each[self.id] = True
        self._dicts = hooks, *flags
        changed()

    def remove(self) -> None:
        """Unregister the hook."""
        for held in self._dicts:
            held.pop(self.id, None)
        changed()

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


class NodeHooks:
    """The hooks on a node: on the gradients of its outputs, before it runs, and after."""

    __slots__ = ("counter", "grad_buffer", "post", "pre", "retain", "tensor")

    def __init__(self) -> None:
        self.tensor: dict[int, dict[int, Callable[..., Any]]] = {}      # output number -> Tensor.register_hook's
        self.retain: dict[int, weakref.ref[Any]] = {}                   # output number -> tensor whose .grad is kept
        self.pre: dict[int, Callable[..., Any]] = {}
        self.post: dict[int, Callable[..., Any]] = {}
        self.grad_buffer: Any = None                 # of a leaf: the array in which its gradient is stored, if any
        self.counter: LeafCounter | None = None      # of a leaf: notified when its gradient is complete


class Shown:
    """A node attribute computed by a function in `shown`, which a higher module fills: compiled classes accept no others."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, node: Node | None, owner: Any = None) -> Any:
        return self if node is None else shown[self.name](node)


shown: dict[str, Callable[[Any], Any]] = {}         # filled by graph_api.py


class Node:
    """One recorded call. Its class is named after the operation, `<Name>Backward`.

    The engine calls `run(g, create)`. `g` is the gradient of the output, or, if `outputs` > 1, a list with None for outputs
    without a gradient. Gradients are arrays, or Tensors if `create` is true and the backward pass itself is recorded. run()
    returns one gradient or None for each edge. For users, `node(...)` and `node.apply(...)` do the same on Tensors.

    Example:
        >>> y = (3 * ag.ones(2, requires_grad=True)).exp()
        >>> node = y.grad_fn
        >>> node.name(), [parent.name() for parent, _ in node.next_functions]
        ('ExpBackward0', ['MulBackward0'])
        >>> handles = [node.register_prehook(lambda outputs: print("before:", *outputs)),
        ...            node.register_hook(lambda inputs, outputs: print("after:", *inputs))]
        >>> y.sum().backward()
        before: tensor([1., 1.])
        after: tensor([20.0855, 20.0855])
    """

    __slots__ = ("__dict__", "__weakref__", "edges", "hooks", "lane", "meta", "outputs", "saved", "seq")

    seq: int
    edges: tuple[Edge | None, ...]
    saved: Any                                       # None: nothing saved; FREED: already used
    meta: Any                                        # shapes and dtypes to which gradients are reduced and cast, or None
    hooks: NodeHooks | None
    lane: int | None
    outputs: int                                     # the number of outputs

    is_leaf = False                                  # True for AccumulateGrad
    always_runs = False                              # runs without a gradient too, and if its result is not requested
    makes_gradients = False                          # of built-in operations: no user code has seen what run() returns
    keeps_attributes = False                         # the node may store arrays in attributes
    reuses = False                                   # has run_in_place(g), which may overwrite g with its result
    reenters = False                                 # backward runs an inner pass, which may reach more leaves
    joins: Any = None                                # of built-in operations: see Operation.joins
    agreed: int | None = None                        # of a collective: the GRAD and DUAL bits for which all ranks record it
    output_counters: dict[int, Counter] | None = None    # of outputs with aliases, or written to
    output_duals: tuple[Any, ...] | None = None      # forward mode: (level, tangent) of each output
    versions: tuple[Any, ...] | None = None          # Counter.saved() of each saved input; None if all are 0

    _saved_self, _saved_other, _saved_result = Shown("_saved_self"), Shown("_saved_other"), Shown("_saved_result")
    _raw_saved_self, _raw_saved_other = Shown("_raw_saved_self"), Shown("_raw_saved_other")
    _raw_saved_result, _raw_saved_tensors = Shown("_raw_saved_result"), Shown("_raw_saved_tensors")

    def run(self, g: Any, create: bool) -> Any:
        """Gradients of the outputs -> gradients for the edges."""
        raise NotImplementedError(f"{self.name()} has no run()")

    def run_in_place(self, g: Any) -> Any:
        """run(g, False) when the array g is no longer needed: a node with `reuses` may write its result there."""
        return self.run(g, False)

    def joined(self, grads: Any) -> Any:
        """The gradients of the inputs as functions of the values that `joins` names."""
        return grads

    def custom_push(self, inputs: tuple[Any, ...], outs: tuple[Any, ...], tangents: list[Any]) -> Any:
        """Tangents of the outputs by the node's own rule; None if it has none. See forward_mode.push."""
        return None

    def name(self) -> str:
        """The node's name, such as MulBackward0."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """(node, output number) for each input; (None, 0) for an input that requires no gradient."""
        return tuple((None, 0) if edge is None else edge for edge in self.edges)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict for the user's own data, stored with the node."""
        return vars(self).setdefault("_metadata", {})

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call a function each time this node has run. Returns a RemovableHandle.

        Args:
            fn (Callable[[tuple, tuple], Any]): Called with the gradients of the inputs and of the outputs, tuples of tensors
                and None. If it returns a tuple, that replaces the gradients of the inputs.
        """
        return RemovableHandle(self.ensure_hooks().post, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call a function each time before this node runs. Returns a RemovableHandle.

        Args:
            fn (Callable[[tuple], Any]): Called with the gradients of the outputs, a tuple of tensors and None. If it returns
                a tuple, that replaces them.
        """
        return RemovableHandle(self.ensure_hooks().pre, fn)

    def _sequence_nr(self) -> int:
        return self.seq

    def ensure_hooks(self) -> NodeHooks:
        """The node's hooks, created on first use."""
        if self.hooks is None:
            self.hooks = NodeHooks()
        return self.hooks

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"


def shared_counter(tensor: Any) -> Counter:
    """The counter of writes to the tensor's memory, created for the first alias or write."""
    counter = tensor.counter
    if counter is None:
        with once:
            counter = tensor.counter
            if counter is None:
                counter = tensor.counter = Counter()
        if tensor.edge is not None:                  # its node may have saved this memory
            node, number = tensor.edge
            node.output_counters = {**(node.output_counters or {}), number: counter}
    return counter


def join_views(view: Any, tensor: Any) -> None:
    """Make `view`, which shares `tensor`'s memory, a view of `tensor`, or of the base of `tensor`.

    A view created in inference mode of a normal tensor requires grad if its base does, but has no grad_fn.
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
    if len(views) >= 16 and not len(views) & (len(views) - 1):       # at 16, 32, ...: drop references to freed views
        counter.views = [r for r in views if r() is not None]


def demand_fresh(view: Any) -> None:
    """Raise RuntimeError if a view was created in inference mode, its memory was written to since, and its base requires
    grad: the view's place in the graph is then undefined."""
    if view.base.tracked & GRAD and view.counter.value != view.made_at:
        raise RuntimeError(MSG_STALE_VIEW)


def raise_changed(name: str, what: str, counter: Counter, then: Any) -> NoReturn:
    """Raise the error for a value that was written to after the node `name` saved it."""
    raise RuntimeError(MSG_CHANGED.format(what=what, name=name, now=counter.saved(), then=then,
                                          writer=counter.writer_since(then)))
