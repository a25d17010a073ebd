"""Function: the one way an operation comes to exist. `apply` runs forward and records a node that can run backward.

Users subclass Function: forward and backward are handed Tensors, as in PyTorch. Built-in operations subclass
Operation, on a leaner path: forward is handed arrays, and backward whatever flows, arrays in an ordinary pass,
Tensors when a graph of the backward pass is wanted.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from .graph import FREED, MSG_FREED, Node, edge_of, new, next_number, raise_changed, shared_counter
from .mode import modes
from .tensor import Tensor, result

MSG_LEAF_IN_PLACE = "a leaf Variable that requires grad is being used in an in-place operation."
MSG_INSTANCE = ("Functions are not instantiated: their methods are static. Write `{name}.apply(...)`, not "
                "`{name}()(...)`.")
MSG_STATIC = "{name}.{method} must be a static method: write @staticmethod above it, and ctx as its first argument."


# --- saved values --------------------------------------------------------------------------------------------------

class Output:
    """Stands among a node's saved values for one of its own outputs: holding the tensor would make a cycle."""

    __slots__ = ("array", "number")

    def __init__(self, array: Any, number: int) -> None:
        self.array = array
        self.number = number


def pack(node: Node, values: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Keep `values` (Tensors or anything else) in node.saved, with the versions that they are at."""
    written = own = False
    for value in values:
        if isinstance(value, Tensor):
            for out in outputs:
                if value is out:
                    own = True
            if value.counter is not None and value.counter.value:
                written = True
    if own:
        numbers = {id(out): number for number, out in enumerate(outputs) if isinstance(out, Tensor)}
        node.saved = tuple([Output(v.array, numbers[id(v)]) if id(v) in numbers else v for v in values])
    else:
        node.saved = values
    if written:
        node.versions = tuple([v._version if isinstance(v, Tensor) else 0 for v in values])


def unpack(node: Node, create: bool) -> list[Any]:
    """The saved values, checked: as arrays, or, when `create`, as Tensors joined to the graph."""
    if node.saved is FREED:
        raise RuntimeError(MSG_FREED)
    values = []
    for position, value in enumerate(node.saved):
        if isinstance(value, Tensor):
            if value.counter is not None:
                then = 0 if node.versions is None else node.versions[position]
                if value.counter.value != then:
                    raise_changed(node, f"a tensor of shape {list(value.shape)}", value.counter.value, then)
            values.append(value if create else value.array)
        elif value.__class__ is Output:
            values.append(output_value(node, value, create))
        else:
            values.append(value)
    return values


def output_value(node: Node, value: Output, create: bool) -> Any:
    """A saved output: its array, or, when `create`, a Tensor that stands where the output stood."""
    if node.output_counters and value.number in node.output_counters:
        counter = node.output_counters[value.number]
        then = 0 if node.versions is None else max(node.versions)
        if counter.value != then:
            raise_changed(node, f"output {value.number} of shape {list(value.array.shape)}", counter.value, then)
    if not create:
        return value.array
    tensor = result(value.array)
    tensor.edge, tensor.tracked = (node, value.number), True
    if node.output_counters:
        tensor.counter = node.output_counters.get(value.number)
    return tensor


# --- user-defined Functions ----------------------------------------------------------------------------------------

class FunctionNode(Node):
    """The node of a user's Function, and the `ctx` that its forward and backward are handed."""

    __slots__ = ("dirty", "materialize_grads", "needs_input_grad", "non_differentiable", "output_meta", "to_save")

    function: type[Function]
    needs_input_grad: tuple[bool, ...]
    materialize_grads: bool
    to_save: tuple[Any, ...] | None
    dirty: tuple[Any, ...]
    non_differentiable: tuple[Any, ...]
    output_meta: tuple[Any, ...]                     # (shape, dtype) of each output, for zeros

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors (inputs, outputs or intermediates) for backward; the last call counts."""
        for number, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(f"save_for_backward can only save tensors, but argument {number} is of type "
                                f"{type(tensor).__name__}; keep other values as attributes of ctx")
        self.to_save = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What save_for_backward kept. RuntimeError when it was freed, or changed in place since."""
        saved = self.saved
        if saved is None:
            return self.to_save or ()               # still inside forward
        for value in saved:
            if value.__class__ is not Tensor or value.counter is not None:
                return tuple(unpack(self, True))
        return saved                                 # plain tensors that nobody wrote to

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Declare inputs that forward changed in place; forward must return them."""
        self.dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Declare outputs that have no gradient; backward still gets zeros (or None) for them."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """With False, backward gets None instead of zeros for outputs that received no gradient."""
        self.materialize_grads = value

    def run(self, g: Any, create: bool) -> Any:
        """Hand Tensors to the user's backward, check what it returns, bring it to shape and dtype."""
        if self.outputs == 1 and g is not None:
            grads = self.function.backward(self, g if create else result(g))
        else:
            gs = g if self.outputs != 1 else (g,)
            grads = self.function.backward(self, *[
                self._zeros(number) if x is None else x if create else result(x) for number, x in enumerate(gs)])
        if grads.__class__ is not tuple:
            grads = tuple(grads) if isinstance(grads, list) else (grads,)
        if len(grads) != len(self.edges):
            grads = self._trim(grads)
        out: list[Any] = []
        for grad, edge, meta in zip(grads, self.edges, self.meta, strict=True):
            if grad is None:
                out.append(None)
            elif edge is None or not isinstance(grad, Tensor):
                out.append(self._refuse(grad, edge, meta, len(out)))
            else:
                array = grad.array
                if array.shape != meta[0] or array.dtype is not meta[1]:
                    grad = self._fit(grad, len(out))
                    array = grad.array
                out.append(grad if create else array)
        return out

    def _refuse(self, grad: Any, edge: Any, meta: Any, number: int) -> None:
        """A gradient that nobody needs is dropped; one for an argument that is no Tensor, or no Tensor, is an error."""
        if not meta:
            raise RuntimeError(f"function {self.name()} returned a gradient different than None at position "
                               f"{number + 1}, but the corresponding forward input was not a Tensor")
        if not isinstance(grad, Tensor):
            raise TypeError(f"function {self.name()} returned a {type(grad).__name__} as gradient {number}; "
                            "backward returns Tensors or None")

    def _zeros(self, number: int) -> Any:
        """What backward gets for output `number` where no gradient came."""
        if not self.materialize_grads:
            return None
        shape, dtype = self.output_meta[number]
        return result(np.zeros(shape, dtype))

    def _trim(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """Drop surplus Nones at the end; any other wrong number is an error."""
        count = len(self.edges)
        if len(grads) < count or any(x is not None for x in grads[count:]):
            raise RuntimeError(f"function {self.name()} returned an incorrect number of gradients "
                               f"(expected {count}, got {len(grads)})")
        return grads[:count]

    def _fit(self, grad: Tensor, number: int) -> Tensor:
        """A gradient of the input's shape and dtype: summed where broadcast, cast where the dtypes differ."""
        shape, dtype = self.meta[number]
        if grad.shape != shape:
            try:
                fits = np.broadcast_shapes(grad.shape, shape) == grad.shape
            except ValueError:
                fits = False
            if not fits:
                raise RuntimeError(f"Function {self.name()} returned an invalid gradient at index {number} - got "
                                   f"{list(grad.shape)} but expected shape compatible with {list(shape)}")
        return cast(Tensor, fit(grad, shape, dtype))

    def apply(self, *grads: Tensor) -> Any:
        """Run the user's backward on these gradients, as the engine would; returns what it returns."""
        return self.function.backward(self, *grads)

    __call__ = apply

    def sources(self) -> list[Tensor]:
        """Stand-ins for the inputs: tensors with the same edges, so that what hangs on them is found."""
        stand_ins = []
        for edge, meta in zip(self.edges, self.meta, strict=True):
            if edge is not None:
                stand_in = result(np.broadcast_to(np.zeros((), meta[1]), meta[0]))
                stand_in.edge, stand_in.tracked = edge, True
                stand_ins.append(stand_in)
        return stand_ins


class Function:
    """An operation with its own derivative. Subclass it, with static forward and backward; call `apply`.

    >>> class Square(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         x, = ctx.saved_tensors
    ...         return 2 * x * g
    >>> y = Square.apply(x)

    forward gets the arguments of apply as they are, with recording off; backward gets one gradient per output and
    returns one (or None) per argument. Keyword-only arguments of forward are settings and get no gradient. With a
    static `setup_context(ctx, inputs, output)`, forward takes no ctx. Every subclass has its own node class.
    """

    node: type[FunctionNode] = FunctionNode
    always_runs = False               # collectives: backward runs on every rank, whatever that rank needs

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.node = type(f"{cls.__name__}Backward", (cls.node,),
                        {"__slots__": (), "function": cls, "always_runs": cls.always_runs,
                         "__module__": cls.__module__, "__doc__": f"Node of {cls.__name__}."})
        cls._takes_context = cls.setup_context is not Function.setup_context
        for method in ("forward", "backward", "setup_context", "jvp", "vjp"):
            if inspect.isfunction(cls.__dict__.get(method)):
                raise TypeError(MSG_STATIC.format(name=cls.__name__, method=method))

    def __init__(self) -> None:
        raise TypeError(MSG_INSTANCE.format(name=type(self).__name__))

    _takes_context = False

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs. Overridden by every Function."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what backward needs, for a forward that takes no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Gradients of the outputs -> gradients of the arguments. Overridden by every differentiable Function."""
        raise NotImplementedError("You must implement the backward method for your custom autograd.Function to use "
                                  f"it with backward mode AD ({type(ctx).__name__} has none).")

    @classmethod
    def records(cls, tracked: bool, settings: dict[str, Any]) -> bool:
        """Whether a call is recorded, given whether one of its tensors is tracked. Collectives ask all ranks."""
        return tracked

    @classmethod
    def apply(cls, *args: Any, **settings: Any) -> Any:
        """Run forward; record the call if recording is on and a tensor argument requires grad."""
        if settings:
            args, settings = bind(cls, args, settings)
        node = new(cls.node)
        node.saved = node.hooks = node.to_save = None
        node.dirty = node.non_differentiable = ()
        node.materialize_grads = True
        needs = node.needs_input_grad = tuple([isinstance(a, Tensor) and a.tracked for a in args])
        recording = modes.recording
        record = recording and cls.records(True in needs, settings)
        modes.recording = False
        try:
            if cls._takes_context:
                output = cls.forward(*args, **settings)
                cls.setup_context(node, args, output)
            else:
                output = cls.forward(node, *args, **settings)
        finally:
            modes.recording = recording
        if node.dirty:
            mark_written(node, args, record)
        if record:
            return attach(node, args, output)
        return output if isinstance(output, Tensor) else unrecorded(output)


def bind(cls: type[Function], args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """Give keywords that name positional arguments of forward their position; the others stay settings."""
    names = positional_names(cls.forward)[0 if cls._takes_context else 1:]
    placed = list(args)
    settings = dict(settings)
    for name in names[len(args):]:
        if name not in settings:
            break
        placed.append(settings.pop(name))
    return tuple(placed), settings


@functools.lru_cache(maxsize=None)
def positional_names(function: Callable[..., Any]) -> list[str]:
    """The names of the positional parameters of a function."""
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def unrecorded(output: Any) -> Any:
    """What apply returns of an unrecorded call: outputs as they are."""
    return tuple(output) if isinstance(output, list) else output


def mark_written(node: FunctionNode, args: tuple[Any, ...], record: bool) -> None:
    """Count the writes that mark_dirty declared, and refuse those that would lose a gradient."""
    for tensor in node.dirty:
        if not any(tensor is a for a in args):
            raise RuntimeError(f"{node.name()}: ctx.mark_dirty() received a tensor that was not an input")
        if record and tensor.tracked and tensor.edge is None:
            raise RuntimeError(MSG_LEAF_IN_PLACE)
        shared_counter(tensor).value += 1


def attach(node: FunctionNode, args: tuple[Any, ...], output: Any) -> Any:
    """Make `node` the origin of the outputs of a user's Function."""
    node.seq = next_number()
    node.lane = modes.lane
    node.edges = tuple([edge_of(a) if isinstance(a, Tensor) else None for a in args])
    node.meta = [(a.array.shape, a.array.dtype) if isinstance(a, Tensor) else () for a in args]
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
    return outputs[0] if single else outputs


def own_output(node: FunctionNode, out: Any, number: int, args: tuple[Any, ...]) -> Any:
    """One output of a user's Function with `node` behind it: an input returned as it is becomes an alias of itself."""
    if not isinstance(out, Tensor):
        return out
    if not out.tracked and not node.dirty and not node.non_differentiable and out.array.dtype.kind == "f":
        for a in args:
            if a is out:
                break
        else:                                        # the ordinary case: a new tensor
            out.edge, out.tracked = (node, number), True
            return out
    if any(out is d for d in node.dirty):
        out.edge, out.tracked = (node, number), True
        return out
    if any(out is x for x in node.non_differentiable) or out.array.dtype.kind not in "fc":
        return out.detach() if any(out is a for a in args) else out
    if out.tracked or any(out is a for a in args):
        out = out.detach()
    out.edge, out.tracked = (node, number), True
    return out


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of a backward that computes outside the graph: differentiating it again is an error, never a zero."""

    @functools.wraps(backward)
    def wrapped(ctx: Any, *grads: Any) -> Any:
        recording, modes.recording = modes.recording, False
        try:
            out = backward(ctx, *grads)
        finally:
            modes.recording = recording
        if not recording:
            return out
        single = not isinstance(out, (tuple, list))
        sources = [*(x for x in grads if isinstance(x, Tensor)), *ctx.sources()]
        outs = tuple(OnceDifferentiable.apply(ctx.name(), x, *sources) if isinstance(x, Tensor) else x
                     for x in ((out,) if single else out))
        return outs[0] if single else outs

    return wrapped


class OnceDifferentiable(Function):
    """Identity whose backward is an error. It hangs on the gradients and on the real inputs of the Function, so
    that the error is met on every path (PyTorch hangs it on a detached leaf and loses terms without a word)."""

    @staticmethod
    def forward(ctx: Any, name: str, x: Tensor, *sources: Tensor) -> Tensor:
        """x itself."""
        ctx.of = name
        return x

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Always an error."""
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable: "
                           f"{ctx.of}")


# --- built-in operations -------------------------------------------------------------------------------------------

class OperationNode(Node):
    """The node of a built-in operation, and the `ctx` of its forward and backward."""

    __slots__ = ("given",)

    operation: type[Operation]

    def save(self, *arrays: Any) -> None:
        """Keep inputs or outputs of forward for backward, where they come back (as `saved`) joined to the graph.

        Integer and boolean arrays made on the way may be kept too: they have no derivative.
        """
        self.saved = arrays

    def unpacked(self, create: bool) -> list[Any]:
        """The saved values for backward."""
        return unpack(self, create)

    def run(self, g: Any, create: bool) -> Any:
        """Hand the gradients to the operation's backward, as arrays or Tensors."""
        if self.saved is not None:
            self.values = unpack(self, create)
        try:
            grads = self.operation.backward(self, *g) if self.outputs > 1 else self.operation.backward(self, g)
        finally:
            if self.saved is not None:
                del self.values
        if grads.__class__ is not tuple and grads.__class__ is not list:
            grads = (grads,)
        if self.meta is not None:
            grads = [x if x is None or m is None or edge is None else fit(x, *m)
                     for x, m, edge in zip(grads, self.meta, self.edges, strict=True)]
        return grads

    values: list[Any]

    def apply(self, *grads: Any) -> Any:
        """Run this node's backward on Tensors: one gradient (or None) per input, alone if there is one input."""
        return call_node(self, grads)

    __call__ = apply

    def needs(self, number: int) -> bool:
        """Whether input `number` needs a gradient."""
        return self.edges[number] is not None


def call_node(node: Node, grads: tuple[Any, ...]) -> Any:
    """Run a built-in node for a user, on Tensors, recorded if recording is on."""
    out = node.run(list(grads) if node.outputs > 1 else grads[0], True)
    return out[0] if len(out) == 1 else tuple(out)


class Operation(Function):
    """A built-in Function: `forward(ctx, *arrays, **settings)` computes on arrays; `backward(ctx, *gs)` is written in
    operators and operations that take arrays and Tensors alike. apply() on arrays alone gives arrays.

    `mixes`: inputs may differ in dtype and shape, and gradients are brought back to each input's.
    """

    node: Any = OperationNode
    mixes = False
    view = False                      # the output shares memory with the first input

    def __init_subclass__(cls, name: str = "", **kwargs: Any) -> None:
        cls.node = type(f"{name or cls.__name__}Backward0", (OperationNode,),
                        {"__slots__": (), "operation": cls, "__doc__": f"Node of {name or cls.__name__}."})

    @classmethod
    def apply(cls, *args: Any, **settings: Any) -> Any:
        """Run forward on the arrays of the arguments; record if recording is on and one is tracked."""
        tracked = seen = False
        arrays = []
        for a in args:
            if isinstance(a, Tensor):
                arrays.append(a.array)
                seen = True
                if a.tracked:
                    tracked = True
            else:
                arrays.append(a)
        node = new(cls.node)
        node.saved = None
        output = cls.forward(node, *arrays, **settings)
        if not seen:
            return output
        if not tracked or not modes.recording:
            if output.__class__ is tuple:
                return tuple([result(z) for z in output])
            out = result(output)
            if cls.view:
                out.counter = shared_counter(args[0])
            return out
        return cls.record(node, args, arrays, output)

    @classmethod
    def record(cls, node: OperationNode, args: tuple[Any, ...], arrays: list[Any], output: Any) -> Any:
        """Make `node` the origin of the outputs."""
        node.seq = next_number()
        node.lane = modes.lane
        node.hooks = None
        node.edges = tuple([edge_of(a) if isinstance(a, Tensor) else None for a in args])
        node.meta = [(a.shape, a.dtype) if isinstance(a, np.ndarray) else None for a in arrays] if cls.mixes else None
        if output.__class__ is tuple:
            node.outputs = len(output)
            outs = tuple([result(z) for z in output])
        else:
            outs = (result(output),)
        for number, out in enumerate(outs):
            if out.array.dtype.kind in "fc":
                out.edge, out.tracked = (node, number), True
        if cls.view:
            outs[0].counter = shared_counter(args[0])
            outs[0].view = args[0] if args[0].view is None else args[0].view
        if node.saved is not None:
            keep(node, args, arrays, outs)
        return outs if output.__class__ is tuple else outs[0]


def keep(node: OperationNode, args: tuple[Any, ...], arrays: list[Any], outs: tuple[Any, ...]) -> None:
    """Turn the arrays that forward saved into the tensors that they belong to."""
    values: list[Any] = []
    for saved in node.saved:
        owner = next((a for a, array in zip(args, arrays, strict=True) if array is saved), None)
        if owner is None:
            owner = next((o for o in outs if o.array is saved), None)
        if owner is None and isinstance(saved, np.ndarray) and saved.dtype.kind in "fc":
            raise TypeError(f"{node.name()}: ctx.save() takes inputs and outputs of forward only; a {saved.dtype} array "
                            f"of shape {saved.shape} is neither, and its derivative would be lost")
        values.append(saved if owner is None else owner)
    pack(node, tuple(values), outs)


# --- bringing gradients to an input's shape and dtype ----------------------------------------------------------------

def fit(g: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Sum g over the dimensions that broadcasting added to `shape`, and cast it to `dtype`; arrays and Tensors alike."""
    if g.shape != shape:
        g = SumTo.apply(g, shape=shape)
    if g.dtype != dtype:
        g = Cast.apply(g, dtype=dtype)
    return g


class SumTo(Operation, name="Sum"):
    """The sum over the dimensions along which an array of `shape` was repeated; the adjoint of Expand."""

    @staticmethod
    def forward(ctx: Any, g: Any, *, shape: tuple[int, ...]) -> Any:
        """Sum over added leading dimensions, and over those of size 1 in `shape`."""
        ctx.shape = g.shape
        extra = g.ndim - len(shape)
        repeated = tuple(i + extra for i, n in enumerate(shape) if n == 1 and g.shape[i + extra] != 1)
        return np.add.reduce(g, axis=(*range(extra), *repeated), dtype=g.dtype).reshape(shape)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Repeat it again."""
        return Expand.apply(g, shape=ctx.shape)


class Expand(Operation):
    """x repeated to `shape` by broadcasting, as a read-only view."""

    view = True

    @staticmethod
    def forward(ctx: Any, x: Any, *, shape: tuple[int, ...]) -> Any:
        """NumPy's broadcast_to."""
        ctx.shape = x.shape
        return np.broadcast_to(x, shape)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Sum what was repeated."""
        return SumTo.apply(g, shape=ctx.shape)


class Cast(Operation, name="ToCopy"):
    """x in another dtype."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, dtype: Any) -> Any:
        """NumPy's astype, always a copy."""
        ctx.dtype = x.dtype
        return np.asarray(x).astype(dtype)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Cast back."""
        return Cast.apply(g, dtype=ctx.dtype)
