# cython: annotation_typing=True
"""Function: the base of user-defined operations. `apply` runs forward and records a node that can run backward.

As in PyTorch, forward and backward get Tensors. Built-in operations subclass Operation (operation.py), which is faster."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from ..base import arrays
from ..spans import spans
from . import modes as thread_modes
from .function_variants import GradientTypeError, NeedsInputGrad, bind, defaults, in_two_steps, variants
from .graph import Node
from .interceptors import notify_recorded
from .modes import GRAD, modes
from .operation import sum_to_like
from .primitive import this_thread, watchers
from .recording import begin_node, pack, record, unpack
from .tensor import Tensor, TensorBase, edge_of, result
from .views import check_writable, written

MSG_INSTANCE = ("Functions are not instantiated: their methods are static. Write `{name}.apply(...)`, not "
                "`{name}()(...)`.")
MSG_STATIC = "{name}.{method} must be a static method: write @staticmethod above it, and ctx as its first argument."
METHODS = ("forward", "backward", "setup_context", "jvp", "vjp")


class FunctionNode(Node):
    """The node of a user's Function, and the `ctx` that its forward and backward receive.

    Example:
        >>> class Scale(ag.Function):
        ...     @staticmethod
        ...     def forward(ctx, x, y):
        ...         ctx.save_for_backward(x, y)
        ...         ctx.set_materialize_grads(False)     # an output without a gradient gives backward None
        ...         return x * y
        ...     @staticmethod
        ...     def backward(ctx, g):
        ...         x, y = ctx.saved_tensors
        ...         return (g * y if ctx.needs_input_grad[0] else None), (g * x if ctx.needs_input_grad[1] else None)
        >>> out = Scale.apply(ag.tensor([1.0, 2.0], requires_grad=True), ag.tensor([3.0, 4.0]))
        >>> out.grad_fn.apply(ag.ones(2))                # backward by hand
        (tensor([3., 4.]), None)
    """

    __slots__ = ("plain", "to_save")

    function: Any = None                             # the Function, in its node class
    to_save: tuple[Any, ...] | None
    saved: Any
    plain: bool                                      # none of the following is used
    materialize_grads: bool = True
    dirty: tuple[Any, ...] = ()
    non_differentiable: tuple[Any, ...] = ()
    output_meta: tuple[Any, ...] = ()                # (shape, dtype) of each output, for zeros
    for_forward: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save tensors or None for ctx.saved_tensors in backward; the last call counts. TypeError for other values."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                number = next(n for n, other in enumerate(tensors) if other is tensor)
                raise TypeError(f"save_for_backward can only save tensors, but argument {number} is of "
                                f"type {type(tensor).__name__}; keep other values as attributes of ctx")
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Save tensors or None for ctx.saved_tensors in jvp. AssertionError for other values."""
        for tensor in tensors:
            assert tensor is None or isinstance(tensor, Tensor), (
                "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on ctx.")
        self.for_forward = tensors

    needs_input_grad: Any = NeedsInputGrad()

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """(node, output number) for each Tensor among the inputs; (None, 0) for one that requires no gradient."""
        metas = self.meta or (True,) * len(self.edges)
        return tuple((None, 0) if edge is None else edge for edge, meta in zip(self.edges, metas, strict=True) if meta)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The saved tensors. RuntimeError if a backward pass has freed them, or if they were written to since."""
        saved = self.saved
        if saved is None:
            return self.to_save or ()               # still inside forward
        tensor: TensorBase
        for value in saved:
            if type(value) is not Tensor:
                return tuple(unpack(self, True))
            tensor = value
            if tensor.counter is not None:
                return tuple(unpack(self, True))
        return saved                                 # unmodified plain tensors

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The name of saved_tensors before PyTorch 0.4."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Declare inputs that forward changed in place; forward must return them."""
        self.dirty, self.plain = tensors, False

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Declare outputs without a gradient; backward still gets zeros (or None) for them. RuntimeError if one is not a
        tensor."""
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise RuntimeError("mark_non_differentiable only accepts variable arguments, but got "
                                   f"{type(tensor).__name__}")
        self.non_differentiable, self.plain = tensors, False

    def set_materialize_grads(self, value: bool) -> None:
        """Choose what backward gets for outputs without a gradient.

        Args:
            value (bool): True: zeros, as without this call; False: None.
        """
        self.materialize_grads = value

    def run(self, g: Any, create: bool) -> Any:
        """Call the user's backward with Tensors; check its results, reduce and cast them to the inputs' shape and dtype."""
        like = None                                  # an array like the gradients, if inputs and output are like it
        if self.outputs == 1 and g is not None:
            if self.meta is None:
                like = g.array if create else g
            grads = self.function.backward(self, g if create else result(g))
        else:
            gs = g if self.outputs != 1 else (g,)
            grads = self.function.backward(self, *[
                self._zeros(number) if x is None else x if create else result(x) for number, x in enumerate(gs)])
        if type(grads) is not tuple:
            grads = tuple(grads) if isinstance(grads, list) else (grads,)
        edges = self.edges
        if len(grads) != len(edges):
            grads = self._trim(grads)
        out: list[Any] = []
        tensor: TensorBase
        for number, edge in enumerate(edges):
            grad = grads[number]
            if grad is None:
                out.append(None)
            elif edge is None or not isinstance(grad, Tensor):
                self._check_unused(grad, number)
                out.append(None)
            else:
                tensor = grad
                if like is None or not arrays.alike(tensor.array, like):
                    tensor = self._sum_to_like(grad, number, like)
                out.append(tensor if create else tensor.array)
        return out

    def custom_push(self, inputs: tuple[Any, ...], outs: tuple[Any, ...], tangents: list[Any]) -> Any:
        """Call the user's jvp, if there is one: tangents of the inputs -> tangents of the outputs. jvp gets zeros for a
        floating point input without a tangent (None after set_materialize_grads(False)), and None for other arguments."""
        if self.function.jvp is Function.jvp and self.function.backward is not Function.backward:
            return None                              # derived from backward, see forward_mode.py
        if self.materialize_grads and self.meta is not None:
            tangents = [result(np.zeros(*meta)) if t is None and meta and meta[1].kind in "fcV" else t
                        for t, meta in zip(tangents, self.meta, strict=True)]
        saved, recording = self.saved, modes.recording
        self.saved = self.for_forward or saved
        modes.recording = recording & GRAD
        try:
            found = self.function.jvp(self, *tangents)
        finally:
            self.saved, modes.recording = saved, recording
        found = tuple(found) if isinstance(found, (tuple, list)) else (found,)
        if len(found) != self.outputs:
            raise RuntimeError(f"function {self.name()}: jvp returned {len(found)} tangents for {self.outputs} outputs")
        for number, (tangent, (shape, _), out) in enumerate(zip(found, self.output_meta, outs, strict=True)):
            self._check_tangent(number, tangent, inputs, out, tangents)
            if tangent is not None and (not isinstance(tangent, Tensor) or tangent.shape != shape):
                raise RuntimeError(f"function {self.name()}: jvp returned an invalid tangent for output {number}: expected "
                                   f"a Tensor of shape {list(shape)}, got {getattr(tangent, 'shape', type(tangent))}")
        return found

    def _check_tangent(self, number: int, tangent: Any, inputs: tuple[Any, ...], out: Any, tangents: list[Any]) -> None:
        """Raise an error unless jvp made the tangent as forward made the output: in place, as a view, or unchanged."""
        name = f"function {self.name()}, output {number}"
        if not isinstance(out, Tensor) or any(out is x for x in self.non_differentiable) or out.dtype.kind not in "fcV":
            if tangent is not None:
                raise RuntimeError(f"{name}: jvp returned a tangent, but the output of forward is no Tensor or is not "
                                   "differentiable. You should return None at that position instead.")
            return
        for x, given in zip(inputs, tangents, strict=True):
            if given is None or tangent is given:
                continue
            if x is out and any(x is d for d in self.dirty):
                raise RuntimeError(f"{name}: an inplace custom Function is not modifying the forward mode gradients "
                                   "inplace. If forward writes to an input, the jvp function must "
                                   "modify the corresponding gradient "
                                   "inplace, and return it.")
            root = x if x.base is None else x.base
            if tangent is None or x is out or out.view_from != "function" or out.base is not root:
                continue
            if tangent.base is None:
                raise RuntimeError(f"{name}: forward returned a view of an input, but jvp is not returning a view of its "
                                   "tangent")
            if tangent.base is not (given if given.base is None else given.base):
                raise RuntimeError(f"{name}: forward returned a view of an input, but jvp is not returning a view of the "
                                   "given tangent, nor is jvp returning a view of the same base as that tangent's")

    def _check_unused(self, grad: Any, number: int) -> None:
        """Drop a gradient that is not needed. One for a non-Tensor argument, or one that is no Tensor, is an error."""
        if self.meta is not None and not self.meta[number]:
            raise RuntimeError(f"function {self.name()} returned a gradient different than None at position "
                               f"{number + 1}, but the corresponding forward input was not a Tensor")
        if not isinstance(grad, Tensor):
            raise GradientTypeError(f"function {self.name()} returned a {type(grad).__name__} as gradient {number}; "
                                    "expected Variable or None: backward returns Tensors or None")

    def _zeros(self, number: int) -> Any:
        """The value that backward gets for output `number` without a gradient."""
        if not self.materialize_grads:
            return None
        shape, dtype = self.output_meta[number]
        return None if dtype is None else result(np.zeros(shape, dtype))      # None: this output is not a Tensor

    def _trim(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """Drop surplus trailing Nones; any other wrong number is an error."""
        count = len(self.edges)
        if len(grads) < count or any(x is not None for x in grads[count:]):
            raise RuntimeError(f"function {self.name()} returned an incorrect number of gradients "
                               f"(expected {count}, got {len(grads)})")
        return grads[:count]

    def _sum_to_like(self, grad: Tensor, number: int, like: Any) -> Tensor:
        """A gradient in the input's shape and dtype: summed over broadcast dimensions, and cast."""
        shape, dtype = (self.meta[number] if self.meta is not None else
                        self.output_meta[0] if like is None else (like.shape, like.dtype))
        if grad.array.shape != shape:
            try:
                fits = np.broadcast_shapes(grad.shape, shape) == grad.shape
            except ValueError:
                fits = False
            if not fits:
                raise RuntimeError(f"Function {self.name()} returned an invalid gradient at index {number} - got "
                                   f"{list(grad.shape)} but expected shape compatible with {list(shape)}")
        return cast(Tensor, sum_to_like(grad, shape, dtype))

    def apply(self, *grads: Tensor) -> Any:
        """Run the user's backward on one gradient for each output, as the engine would; return its result."""
        return self.function.backward(self, *grads)

    def __call__(self, *grads: Tensor) -> Any:
        return self.function.backward(self, *grads)

    def sources(self, g: Any) -> list[Tensor]:
        """Placeholders for the inputs: tensors with the same edges."""
        stand_ins = []
        for edge, meta in zip(self.edges, self.meta or [(g.shape, g.dtype)] * len(self.edges), strict=True):
            if edge is not None:
                stand_in = result(np.broadcast_to(np.zeros((), meta[1]), meta[0]))
                stand_in.edge, stand_in.tracked = edge, True
                stand_ins.append(stand_in)
        return stand_ins


class FunctionMeta(type):
    """The metaclass of Functions: creates each one's node class, `_backward_cls`."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **settings: Any) -> None:
        super().__init__(name, bases, namespace)
        if bases:                                    # not Function itself
            made: Any = cls
            made._instance_method = next(
                (method for method in METHODS if inspect.isfunction(inspect.getattr_static(made, method))), "")
            made.node = type(f"{name}Backward", (made.node,),
                             {"always_runs": made.always_runs, "reenters": made.reenters, "__module__": made.__module__,
                              "__doc__": f"Node of {name}.", **variants(made, Function, FunctionNode)})
            made._takes_context = made.setup_context is not Function.setup_context
            made._usual = not (made._takes_context or made.asks or made.always_runs or made._instance_method)
            made._binds = made._takes_context and bool(defaults(made.forward))

    @property
    def _backward_cls(cls) -> type[FunctionNode]:
        """The class of the nodes that the Function records."""
        made: Any = cls
        node: type[FunctionNode] = made.node
        return node


class Function(metaclass=FunctionMeta):
    """An operation with its own derivative. Subclass it with static methods forward and backward, and call `apply`.

    forward gets the arguments of apply unchanged, with recording off. backward gets one gradient per output and returns one
    (or None) per argument. Keyword-only arguments of forward are settings without a gradient. With a static
    `setup_context(ctx, inputs, output)`, forward takes no ctx. Every subclass has its own node class."""

    node: type[FunctionNode] = FunctionNode
    asks = False                      # whether records() must be called to know if a call is recorded
    always_runs = False               # collectives: backward runs on every rank, even if that rank needs no gradient
    reenters = False                  # whether backward runs an inner pass, which may reach more leaves
    transparent = False               # built-in: whether a trace may record the calls inside forward and backward instead

    def __init__(self) -> None:
        raise TypeError(MSG_INSTANCE.format(name=type(self).__name__))

    _usual = True                     # no option that apply must handle
    _takes_context = False
    _instance_method = ""             # a method that is not static: an error in apply only, so that modules can be imported
    _binds = False                    # forward takes no ctx and has default arguments, which setup_context gets
    generate_vmap_rule = False        # func.vmap calls this once per sample without a warning if there is no vmap()
    boxed_grads_call = False          # backward gets one list of gradients, from which it may drop them
    clear_saved_tensors_on_access = False     # ctx.saved_tensors can be read once, and is then empty

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs. Overridden by every Function."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Save what backward needs, for a forward that takes no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(*args: Any, **kwargs: Any) -> Any:  # (ctx, *grads); lets checkers accept any arguments in overrides
        """Gradients of the outputs -> gradients of the arguments. Overridden by every differentiable Function."""
        raise NotImplementedError("You must implement either the backward or vjp method for your custom autograd.Function "
                                  f"to use it with backward mode AD ({type(args[0]).__name__} has none).")

    vjp = backward                    # an alias: a Function defines one or the other

    @staticmethod
    def vmap(*args: Any, **kwargs: Any) -> Any:
        """Compute all samples at once, for func.vmap. Optional: without it the Function is called once per sample."""
        raise NotImplementedError("To use autograd.Function with vmap, you must either override the vmap staticmethod or "
                                  "set generate_vmap_rule=True.")

    @staticmethod
    def jvp(*args: Any, **kwargs: Any) -> Any:
        """Tangents of the arguments -> tangents of the outputs. Optional: without it they are derived from backward."""
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to call it.")

    @classmethod
    def records(cls, node: FunctionNode, tracked: int, settings: dict[str, Any]) -> int:
        """Whether a call is recorded, given whether one of its tensors is tracked. Collectives agree on this over all
        ranks and store it in the node."""
        return tracked

    @classmethod
    def apply(cls, *args: Any, **settings: Any) -> Any:
        """Run forward; record the call if recording is on and a tensor argument requires grad."""
        if spans.on and not spans.entered():
            return spans.call(cls.apply, spans.number_of(cls.__name__, spans.FUNCTION), args, settings)
        if watchers and this_thread.call_watcher is not None and not this_thread.call_watcher.entered():
            return this_thread.call_watcher.function(cls, args, settings)
        if settings:
            args, settings = bind(cls, args, settings)
        node: FunctionNode = cls.node()
        node.saved = node.hooks = node.to_save = None
        node.plain, node.outputs = True, 1
        edges: list[Any] = []
        tracked = 0
        tensor: TensorBase                           # types of variables are those of C in a compiled core
        for a in args:
            edge = None
            if isinstance(a, Tensor):
                tensor = a
                edge = tensor.edge
                if tensor.tracked:
                    tracked |= tensor.tracked
                    if edge is None:
                        edge = edge_of(tensor)
            edges.append(edge)
        node.edges = tuple(edges)
        state = thread_modes.state()
        recording = state["recording"]
        usual = cls._usual
        if not usual and cls._instance_method:
            raise TypeError(MSG_STATIC.format(name=cls.__name__, method=cls._instance_method))
        recorded = recording and (tracked & recording if usual or not cls.asks else cls.records(node, tracked, settings))
        state["recording"] = 0
        try:
            if usual or not cls._takes_context:
                if settings or len(args) != 2:
                    output = cls.forward(node, *args, **settings)
                else:                                # unpacking costs 0.05 us
                    output = cls.forward(node, args[0], args[1])
            else:
                args, output = in_two_steps(cls, node, args, settings)
        finally:
            state["recording"] = recording
        if not (recorded and recording == GRAD and node.plain and type(output) is Tensor):
            return attach(node, args, output, recorded)
        return attach_one(node, args, output, state)


# PyTorch's names of ctx's class, and of the base of all node classes of Functions
FunctionCtx = FunctionNode
BackwardCFunction = FunctionNode


class InplaceFunction(Function):
    """PyTorch's older name of Function, for Functions that write to their inputs."""


class NestedIOFunction(Function):
    """PyTorch's older name of Function, for Functions with nested inputs and outputs."""


def attach_one(node: FunctionNode, args: tuple[Any, ...], out: TensorBase, state: dict[str, Any]) -> Any:
    """attach() for the common case: one output Tensor, and no mode other than backward is on."""
    tensor: TensorBase
    array = out.array
    if array.dtype.kind not in "fcV":
        return attach(node, args, out, GRAD)
    node.meta = None
    given = out.tracked                              # an input returned unchanged becomes an alias of itself
    for a in args:
        if type(a) is not Tensor:
            if node.meta is None:
                node.meta = metas(args)
            continue
        tensor = a
        if tensor is out:
            given = GRAD
        if node.meta is None and not arrays.alike(tensor.array, array):
            node.meta = metas(args)
    if given:
        out = out.detach()
    elif out.base is not None:
        out.view_from = "function"
    if node.always_runs:
        node.output_meta = ((array.shape, array.dtype),)
    if node.to_save:
        save_values(node, node.to_save, out)
        node.to_save = None
    record(node, state, node.edges, args, (out,))
    return out


def save_values(node: FunctionNode, values: tuple[Any, ...], out: TensorBase) -> None:
    """Save values for backward: unchanged if they are inputs or intermediates that were not written to."""
    tensor: TensorBase
    for value in values:
        if value is out or value is None:
            return pack(node, values, (out,))
        tensor = value
        if tensor.counter is not None:
            return pack(node, values, (out,))
    node.saved = values


def check_dirty(node: FunctionNode, args: tuple[Any, ...], recorded: Any) -> None:
    """Raise an error for writes declared by mark_dirty that would lose a gradient."""
    for tensor in node.dirty:
        if not any(tensor is a for a in args):
            raise RuntimeError(f"{node.name()}: ctx.mark_dirty() received a tensor that was not an input")
        check_writable(tensor, recorded)


def metas(args: tuple[Any, ...]) -> list[Any]:
    """(shape, dtype) of each Tensor argument, () for others."""
    return [(a.array.shape, a.array.dtype) if isinstance(a, Tensor) else () for a in args]


def attach(node: FunctionNode, args: tuple[Any, ...], output: Any, recorded: Any) -> Any:
    """Make `node` the origin of the outputs of a user's Function, if the call is recorded. Returns the result of apply.

    Does the steps of record() separately: after the outputs have joined the graph, and before the interceptors are notified,
    the writes declared by mark_dirty() are applied and the written values are saved."""
    if node.dirty:
        check_dirty(node, args, recorded)
    if not recorded:
        for tensor in node.dirty:
            written(tensor, None)
        return tuple(output) if isinstance(output, list) else output
    begin_node(node, modes.__dict__, node.edges)
    node.meta = metas(args)
    single = not isinstance(output, (tuple, list))
    outputs = (output,) if single else tuple(output)
    if not single and len(outputs) != 1:
        node.outputs = len(outputs)
    outputs = tuple([own_output(node, out, number, args) for number, out in enumerate(outputs)])
    node.output_meta = tuple([(o.array.shape, o.array.dtype) if isinstance(o, Tensor) else ((), None)
                              for o in outputs])
    if node.dirty and not all(any(d is o for o in outputs) for d in node.dirty):
        raise RuntimeError(f"{node.name()}: Some elements marked as dirty during the forward method were not returned "
                           "as output. The inputs that are modified inplace must all be outputs of the Function.")
    if node.to_save:
        pack(node, node.to_save, outputs)
        node.to_save = None
    if modes.recording > GRAD:
        notify_recorded(node, args, outputs)
    return outputs[0] if single else outputs


def own_output(node: FunctionNode, out: Any, number: int, args: tuple[Any, ...]) -> Any:
    """An output of a user's Function with `node` as its origin; an input returned unchanged becomes an alias of itself."""
    if not isinstance(out, Tensor):
        return out
    if any(out is d for d in node.dirty):
        value = result(out.array)
        value.edge, value.tracked = (node, number), GRAD
        value.dual = out.dual                        # carry() computes the new tangent from it
        written(out, value)
        return out
    if any(out is x for x in node.non_differentiable) or out.array.dtype.kind not in "fcV":
        return out.detach() if any(out is a for a in args) else out
    if out.tracked or any(out is a for a in args):
        out = out.detach()
    elif out.base is not None:
        out.view_from = "function"
    out.edge, out.tracked = (node, number), True
    return out


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a backward that computes outside the graph: differentiating it again is an error, not zero."""

    @functools.wraps(backward)
    def wrapped(ctx: Any, *grads: Any) -> Any:
        recording, modes.recording = modes.recording, 0
        try:
            out = backward(ctx, *grads)
        finally:
            modes.recording = recording
        if not recording & GRAD:
            return out
        single = not isinstance(out, (tuple, list))
        sources = [*(x for x in grads if isinstance(x, Tensor)), *ctx.sources(grads[0])]
        outs = tuple(OnceDifferentiable.apply(ctx.name(), x, *sources) if isinstance(x, Tensor) else x
                     for x in ((out,) if single else out))
        return outs[0] if single else outs

    return wrapped


class OnceDifferentiable(Function):
    """Identity whose backward raises an error. It depends on the gradients and on the Function's inputs, so the error is
    raised on every path. (PyTorch attaches it to a detached leaf and silently loses terms.)"""

    @staticmethod
    def forward(ctx: Any, name: str, x: Tensor, *sources: Tensor) -> Tensor:
        """x itself; its gradient depends on `sources`."""
        ctx.of = name
        return x

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Always an error."""
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable: "
                           f"{ctx.of}")
