# cython: annotation_typing=True
"""Operation: the base of built-in operations, and the operations that the core itself uses (SumTo, Expand, Cast, Conj).

forward() gets arrays. backward() gets arrays in an ordinary pass, and Tensors when the pass itself is recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import arrays as of_arrays
from ..base.dtypes import category, float32
from ..base.errors import explain
from ..kernels.halves import converted
from ..kernels.sums import total
from ..spans import spans
from . import modes as thread_modes
from .graph import Node, join_views, shared_counter
from .modes import GRAD, modes
from .primitive import this_thread, watchers
from .recording import pack, record, tensor_at, unpack
from .tensor import Tensor, TensorBase, edge_of, result


class OperationNode(Node):
    """The node of a built-in operation, and the `ctx` of its forward and backward."""

    __slots__ = ("given",)

    makes_gradients = True
    keeps_attributes = True
    operation: Any = None                            # the Operation, in its node class
    given: tuple[Any, ...]                           # the arguments of a declared operation
    values: Any = None                               # the saved values, while backward runs

    def save(self, *arrays: Any) -> None:
        """Save inputs or outputs of forward for backward, which reads them from `saved`, connected to the graph.

        Intermediate integer and boolean arrays may be saved too: they have no derivative.
        """
        self.saved = arrays

    def unpacked(self, create: bool) -> list[Any]:
        """The saved values for backward."""
        return unpack(self, create)

    def run(self, g: Any, create: bool) -> Any:
        """Call the operation's backward with the gradients, as arrays or Tensors."""
        ctx = self
        if self.saved is not None:
            values = unpack(self, create)
            # setdefault is atomic: of several threads in one graph, only one gets the node itself
            if vars(self).setdefault("values", values) is not values:
                ctx = twin(self)
                ctx.values = values
        try:
            grads = self.operation.backward(ctx, *g) if self.outputs > 1 else self.operation.backward(ctx, g)
        finally:
            if self.saved is not None:
                del ctx.values
        if type(grads) is not tuple and type(grads) is not list:
            grads = (grads,)
        if self.meta is not None:
            grads = [x if x is None or m is None or edge is None else sum_to_like(x, *m)
                     for x, m, edge in zip(grads, self.meta, self.edges, strict=True)]
        return grads

    def joined(self, grads: Sequence[Any]) -> list[Any]:
        """The gradients of the inputs, as Tensors that are functions of the inputs that `joins` names."""
        out = list(grads)
        if modes.recording & GRAD:
            for place, inputs in enumerate(self.joins):
                sources = [tensor_at(np.broadcast_to(np.zeros((), g.dtype), g.shape), edge) for g, edge in
                           [(grads[i], self.edges[i]) for i in inputs] if edge is not None and g is not None]
                if sources and (g := grads[place]) is not None:
                    out[place] = Join.apply(g, *sources, zeros=self.operation is None or self.operation.joins_zeros)
                    out[place].counter = shared_counter(g)
        return out

    def apply(self, *grads: Any) -> Any:
        """Run this node's backward on Tensors. Returns one gradient (or None) per input, not in a tuple if it is one."""
        return call_node(self, grads)

    def __call__(self, *grads: Any) -> Any:
        return call_node(self, grads)

    def needs(self, number: int) -> bool:
        """Whether input `number` needs a gradient."""
        return self.edges[number] is not None


def twin(node: OperationNode) -> OperationNode:
    """A copy of the node, which another thread can run at the same time."""
    other = type(node)()
    other.edges, other.saved, other.meta, other.hooks = node.edges, node.saved, node.meta, None
    other.seq, other.lane, other.outputs = node.seq, node.lane, node.outputs
    other.given = getattr(node, "given", ())         # of a declared operation
    content = vars(node).copy()                      # atomic too: the other thread removes `values` when it is done
    content.pop("values", None)
    vars(other).update(content)
    return other


def call_node(node: Node, grads: tuple[Any, ...]) -> Any:
    """Run a built-in node on a user's Tensors, recorded if recording is on. TypeError unless there is a Tensor for each
    output (or, of several, None)."""
    if len(grads) != node.outputs:
        raise TypeError(f"{node.name()}: expected {node.outputs} arguments, got {len(grads)} instead")
    for number, g in enumerate(grads):
        if not isinstance(g, Tensor) and (g is not None or node.outputs == 1):
            raise TypeError(f"{node.name()}: argument {number} is not a Tensor but {type(g).__name__}")
    out = node.run(list(grads) if node.outputs > 1 else grads[0], True)
    if node.joins is not None:
        out = node.joined(out)
    return out[0] if len(out) == 1 else tuple(out)


class Operation:
    """A built-in Function: `forward(ctx, *arrays, **settings)` computes on arrays; `backward(ctx, *gs)` uses operators and
    operations that accept arrays and Tensors. apply() returns arrays if all arguments are arrays.

    `mixes`: inputs may differ in dtype and shape; gradients are reduced and cast to each input's.
    """

    node: Any = OperationNode
    mixes = False
    view = False                      # the output shares memory with the first input
    any_float = False                 # forward accepts bfloat16, as a view's does; otherwise in_float32() converts
    like_first = False                # the result has the first input's dtype
    real = False                      # complex inputs are rejected
    # For each input, the inputs on which its gradient depends in the graph although the derivative is zero, since PyTorch's
    # backward operation takes them as arguments: a second pass continues there, with zeros (or with None).
    joins: tuple[tuple[int, ...], ...] | None = None
    joins_zeros = True
    span: int = 0                     # the number of its spans
    batched: Any = None               # its rule for vmap(), see batching.py; None: called once per sample

    @staticmethod
    def forward(ctx: Any, *arrays: Any, **settings: Any) -> Any:
        """Compute on arrays."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        """Gradients of the outputs -> gradients of the inputs, on arrays or Tensors."""
        raise NotImplementedError

    def __init_subclass__(cls, name: str = "", **kwargs: Any) -> None:
        cls.node = type(f"{name or cls.__name__}Backward0", (OperationNode,),
                        {"operation": cls, "joins": cls.joins, "__doc__": f"Node of {name or cls.__name__}."})
        cls.span = spans.operation_number(name or cls.__name__)

    @classmethod
    def apply(cls, *args: Any, **settings: Any) -> Any:
        """Run forward on the arrays of the arguments; record if recording is on and one is tracked."""
        if spans.on and not spans.entered():
            return spans.call(cls.apply, cls.span, args, settings)
        kind = 0
        seen = half = False
        node: OperationNode = cls.node()
        node.saved = None
        arrays: list[Any] = [node]                   # the arguments of forward
        tensor: TensorBase                           # a C type in the compiled core
        for a in args:
            if isinstance(a, Tensor):
                tensor = a
                array = tensor.array
                seen = True
                kind |= tensor.tracked
            else:
                array = a
            arrays.append(array)
            if of_arrays.is_bfloat16(array):
                half = True
        if half and not cls.view and not cls.any_float:
            return in_float32(cls.apply, args, settings, cls.like_first)
        if cls.real:
            demand_real(node, arrays)
        try:
            output = cls.forward(*arrays, **settings) if settings else cls.forward(*arrays)
        except ValueError as error:
            if cls.mixes:
                explain(error, *arrays[1:])
            raise
        del arrays[0]
        if not seen:
            return output
        if not kind or not kind & modes.recording:
            out: Any = tuple([result(z) for z in output]) if type(output) is tuple else result(output)
            if cls.view:
                join_views(out, args[0])
            if watchers and this_thread.call_watcher is not None:
                this_thread.call_watcher.operated(cls, node, args, arrays, settings, out)
            return out
        out = cls.record(node, args, arrays, output)
        if watchers and this_thread.call_watcher is not None:
            this_thread.call_watcher.operated(cls, node, args, arrays, settings, out)
        return out

    @classmethod
    def record(cls, node: OperationNode, args: tuple[Any, ...], arrays: list[Any], output: Any) -> Any:
        """Make `node` the origin of the outputs; returns these as Tensors."""
        outs = tuple([result(z) for z in output]) if type(output) is tuple else (result(output),)
        if cls.view:
            join_views(outs[0], args[0])
        if type(output) is tuple or outs[0].array.dtype.kind in "fcV":
            node.meta = ([(x.shape, x.dtype) if isinstance(a, Tensor) else None for a, x in zip(args, arrays, strict=True)]
                         if cls.mixes else None)
            if node.saved is not None:
                pack_saved(node, args, arrays, outs)
            node.hooks = None
            edges = tuple([edge_of(a) if isinstance(a, Tensor) else None for a in args])
            record(node, thread_modes.state(), edges, args, outs)
        return outs if type(output) is tuple else outs[0]


def demand_real(node: OperationNode, arrays: list[Any]) -> None:
    """NotImplementedError if one of the arrays holds complex numbers."""
    for a in arrays:
        if of_arrays.is_complex(a):
            raise NotImplementedError(f'"{node.name().removesuffix("Backward0")}" not implemented for {a.dtype}; compute it '
                                      "from the real and imaginary parts")


def pack_saved(node: OperationNode, args: tuple[Any, ...], arrays: list[Any], outs: tuple[Any, ...]) -> None:
    """Replace the arrays that forward saved by the tensors that hold them."""
    values: list[Any] = []
    for saved in node.saved:
        owner = next((a for a, array in zip(args, arrays, strict=True) if array is saved), None)
        if owner is None:
            owner = next((o for o in outs if o.array is saved), None)
        if owner is None and isinstance(saved, np.ndarray) and saved.dtype.kind in "fcV":
            raise TypeError(f"{node.name()}: ctx.save() takes inputs and outputs of forward only; a {saved.dtype} array "
                            f"of shape {saved.shape} is neither, and its derivative would be lost")
        values.append(saved if owner is None else owner)
    pack(node, tuple(values), outs)


# --- gradients in the input's shape and dtype ------------------------------------------------------------------------

def sum_to_like(g: Any, shape: Sequence[int], dtype: Any) -> Any:
    """Sum g over the dimensions that broadcasting added to `shape`, and cast it to `dtype`; arrays and Tensors alike."""
    if g.shape != shape:
        g = SumTo.apply(g, shape=shape)
    if g.dtype != dtype:
        g = Cast.apply(g, dtype=dtype)
    return g


class SumTo(Operation, name="Sum"):
    """The sum over the dimensions along which an array of `shape` was broadcast; the adjoint of Expand."""

    @staticmethod
    def forward(ctx: Any, g: Any, *, shape: Sequence[int]) -> Any:
        """Sum over added leading dimensions, and over dimensions of size 1 in `shape`."""
        ctx.shape = g.shape
        extra = g.ndim - len(shape)
        repeated = tuple(i + extra for i, n in enumerate(shape) if n == 1 and g.shape[i + extra] != 1)
        return total(g, (*range(extra), *repeated)).reshape(shape)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Broadcast the gradient."""
        return Expand.apply(g, shape=ctx.shape)


class Expand(Operation):
    """x broadcast to `shape`, as a view; views.py decides whether it may be written to."""

    view = True

    @staticmethod
    def forward(ctx: Any, x: Any, *, shape: Sequence[int]) -> Any:
        """A view of x with stride 0 along broadcast dimensions, as from np.broadcast_to."""
        ctx.shape = x.shape
        if type(x) is np.ndarray and x.flags.c_contiguous and x.dtype.kind != "V" and x.size:
            strides = [0] * (len(shape) - x.ndim)
            for have, step, want in zip(x.shape, x.strides, shape[len(strides):], strict=True):
                strides.append(step if have == want else 0 if have == 1 else -1)
            if -1 not in strides:
                return np.ndarray(shape, x.dtype, x, 0, tuple(strides))        # 0.5 us; np.broadcast_to takes 5
        out = np.broadcast_to(x, shape)
        if type(x) is np.ndarray and x.flags.writeable:
            out.flags.writeable = True
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Sum over the broadcast dimensions."""
        return SumTo.apply(g, shape=ctx.shape)


class Cast(Operation, name="ToCopy"):
    """x in another dtype."""

    any_float = True

    @staticmethod
    def forward(ctx: Any, x: Any, *, dtype: Any) -> Any:
        """NumPy's astype, always a copy. Floats too large for float16 become infinite without a warning."""
        ctx.dtype = x.dtype
        x = np.asanyarray(x)
        return converted(x.real if x.dtype.kind == "c" and np.dtype(dtype).kind not in "cb" else x, dtype)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The gradient in the input's dtype."""
        return Cast.apply(g, dtype=ctx.dtype)


def in_float32(call: Any, args: Sequence[Any], settings: dict[str, Any], like_first: bool = False) -> Any:
    """call(*args, **settings) of bfloat16 operands as in PyTorch: computed in float32 and rounded once. So are its gradients
    of any order, so that rules need not support this dtype. A wider float operand makes the result wider, unless
    `like_first`.
    """
    given = [a for a in args if isinstance(a, (Tensor, np.ndarray)) and category(a.dtype) > 1]
    bfloat16 = next(a.dtype for a in given if a.dtype.kind == "V")
    narrow = all(a.dtype.kind == "V" for a in (given[:1] if like_first else [a for a in given if a.ndim] or given))
    out = call(*[Cast.apply(a, dtype=float32) if isinstance(a, (Tensor, np.ndarray)) and a.dtype.kind == "V" else a
                 for a in args], **settings)

    def rounded(z: Any) -> Any:
        if z is not None and z.dtype.kind == "c" and all(a.dtype.kind == "V" for a in given):
            raise NotImplementedError(f"{getattr(call, '__self__', call).__name__} of bfloat16: no complex dtype has such "
                                      "parts; convert the tensor first, as in x.float()")
        return Cast.apply(z, dtype=bfloat16) if narrow and z is not None and z.dtype == float32 else z

    return tuple([rounded(z) for z in out]) if type(out) is tuple else rounded(out)


class Join(Operation):
    """g itself, also as a function of more tensors, whose gradients are zeros or, without `zeros`, None."""

    any_float = True

    @staticmethod
    def forward(ctx: Any, g: Any, *sources: Any, zeros: bool) -> Any:
        """The same array."""
        ctx.given = [(x.shape, x.dtype) for x in sources] if zeros else [None] * len(sources)
        return g

    @staticmethod
    def backward(ctx: Any, u: Any) -> Any:
        """The gradient of g is the gradient itself."""
        zeros = [None if like is None else np.zeros(*like) for like in ctx.given]
        return (u, *zeros) if u.__class__ is np.ndarray else (u, *[None if z is None else result(z) for z in zeros])


class Conj(Operation):
    """The complex conjugate."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        """The complex conjugate, elementwise."""
        return np.conj(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The conjugate of the gradient: conj is its own adjoint over the reals."""
        return Conj.apply(g)
