# cython: annotation_typing=True
"""The declarations of most operations: elementwise(), settled() and linear(). All other operations are Operation classes.

A rule computes one input's gradient. The names of its parameters say what it reads: `g` is the output's gradient, `z` the
output, and `x`, `y` (or the names that the forward uses) are the inputs; `out`, after z, is memory it may write to
(ReusingNode). Only values that a rule reads are saved, and only if its input requires a gradient. Rules use operators and
operations that accept arrays and Tensors: an ordinary backward pass calls them with arrays, a recorded one with Tensors, so
second derivatives need no code of their own. The forward gets arrays.

A rule returns a new array, one of its arguments, or a view of one. A new array may become a leaf's .grad without a copy
(BackwardPass.unshared), so a rule that keeps an array for later calls must return a copy of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import arrays
from ..base.dtypes import bool_, category, default, float16, float32, for_number, result_type
from ..base.errors import explain, unsupported
from ..base.warning_frames import framed
from ..kernels.blocks import owns_memory
from ..kernels.halves import ARITHMETIC, converted, in_single, rounded_once
from ..spans import spans
from . import modes as thread_modes
from .batching import elementwise as elementwise_rule
from .graph import FREED, MSG_FREED, join_views
from .operation import Cast, Conj, Operation, OperationNode, in_float32, sum_to_like
from .out import detached, into
from .primitive import computed, watchers
from .recording import Output, record, unpack_one
from .tensor import Tensor, TensorBase, edge_of, result, start

ndarray = np.ndarray
NUMBERS = (int, float, bool, complex, np.generic)
PYTHONS = frozenset((int, float, bool, complex))
OF_NUMBERS = frozenset(("add", "sub", "mul", "div", "floordivide"))     # operations that PyTorch applies to two numbers


def elementwise(name: str, forward: Callable[..., Any], *rules: Callable[..., Any], floats: bool = False,
                inputs: int | None = None, check: Callable[..., None] | None = None,
                joins: tuple[tuple[int, ...], ...] | None = None, real: bool = False) -> Any:
    """Declare an elementwise operation of one or two tensors.

    name: its name in the graph, "Mul" for MulBackward0. rules: one for each input; none if the operation has no derivative
    (comparisons, rounding to integers): `inputs` then is their number, unless `forward` is a NumPy ufunc. floats: integers
    are converted to floating point first. check: called with two operands of different dtypes, may raise. real: complex
    numbers are rejected. joins: see Operation.joins. The operation accepts `out=`.

    >>> exp = elementwise("Exp", np.exp, lambda g, z: g * z, floats=True)
    >>> mul = elementwise("Mul", np.multiply, lambda g, y: g * y, lambda g, x: g * x)
    """
    forward = for_real(name, forward) if real else forward
    if not rules:
        return constant(name, framed(forward), getattr(forward, "nin", 1) if inputs is None else inputs)
    of_halves = functools.partial(rounded_once, forward) if forward in ARITHMETIC else None
    forward = framed(forward)
    if len(rules) == 1:
        return unary(name, forward, rules[0], of_halves or forward, floats, joins)
    return binary(name, forward, rules[0], rules[1], of_halves or forward, floats, check, joins)


def for_real(name: str, forward: Callable[..., Any]) -> Callable[..., Any]:
    """`forward`, with NotImplementedError for complex numbers."""

    def checked(*operands: Any) -> Any:
        for x in operands:
            if arrays.is_complex(x) or isinstance(x, np.complexfloating):
                raise NotImplementedError(f'"{name.lower()}" not implemented for {x.dtype}; compute it from the real and '
                                          "imaginary parts")
        return forward(*operands)

    return checked


def reads(rule: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters of a rule other than g."""
    code = rule.__code__
    return code.co_varnames[1:code.co_argcount]


class UnaryNode(OperationNode):
    """The node of an operation of one input. Saved: (output,), (input,) or both, depending on the rule."""

    __slots__ = ()

    keeps_attributes = False
    rule: Any = None

    def run(self, g: Any, create: bool) -> Any:
        """Call the rule with the values that it reads."""
        saved = self.saved
        if saved is None:
            return (self.rule(g),)
        if saved is FREED:
            raise RuntimeError(MSG_FREED)
        if arrays.is_float16(g):
            values = in_single(g, *[unpack_one(self, k, create) for k in range(len(saved))])
            return (converted(self.rule(*values), float16, copy=False),)
        if len(saved) == 2:
            return (self.rule(g, unpack_one(self, 0, create), unpack_one(self, 1, create)),)
        return (self.rule(g, unpack_one(self, 0, create)),)


class SettledNode(UnaryNode):
    """The node of an operation of one input and numbers. Saved: (input,); `given` holds the numbers."""

    __slots__ = ()

    def run(self, g: Any, create: bool) -> Any:
        """Call the rule with the numbers of the call."""
        if self.saved is FREED:
            raise RuntimeError(MSG_FREED)
        return (self.rule(g, unpack_one(self, 0, create), *self.given),)


class ReusingNode(UnaryNode):
    """The node of an operation whose rule reads z and may write its result to `out`. `out` is the incoming gradient if only
    the pass holds it (see BackwardPass.unshared), else None. This saves a CNN 15 MB, and ReLU's backward a third of its
    time."""

    __slots__ = ()

    reuses = True

    def run(self, g: Any, create: bool) -> Any:
        """Call the rule with new memory for the result."""
        if self.saved is FREED:
            raise RuntimeError(MSG_FREED)
        return (self.rule(g, unpack_one(self, 0, create), None),)

    def run_in_place(self, g: Any) -> Any:
        """Call the rule, which may overwrite g."""
        if self.saved is FREED:
            raise RuntimeError(MSG_FREED)
        free = type(g) is ndarray and owns_memory(g) and g.flags.writeable
        return (self.rule(g, unpack_one(self, 0, False), g if free else None),)


def node_type(name: str, base: Any, joins: Any = None, **rules: Any) -> Any:
    """The node class of one declared operation."""
    return type(f"{name}Backward0", (base,), {"__doc__": f"Node of {name}.", "joins": joins,
                                             **{key: staticmethod(rule) for key, rule in rules.items()}})


def unary(name: str, forward: Callable[[Any], Any], rule: Callable[..., Any], of_halves: Callable[[Any], Any],
          floats: bool = False, joins: Any = None) -> Any:
    """elementwise() of one input."""
    names = reads(rule)
    assert names in ((), ("x",), ("z",), ("z", "x"), ("z", "out")), f"{name}: a rule reads g, then z, then x, not {names}"
    wants_z, wants_x = "z" in names, "x" in names

    node_class = node_type(name, ReusingNode if "out" in names else UnaryNode, joins, rule=rule)
    span = spans.operation_number(name)

    def op(input: Any, *, out: Any = None) -> Any:
        if spans.on and not spans.entered():
            return spans.call(op, span, (input,), None if out is None else {"out": out})
        x = input
        if not isinstance(x, Tensor):
            return forward(x)
        if out is not None:
            return into(out, op(x.detach()), x, name=name)
        a = x.array
        if floats and a.dtype.kind not in "fcV":
            a = a.astype(default.dtype)
        half = arrays.is_half(a)
        if half and arrays.is_bfloat16(a):
            return in_float32(op, (narrowed(x, a),), {})
        try:
            out = result(of_halves(a) if half else forward(a))
        except TypeError as error:
            explain(error)
            raise
        kind = x.tracked
        if kind and kind & (state := thread_modes.state())["recording"]:
            node: OperationNode = (
                node_class if out.array.dtype.kind != "c" or a.dtype.kind != "c" else conjugated(node_class))()
            node.hooks = node.meta = None
            if wants_z:
                node.saved = (Output(out.array, 0), x) if wants_x else (Output(out.array, 0),)
            else:
                node.saved = (x,) if wants_x else None
            if wants_x and x.counter is not None and x.counter.saved():
                node.versions = (0, x.counter.saved()) if wants_z else (x.counter.saved(),)
            record(node, state, (edge_of(x),), (x,), (out,))
        return out if not watchers else computed(forward, (a,), (x,), out)

    return described(op, name, node_class, forward=forward)


def settled(name: str, forward: Callable[..., Any], rule: Callable[..., Any], joins: Any = None) -> Any:
    """elementwise() of one input and numbers: forward(x, *settings), and rule(g, x, *settings), its gradient."""
    node_class = node_type(name, SettledNode, joins, rule=rule)
    span = spans.operation_number(name)

    def op(x: Any, *settings: Any) -> Any:
        if spans.on and not spans.entered():
            return spans.call(op, span, (x, *settings), None)
        a = x.array if isinstance(x, Tensor) else x
        if arrays.is_bfloat16(a):
            return in_float32(op, (x, *settings), {})
        if not isinstance(x, Tensor):
            return forward(x, *settings)
        out = result(forward(a, *settings))
        kind = x.tracked
        if kind and kind & (state := thread_modes.state())["recording"]:
            node: OperationNode = node_class()
            node.hooks = node.meta = None
            node.saved, node.given = (x,), settings
            if x.counter is not None and x.counter.saved():
                node.versions = (x.counter.saved(),)
            record(node, state, (edge_of(x),), (x,), (out,))
        return out if not watchers else computed(forward, (a, *settings), (x,), out)

    return described(op, name, node_class, forward=forward)


class BinaryNode(OperationNode):
    """The node of an operation of two inputs. Saved: (output, x, y), each None if no rule reads it."""

    __slots__ = ()

    keeps_attributes = False
    give_x: Any = None                               # rules of (g, output, x, y)
    give_y: Any = None

    def run(self, g: Any, create: bool) -> Any:
        """Call the rules of the inputs that require grad; reduce and cast each result to its input's shape and dtype."""
        saved = self.saved
        z = x = y = None
        if saved is not None:
            if saved is FREED:
                raise RuntimeError(MSG_FREED)
            z, x, y = saved
            if z is not None:
                z = unpack_one(self, 0, create)
            if x is not None:
                x = unpack_one(self, 1, create)
            if y is not None:
                y = unpack_one(self, 2, create)
        half = arrays.is_float16(g)
        if half or (self.meta is not None and g.__class__ is ndarray):
            g, z, x, y = in_single(g, z, x, y)
        edge_x, edge_y = self.edges
        gx = None if edge_x is None else self.give_x(g, z, x, y)
        gy = None if edge_y is None else self.give_y(g, z, x, y)
        if half:
            gx = None if gx is None else converted(gx, float16, copy=False)
            gy = None if gy is None else converted(gy, float16, copy=False)
        if self.meta is not None:
            (shape_x, dtype_x), (shape_y, dtype_y) = self.meta
            if gx is not None:
                gx = sum_to_like(gx, shape_x, dtype_x)
            if gy is not None:
                gy = sum_to_like(gy, shape_y, dtype_y)
        return gx, gy


def binary(name: str, forward: Callable[[Any, Any], Any], rule_x: Callable[..., Any], rule_y: Callable[..., Any],
           of_halves: Callable[[Any, Any], Any], floats: bool = False, check: Callable[..., None] | None = None,
           joins: Any = None) -> Any:
    """elementwise() of two inputs, which broadcast."""
    node_class = node_type(name, BinaryNode, joins, give_x=positional(rule_x), give_y=positional(rule_y))
    x_reads, y_reads = reads(rule_x), reads(rule_y)
    # whether the output, x and y are saved, indexed by the tracked inputs: none, y, x, both
    saves = [tuple([v in names for v in "zxy"]) for names in ((), y_reads, x_reads, (*x_reads, *y_reads))]
    span = spans.operation_number(name)

    def op(input: Any, other: Any, *, out: Any = None) -> Any:
        if spans.on and not spans.entered():
            return spans.call(op, span, (input, other), None if out is None else {"out": out})
        if out is not None:
            return into(out, op(detached(input), detached(other)), input, other)

        # the operands: as TensorBase x and y, and as arrays (or a number) a and b of one dtype
        x: TensorBase; y: TensorBase                 # noqa: E702 - C types in the compiled core
        if isinstance(input, Tensor) and isinstance(other, Tensor):
            x, y = input, other
            a, b = x.array, y.array
            dtype = a.dtype
            plain = dtype is b.dtype                 # None, below: one is a number
            if not plain:
                a, b = matched(a, b)
        else:
            x, right, a, b, plain = operands(input, other, op.__name__, forward, floats)
            if x is None:
                return right
            y = right
        if check is not None and not plain:
            check(input, other)

        # forward, in the operation's dtype
        if floats and (a if isinstance(a, ndarray) else b).dtype.kind not in "fcV":
            a, b, plain = np.asarray(a).astype(default.dtype), np.asarray(b).astype(default.dtype), False
        half = arrays.is_half(a) or (plain is None and arrays.is_half(b))
        if half and (arrays.is_bfloat16(a) or arrays.is_bfloat16(b)):
            return in_float32(op, (narrowed(x, a), narrowed(y, b)), {})
        try:
            z = of_halves(a, b) if half else forward(a, b)
        except (TypeError, ValueError, OverflowError) as error:
            explain(error, a, b)
            raise
        answer: TensorBase = result(z)

        # the node: save what the rules of the tracked inputs read
        x_tracked, y_tracked = x.tracked, y.tracked
        if (x_tracked or y_tracked) and (x_tracked | y_tracked) & (state := thread_modes.state())["recording"]:
            node: OperationNode = (node_class if (plain and dtype is float32) or answer.array.dtype.kind != "c" or real(a, b)
                                   else conjugated(node_class))()
            node.hooks = node.saved = None
            if x_reads or y_reads:
                save_z, save_x, save_y = saves[(2 if x_tracked else 0) + (1 if y_tracked else 0)]
                node.saved = (Output(answer.array, 0) if save_z else None,
                              (x if type(x) is not Number else x.array) if save_x else None,
                              (y if type(y) is not Number else y.array) if save_y else None)
                if (save_x and x.counter is not None) or (save_y and y.counter is not None):
                    versions(node, x, y)
            node.meta = None if plain is None or (plain and a.shape == b.shape) else _metas(x, y, answer)
            record(node, state, (edge_of(x) if x_tracked else None, edge_of(y) if y_tracked else None), (x, y), (answer,))
        return answer if not watchers else computed(forward, (a, b), (x, y), answer)

    return described(op, name, node_class)


def real(*values: Any) -> bool:
    """Whether no operand is complex."""
    return not any(np.iscomplexobj(v) for v in values)


@functools.cache
def conjugated(node_class: Any) -> Any:
    """The node class for complex results. Rules multiply g by the derivative f'. The gradient of a complex number (PyTorch's
    convention: dL/dRe + i dL/dIm) is g times the conjugate of f', so the rule runs between two conjugations.
    """
    def run(self: Any, g: Any, create: bool) -> Any:
        return [x if x is None or x.dtype.kind != "c" else Conj.apply(x)
                for x in node_class.run(self, Conj.apply(g), create)]

    return type(node_class.__name__, (node_class,), {"run": run, "reuses": False})


class Number(TensorBase):
    """A Python number as an operand; not a Tensor, since it has no array."""

    __slots__ = ()

    def __init__(self, array: Any) -> None:
        start(self, array)


def matched(a: Any, b: Any) -> tuple[Any, Any]:
    """Two arrays in the dtype of their result."""
    dtype = result_type(a, b)
    return in_dtype(a, dtype), in_dtype(b, dtype)


def in_dtype(a: Any, dtype: Any) -> Any:
    """An operand in this dtype."""
    return converted(a, dtype, copy=False) if arrays.is_half(a) or dtype is float16 else a.astype(dtype, copy=False)


def narrowed(x: TensorBase, a: Any) -> Any:
    """The operand x of an operation in bfloat16, with the array a: integers are rounded first."""
    return a if type(x) is Number else x if x.array.dtype.kind in "fV" else Cast.apply(x, dtype=a.dtype)


limits_of: Callable[[Any], Any] = functools.cache(np.iinfo)


def wrap_integer(number: Any, dtype: Any) -> Any:
    """Convert an integer to `dtype`, keeping its lowest bits, as in C. RuntimeError if it has more than 64 bits."""
    limits = limits_of(dtype)
    if limits.min <= number <= limits.max:
        return number
    if not -(1 << 63) <= number < 1 << 64:
        raise RuntimeError(f"Overflow when unpacking long long: {number} is beyond int64")
    number &= (1 << limits.bits) - 1
    return number if number <= limits.max else number - (1 << limits.bits)


def _is_operand(value: Any) -> bool:
    return isinstance(value, (ndarray, *NUMBERS))


def operands(x: Any, y: Any, name: str, forward: Callable[..., Any],
             floats: bool = False) -> tuple[Any, Any, Any, Any, Any]:
    """Convert a Tensor and another value to operands. Returns both as operands, both as NumPy operands of one dtype, and
    None if one is a number, else False; or (None, answer, ...) if neither is a Tensor or the other value is invalid."""
    if type(y) is float and isinstance(x, Tensor) and x.array.dtype.kind == "f":       # the most frequent case
        return x, Number(y), x.array, y, None
    first = isinstance(x, Tensor)
    tensor, other = (x, y) if first else (y, x)
    if not isinstance(tensor, Tensor) and _is_operand(x) and _is_operand(y):
        if name not in OF_NUMBERS or x.__class__ not in PYTHONS or y.__class__ not in PYTHONS:
            return None, forward(x, y), None, None, None
        tensor = x = result(np.asarray(x, for_number(bool_, x)))         # add(1, 2) is a tensor
        other, first = y, True
    if isinstance(other, ndarray):
        other = result(other)
        dtype = result_type(tensor.array, other.array)
        a, b = matched(tensor.array, other.array)
    elif isinstance(other, NUMBERS):
        number: Any = other.item() if isinstance(other, np.generic) else other
        a = tensor.array
        dtype = for_number(a.dtype, number)
        if dtype is not a.dtype:
            tensor, a = tensor.to(dtype), a.astype(dtype)
        if dtype.kind in "iu" and not floats and name != "pow":
            number = wrap_integer(number, dtype)
        other, b = Number(number), number
    else:
        return None, NotImplemented if name in ("eq", "ne") else unsupported(name, x, y), None, None, None
    plain = None if type(other) is Number else False
    return (tensor, other, a, b, plain) if first else (other, tensor, b, a, plain)


def versions(node: Any, x: Any, y: Any) -> None:
    """Store the versions at which the inputs were saved, unless they are 0; the output's is 0."""
    now = (0 if x.counter is None else x.counter.saved(), 0 if y.counter is None else y.counter.saved())
    if any(now):
        node.versions = (0, *now)


def _metas(x: Any, y: Any, out: TensorBase) -> Any:
    """(shape, dtype) of both inputs, or None if the gradients already have them."""
    metas = [(v.array.shape, v.array.dtype) if isinstance(v, Tensor) else ((), None) for v in (x, y)]
    same = all(m == (out.array.shape, out.array.dtype) for m in metas if m[1] is not None)
    return None if same else metas


def positional(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Convert a rule with named parameters to a function of (g, z, x, y)."""
    names = reads(rule)
    adapters: dict[tuple[str, ...], Callable[..., Any]] = {
        (): lambda g, z, x, y: rule(g),
        ("x",): lambda g, z, x, y: rule(g, x),
        ("y",): lambda g, z, x, y: rule(g, y),
        ("z",): lambda g, z, x, y: rule(g, z),
        ("z", "x"): lambda g, z, x, y: rule(g, z, x),
        ("z", "y"): lambda g, z, x, y: rule(g, z, y),
        ("x", "y"): lambda g, z, x, y: rule(g, x, y),
        ("z", "x", "y"): rule,
    }
    return adapters[names]


class LinearNode(OperationNode):
    """The node of a linear operation; `given` holds the input's shape and the settings."""

    __slots__ = ()

    keeps_attributes = False
    adjoint: Any = None

    def run(self, g: Any, create: bool) -> Any:
        """Call the adjoint with the settings of the call."""
        shape, settings = self.given
        return (self.adjoint(g, shape, *settings),)


def linear(name: str, forward: Callable[..., Any], adjoint: Callable[..., Any],
           view: bool | str = False, batched: Any = None) -> Any:
    """Declare an operation that is linear in its one tensor: forward(x, *settings), adjoint(g, shape of x, *settings).

    view: the output shares memory with the input; "if possible": it may be a copy. batched: see batching.py.

    >>> transpose = linear("Transpose", np.swapaxes, lambda g, shape, i, j: transpose(g, i, j), view=True)
    """

    always = view is True

    node_class = node_type(name, LinearNode, adjoint=adjoint)
    span = spans.operation_number(name)

    def op(x: Any, *settings: Any) -> Any:
        if spans.on and not spans.entered():
            return spans.call(op, span, (x, *settings), None)
        a = x.array if isinstance(x, Tensor) else x
        if not view and arrays.is_bfloat16(a):
            return in_float32(op, (x, *settings), {})
        if not isinstance(x, Tensor):
            return forward(x, *settings)
        out = result(forward(a, *settings))
        if view and (always or np.may_share_memory(out.array, a)):
            join_views(out, x)
        kind = x.tracked
        if kind and kind & (state := thread_modes.state())["recording"]:
            node: OperationNode = node_class()
            node.hooks = node.meta = node.saved = None
            node.given = (a.shape, settings)
            record(node, state, (edge_of(x),), (x,), (out,))
        return out if not watchers else computed(forward, (a, *settings), (x,), out)

    return described(op, name, node_class, batched, forward)


def constant(name: str, forward: Callable[..., Any], inputs: int = 1) -> Any:
    """Declare an operation of one or two inputs without a derivative: its result never requires grad."""
    span = spans.operation_number(name)

    def unary_op(input: Any, *, out: Any = None) -> Any:
        if spans.on and not spans.entered():
            return spans.call(unary_op, span, (input,), None if out is None else {"out": out})
        if not isinstance(input, Tensor):
            return forward(input)
        if arrays.is_bfloat16(input.array):
            made = in_float32(unary_op, (input,), {})
            return made if out is None else into(out, made, input, name=name)
        made = result(forward(input.array))
        made = made if not watchers else computed(forward, (input.array,), (input,), made)
        return made if out is None else into(out, made, input, name=name)

    def binary_op(input: Any, other: Any, *, out: Any = None) -> Any:
        if spans.on and not spans.entered():
            return spans.call(binary_op, span, (input, other), None if out is None else {"out": out})
        if out is not None:
            return into(out, binary_op(input, other), input, other)
        x, y = input, other
        if isinstance(x, Tensor) and isinstance(y, Tensor):
            a, b, plain = x.array, y.array, True
            if a.dtype is not b.dtype:
                a, b = matched(a, b)
        else:
            x, y, a, b, plain = operands(x, y, binary_op.__name__, forward)
            if x is None:
                return y
        if arrays.is_bfloat16(a) or (plain is None and arrays.is_bfloat16(b)):
            return in_float32(binary_op, (narrowed(x, a), narrowed(y, b)), {})
        try:
            made = result(forward(a, b))
        except (TypeError, ValueError, OverflowError) as error:
            explain(error, a, b)
            raise
        return made if not watchers else computed(forward, (a, b), (x, y), made)

    return described(unary_op if inputs == 1 else binary_op, name, None)


def described(op: Any, name: str, node_class: Any, batched: Any = elementwise_rule, forward: Any = None) -> Any:
    """Set an operation's name, its node class and its rule for vmap(). forward: of an operation of one input, its
    function of arrays, which recorders can't find in a compiled operation."""
    op.__name__ = op.__qualname__ = name.lower()
    op.node = node_class
    op.batched = batched
    if forward is not None:
        op.forward = forward
    return op


__all__ = ["Operation", "category", "constant", "elementwise", "linear", "settled"]
