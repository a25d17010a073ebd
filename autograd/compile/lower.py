"""Lowering: the recorded calls of a step as operations of ir.py. A call without a meaning here stays a call of Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.types import Array
from ..core.grad_buffers import counter_of
from ..core.tensor import Tensor
from ..kernels import products, scatter, segments, take_along
from ..kernels.matmul import matmul
from ..kernels.where import masked
from ..optim.step_plan import StepPlan
from . import gradients
from .calls import Call, Constant, Value, root_of
from .effects import assign_parts
from .inline import cast, fill, pick, update
from .ir import ELEMENTWISE, REDUCTIONS, Op, Ref, Storage
from .native import unsupported
from .python_call import PythonCall, laid_as
from .traced_pass import count, count_all
from .tracer import Tracer

ALIASES = {"true_divide": "divide", "conjugate": "copy", "positive": "copy", "fabs": "absolute"}
NUMBERS = (bool, int, float, np.generic)
IDENTITY = {"add": 0, "multiply": 1, "maximum": -math.inf, "minimum": math.inf, "logical_and": True, "logical_or": False}
MARKS = ("begin_pass", "end_of_pass", "start_counter")       # of a pass, for the counters of DataParallel


class NoMeaning(Exception):
    """A call is not one of ir.py's operations."""


class NotNative(Exception):
    """A step can't be compiled to native code."""


class Lowering:
    """The operations of a recording (`ops`), with what Python does before and after them."""

    def __init__(self, tracer: Tracer, results: list[Value]) -> None:
        self.ops: list[Op] = []
        self.pinned: set[Storage] = set()            # read from the memory of the recording
        self.first: list[PythonCall] = []            # calls before the native code: checks of arguments, draws
        self._draws_first, self._effects, self._rates_change = True, False, False
        self.plan: StepPlan | None = None            # of the optimizer whose step is native
        self._early: set[Storage] = set()            # storages that are there before the native code
        self.python: dict[str, int] = {}             # calls that stay Python's: how often
        self.grads: dict[Tensor, Ref | None] = {}    # the .grad of a leaf so far: None where it was cleared
        self.added: dict[Tensor, Storage] = {}       # leaves whose .grad before the run is added to
        self._current: dict[int, Storage] = {}       # root array -> its present Storage
        self._roots: list[Array] = []                # these roots: their ids must stay unique
        self._bound: dict[Tensor, Array] = {}        # what the recorded step had in .grad
        self._written: set[Storage] = set()
        # gradients that counters wait for: DataParallel's. How many leaves each has, and those counted so far
        self.counters = Counter(counter_of(call.args[0].value) for call in tracer.calls if call.function is count)
        self._arrived: dict[Any, list[Tensor]] = {}
        self._copies: list[Op] = []                  # of gradients to their buffers
        made = {id(root_of(v.array)) for v in tracer.values if v.maker is not None}
        for value in tracer.values:
            if value.maker is None and id(root_of(value.array)) not in made:
                self._outside(value.array)
        for call in tracer.calls:
            mark = len(self.ops), dict(self._current), self.plan
            try:
                self._lower(call)
                reason = next(filter(None, [unsupported(op) for op in self.ops[mark[0]:] if op.kind != "call"]), "")
            except NoMeaning as error:
                reason = str(error)
            if reason:
                del self.ops[mark[0]:]
                self._current, self.plan = mark[1:]
                self._python(call, reason)
        self.results: list[Ref] = [self.ref(v) for v in results]
        self._settle_gradients()
        for ref in self.results:
            ref.storage.keep = True
        self._drop_unused()

    # --- operands -----------------------------------------------------------------------------------------------------

    def _storage(self, root: Array, storage: Storage) -> Storage:
        self._current[id(root)] = storage
        self._roots.append(root)
        return storage

    def _outside(self, array: Array) -> Storage:
        root = root_of(array)
        found = self._current.get(id(root))
        if found is None:
            memory = flat(root, array.dtype)
            found = self._storage(root, Storage(memory.size, memory.dtype, memory))
            self._early.add(found)
        return found

    def ref(self, x: Any) -> Any:
        """The Ref of a Value or an array, or a number."""
        x = x.value if isinstance(x, Constant) else x
        if isinstance(x, NUMBERS):
            return x.item() if isinstance(x, np.generic) else x
        array = x.array if isinstance(x, (Value, Tensor)) else x
        if not isinstance(array, np.ndarray):
            raise NoMeaning(f"an operand of type {type(array).__name__}")
        if not array.ndim and not isinstance(x, (Value, Tensor)):
            return array.item()                      # a constant of a rule
        root = root_of(array)
        if id(root) not in self._current:
            if not isinstance(x, (Value, Tensor)):
                array = root = np.array(array)       # a constant of a rule
            self._outside(array)
        storage = self._current[id(root)]
        size = array.itemsize
        at = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        if storage.dtype != array.dtype or at % size or any(s % size for s in array.strides):
            raise NoMeaning(f"a view of {storage.dtype} as {array.dtype}")
        return Ref(storage, at // size, array.shape, tuple([s // size for s in array.strides]))

    def storage_of(self, array: Array) -> Storage | None:
        """The present Storage of an argument; None if the step does not use it."""
        return self._current.get(id(root_of(array)))

    def target(self, array: Array) -> Ref:
        """Where to write `array`: a new temporary if it is all of one; else the memory that it is a part of."""
        root = root_of(array)
        old = self._current.get(id(root))
        if old is None or not (old.outside or array.size != root.size):
            if array.nbytes != root.nbytes:
                raise NoMeaning("a part of new memory")
            self._storage(root, Storage(array.size, array.dtype))
        return self.ref(_as_value(array))

    def put(self, kind: str, name: str, target: Array | Ref, ins: list[Any]) -> Ref:
        """Add an operation."""
        out = target if isinstance(target, Ref) else self.target(target)
        if out.storage.outside:
            self._written.add(out.storage)
        self.ops.append(Op(kind, name, [out], ins, label=self._label))
        return out

    def temporary(self, shape: tuple[int, ...], dtype: Any, like: Ref | None = None) -> Ref:
        """A Ref to new memory, in C order or in the order that a copy of `like` has."""
        strides = c_strides(shape) if like is None else copied_strides(like)
        return Ref(Storage(math.prod(shape), dtype), 0, shape, strides)

    # --- calls --------------------------------------------------------------------------------------------------------

    def _lower(self, call: Call) -> None:
        self._label = label = call.label
        function, args = call.function, [a.value if isinstance(a, Constant) else a for a in call.args]
        outs = [v.array for v in call.outs if v is not None]
        if label in MARKS or function in GRADIENT_CALLS or label == "Optimizer.zero_grad":
            return self._counted(call, args) if self.counters else self._gradients(call, args)
        if call.step is not None:
            return self._optimizer_step(call)
        if call.effect:
            raise NoMeaning("an effect")
        name = ALIASES.get(getattr(function, "__name__", ""), getattr(function, "__name__", ""))
        if name == "accumulate":
            return self._accumulate(call.label.partition(".")[0], args[0], outs[0], call.settings)
        if name == "reduce":
            return self._reduce(call.label.partition(".")[0], args[0], outs[0], call.settings)
        rule = RULES.get(function)
        if rule is not None:
            return rule(self, args, outs, call.settings)
        if isinstance(function, np.ufunc) or name in ("erf", "power_of_two"):
            return self._ufunc(function, name, args, outs, call.settings)
        raise NoMeaning("no meaning")

    def _optimizer_step(self, call: Call) -> None:
        step = call.step
        if isinstance(step, str):
            raise NoMeaning(step)
        if self._rates_change or self.plan is not None:
            raise NoMeaning("it follows another step, of an optimizer or a scheduler")
        for inner in step.calls:
            self._lower(inner)
        self._label, self.plan = call.label, step.plan

    def _ufunc(self, function: Any, name: str, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        target = outs[0] if outs else args.pop().array
        if set(settings) - {"casting", "dtype"}:
            raise NoMeaning(f"{name} with {', '.join(settings)}")
        if function is np.matmul:
            return self._product(target, *args)
        if function is np.vecdot:
            x, y = map(self.ref, args)
            shape = np.broadcast_shapes(x.shape, y.shape)
            both = self.put("map", "multiply", self.temporary(shape, target.dtype), [x, y])
            self.put("reduce", "add", target, [both])
            return None
        if name == "clip":
            return self._clip(args, [target], {})
        ins = [self.ref(a) for a in args]
        if name in DEGREES:
            name, ins = "multiply", [*ins, DEGREES[name]]
        if name not in ELEMENTWISE:
            raise NoMeaning(f"no {name}")
        if "dtype" in settings:
            ins = [self.put("map", "copy", self.temporary(r.shape, settings["dtype"], like=r), [r])
                   if isinstance(r, Ref) and r.dtype != settings["dtype"] else r for r in ins]
        self.put("map", name, target, ins)
        return None

    def _copy(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        self.put("map", "copy", outs[0], [self.ref(args[0])])

    def _copyto(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        if isinstance(args[0], np.ndarray):          # without elements
            return
        target, mask = args[0].array, settings.get("where")
        if mask is None:
            self.put("map", "copy", target, [self.ref(args[1])])
            return
        old = self.ref(_as_value(target))
        self.put("map", "select", target, [self.ref(mask), self.ref(args[1]), old])

    def _full(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        self.put("map", "copy", outs[0], [args[0]])

    def _where(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        self.put("map", "select", outs[0], [self.ref(a) for a in args])

    def _masked(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        self.put("map", "select", outs[0], [self.ref(args[1]), self.ref(args[0]), 0])

    def _clip(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        x, low, high = [*args, None, None][:3]
        if settings or (low is None and high is None):
            raise NoMeaning("clip with other arguments")
        ref = self.ref(x)
        if low is not None:
            ref = self.put("map", "maximum", outs[0] if high is None else self.temporary(outs[0].shape, outs[0].dtype),
                           [ref, self.ref(low)])
        if high is not None:
            self.put("map", "minimum", outs[0], [ref, self.ref(high)])

    def _matmul(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        if len(args) > 2 or settings:
            raise NoMeaning("a product that is added")
        self._product(outs[0], *args)

    def _affine(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        x, weight, bias = map(self.ref, args[:3])
        turned = Ref(weight.storage, weight.offset, weight.shape[::-1], weight.strides[::-1])
        self.put("product", "product", outs[0], [self.readable(x), self.readable(turned), bias])

    def _product(self, target: Array, x: Any, y: Any) -> None:
        a, b = self.ref(x), self.ref(y)
        if len(a.shape) == 1 and len(b.shape) == 1:
            both = self.put("map", "multiply", self.temporary(a.shape, target.dtype), [a, b])
            self.put("reduce", "add", target, [both])
            return
        if len(a.shape) == 1:
            a = Ref(a.storage, a.offset, (1, *a.shape), (0, *a.strides))
        if len(b.shape) == 1:
            b = Ref(b.storage, b.offset, (*b.shape, 1), (*b.strides, 0))
        out = self.target(target)
        shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
        if shape != out.shape:                       # of a vector: the same memory with a dimension more
            strides = iter(out.strides)
            squeezed = {len(shape) - 2} if len(args_shape(x)) == 1 else {len(shape) - 1}
            strides_there = tuple([0 if k in squeezed else next(strides) for k in range(len(shape))])
            out = Ref(out.storage, out.offset, shape, strides_there)
        self.put("product", "product", out, [self.readable(a), self.readable(b)])

    def readable(self, r: Ref) -> Ref:
        """r, or a copy that a product can read: by rows or by columns."""
        (m, n), (down, across) = r.shape[-2:], r.strides[-2:]
        if ((across == 1 or n == 1) and (down >= n or m == 1)) or ((down == 1 or m == 1) and (across >= m or n == 1)):
            return r
        return self.put("map", "copy", self.temporary(r.shape, r.dtype), [r])

    def _column_sums(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        self._reduce("add", args[0], outs[0], {"axis": -2})

    def _reduce(self, name: str, x: Any, target: Array, settings: dict[str, Any]) -> None:
        """Kept axes first, reduced ones last."""
        r = self.ref(x)
        n = len(r.shape)
        given = settings.get("initial")
        if name not in REDUCTIONS or "where" in settings or (given is not None and given != IDENTITY[name]):
            raise NoMeaning(f"{name}.reduce with {', '.join(settings)}")
        axis = settings.get("axis", 0)
        axes = range(n) if axis is None else [a % n for a in (axis if isinstance(axis, tuple) else (axis,))]
        order = [d for d in range(n) if d not in axes] + [d for d in range(n) if d in axes]
        kept = n - len(axes)
        moved = Ref(r.storage, r.offset, tuple([r.shape[d] for d in order]), tuple([r.strides[d] for d in order]))
        out = self.target(target)
        shape = moved.shape[:kept]
        if out.shape != shape:                       # keepdims
            out = Ref(out.storage, out.offset, shape, tuple([out.strides[d] for d in order[:kept]]))
        self.put("reduce", name, out, [moved])

    def _take_rows(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        self.put("take", "take", outs[0], [self.ref(args[0]), self.ref(args[1])])

    def _subtract_rows(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        x, index, share = map(self.ref, args)
        columns = np.arange(x.shape[1])
        hit = self.put("map", "equal", self.temporary(x.shape, bool),
                       [Ref(index.storage, index.offset, (x.shape[0], 1), (*index.strides, 0)), self.ref(columns)])
        if isinstance(share, Ref) and share.shape:
            share = Ref(share.storage, share.offset, (x.shape[0], 1), (*share.strides, 0))
        less = self.put("map", "select", self.temporary(x.shape, x.dtype), [hit, share, 0])
        self.put("map", "subtract", args[0].array, [x, less])

    # --- places ---------------------------------------------------------------------------------------------------------

    def _take(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        axis = settings.get("axis", args[2] if len(args) > 2 else None)
        table, index = self.ref(args[0]), args[1] if isinstance(args[1], Value) else np.asarray(args[1])
        if set(settings) - {"axis"}:
            raise NoMeaning("take with other arguments")
        if axis is None:
            table, axis = self._flattened(table), 0
        self._gather(outs[0], table, [slice(None)] * (axis % len(table.shape)) + [index])

    def _take_along(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        table, index = self.ref(args[0]), self.ref(args[1])
        axis = settings.get("axis", args[2] if len(args) > 2 else -1) % len(table.shape)
        self._check(args[1], table.shape[axis])
        out = self.target(outs[0])
        lead = [0 if d == axis or n == 1 else s for d, (n, s) in enumerate(zip(table.shape, table.strides, strict=True))]
        along = Ref(table.storage, table.offset, (*out.shape, table.shape[axis]), (*lead, table.strides[axis]))
        self.put("take", "take", out, [along, self._broadcast(index, out.shape)])

    def _pick(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        self._gather(outs[0], self.ref(args[0]), args[1:])

    def _gather(self, target: Array, x: Ref, parts: Any) -> None:
        """target = x[parts]."""
        table, index, first = self._places(x, parts)
        out = self.target(target)
        self.put("gather", "take", moved(out, first, len(index.shape)), [table, index])

    def _update(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        """target[parts] = values, or combined with them; see inline.put_at()."""
        target, name, values, *parts = args
        table, index, first = self._places(self.ref(target), parts)
        rest, lead = table.shape[1:], len(index.shape)
        values = self.ref(values)
        if isinstance(values, Ref):
            shape = (*rest[:first], *index.shape, *rest[first:])
            values = moved(self._broadcast(values, shape), first, lead)
        self.put("update", name, table, [values, index])

    def _add_into_rows(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        out, rows, values = args
        self._update([out, "add", values, rows], outs, settings)

    def _places(self, x: Ref, parts: Any) -> tuple[Ref, Ref, int]:
        """What x[parts] indexes, as a table whose first dimension an index counts; the index; and where in the result the
        dimensions of the index are."""
        at, rest, arrays, dims = x.offset, [], [], []
        for d, (n, step) in enumerate(zip(x.shape, x.strides, strict=True)):
            part = parts[d] if d < len(parts) else slice(None)
            if isinstance(part, slice):
                start, stop, by = part.indices(n)
                at += start * step
                rest.append((len(range(start, stop, by)), by * step))
                continue
            dims.append(d)
            if isinstance(part, int | np.integer):
                at += int(part) % n * step
            else:
                arrays.append((part, n, step))
                self._check(part, n)
        if not arrays:
            raise NoMeaning("an index without arrays")
        index, n, step = self.ref(arrays[0][0]), arrays[0][1], arrays[0][2]
        if not isinstance(index, Ref):
            index = self.ref(np.array([index]).reshape(np.shape(arrays[0][0])))
        if len(arrays) > 1:
            shape = np.broadcast_shapes(*[args_shape(a) for a, _, _ in arrays])
            index, n, step = self._joined(arrays, shape), 1 + sum((n - 1) * abs(s) for _, n, s in arrays), 1
        table = Ref(x.storage, at, (n, *[n for n, _ in rest]), (step, *[s for _, s in rest]))
        return table, index, dims[0] if dims[-1] - dims[0] == len(dims) - 1 else 0

    def _joined(self, arrays: list[Any], shape: tuple[int, ...]) -> Ref:
        """The places that several indices name together, in elements of memory."""
        total: Any = None
        for part, n, step in arrays:
            if step < 0:
                raise NoMeaning("indices of a flipped array")
            if isinstance(part, np.ndarray):         # a constant
                term = self.ref(np.asarray(np.where(part < 0, part + n, part) * step).reshape(part.shape))
            else:
                r = self.ref(part)
                new = [self.temporary(r.shape, kind) for kind in (bool, np.int64, np.int64, np.int64)]
                below = self.put("map", "less", new[0], [r, 0])
                wrapped = self.put("map", "select", new[2], [below, self.put("map", "add", new[1], [r, n]), r])
                term = self.put("map", "multiply", new[3], [wrapped, step])
            total = term if total is None else self.put("map", "add", self.temporary(shape, np.int64), [total, term])
        return self._broadcast(total, shape)

    def _check(self, index: Any, n: int) -> None:
        """Look at an index that is an argument before the native code, which keeps others within bounds."""
        ref = self.ref(index) if isinstance(index, Value) else None
        if isinstance(ref, Ref) and ref.storage in self._early and ref.storage not in self._written:
            call = Call(check_bounds, (index, n))
            self.first.append(PythonCall(call, {id(index): self._home(index)}))

    def _flattened(self, x: Ref) -> Ref:
        """x as a vector in C order."""
        if len(x.shape) != 1 and c_strides(x.shape) != x.strides:
            x = self.put("map", "copy", self.temporary(x.shape, x.dtype), [x])
        size = math.prod(x.shape)
        return x if len(x.shape) == 1 else Ref(x.storage, x.offset, (size,), (1,))

    def _broadcast(self, x: Any, shape: tuple[int, ...]) -> Ref:
        """x with the strides of its broadcast to a shape."""
        missing = len(shape) - len(x.shape)
        strides = [0 if n == 1 and m != 1 else s for n, m, s in zip(x.shape, shape[missing:], x.strides, strict=True)]
        return Ref(x.storage, x.offset, shape, (*(0,) * missing, *strides))

    def _arg(self, largest: bool, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        """argmax, argmin: the first place of the extreme one, or of nan."""
        x, axis = self.ref(args[0]), settings.get("axis", args[1] if len(args) > 1 else None)
        if axis is None:
            x, axis = self._flattened(x), 0
        x = moved(x, axis % len(x.shape), 1, to_end=True)
        lead, n = x.shape[:-1], x.shape[-1]
        best = self.put("reduce", "maximum" if largest else "minimum", self.temporary(lead, x.dtype), [x])
        best = Ref(best.storage, 0, (*lead, 1), (*best.strides, 0))
        hit = self.put("map", "equal", self.temporary(x.shape, bool), [x, best])
        if x.dtype.kind == "f":
            nan = self.put("map", "isnan", self.temporary(x.shape, bool), [x])
            hit = self.put("map", "logical_or", self.temporary(x.shape, bool), [hit, nan])
        place = self.put("map", "select", self.temporary(x.shape, np.int64), [hit, self.ref(np.arange(n)), n])
        out = self.target(outs[0])
        kept = [s for d, s in enumerate(out.strides) if not settings.get("keepdims") or d != axis % len(out.shape)]
        self.put("reduce", "minimum", Ref(out.storage, out.offset, lead, tuple(kept[:len(lead)])), [place])

    def _argmax(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        self._arg(True, args, outs, settings)

    def _argmin(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        self._arg(False, args, outs, settings)

    def _accumulate(self, name: str, x: Any, target: Array, settings: dict[str, Any]) -> None:
        axis = settings.get("axis", 0)
        x, out = self.ref(x), self.target(target)
        self.put("scan", name, moved(out, axis % len(out.shape), 1), [moved(x, axis % len(x.shape), 1)])

    def _tile(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        x, out = self.ref(args[0]), self.target(outs[0])
        x = self._broadcast(x, (1,) * (len(out.shape) - len(x.shape)) + x.shape)
        pairs = [(m // max(n, 1), n, n * s, s, t)
                 for m, n, s, t in zip(out.shape, x.shape, out.strides, x.strides, strict=True)]
        shape = tuple([k for p in pairs for k in p[:2]])
        into = Ref(out.storage, out.offset, shape, tuple([k for p in pairs for k in p[2:4]]))
        self.put("map", "copy", into, [Ref(x.storage, x.offset, shape, tuple([k for p in pairs for k in (0, p[4])]))])

    def _repeat(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        count, axis = args[1], settings.get("axis", args[2] if len(args) > 2 else None)
        x, out = self.ref(args[0]), self.target(outs[0])
        if axis is None or not isinstance(count, int):
            raise NoMeaning("repeat by an array")
        axis %= len(x.shape)
        shape = (*x.shape[:axis + 1], count, *x.shape[axis + 1:])
        into = (*out.strides[:axis], count * out.strides[axis], *out.strides[axis:])
        source = (*x.strides[:axis + 1], 0, *x.strides[axis + 1:])
        self.put("map", "copy", Ref(out.storage, out.offset, shape, into), [Ref(x.storage, x.offset, shape, source)])

    def _add_rows(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        self.put("scatter", "add_rows", outs[0], [self.ref(a) for a in args[:2]])

    def _concatenate(self, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
        axis = settings.get("axis", args[1] if len(args) > 1 else 0)
        if axis is None:
            raise NoMeaning("concatenate of flattened arrays")
        whole, at = self.target(outs[0]), 0
        axis %= len(whole.shape)
        for part in args[0]:
            r = self.ref(part)
            self.put("map", "copy", Ref(whole.storage, whole.offset + at * whole.strides[axis], r.shape, whole.strides), [r])
            at += r.shape[axis]

    # --- gradients ----------------------------------------------------------------------------------------------------

    def _gradients(self, call: Call, args: list[Any]) -> None:
        """What binds, adds to or clears .grad."""
        if call.label in MARKS:
            return
        if call.label == "Optimizer.zero_grad":
            if len(args) > 1 or call.settings:
                raise NoMeaning("zero_grad(set_to_none=False)")
            self.grads.update(dict.fromkeys(p for group in args[0].param_groups for p in group["params"]))
            return
        leaf = args[0]
        if call.function is gradients.clear_grad:
            self.grads[leaf] = None
        elif call.function is gradients.grad_array:
            self._fetch(leaf, call.outs[0].array)  # type: ignore[union-attr]
        elif call.function is gradients.overwrite:
            return
        elif call.function is gradients.adopt:
            raise NoMeaning("an assignment to .grad")
        else:
            self._deliver(leaf, self.ref(args[1]), call.function is gradients.adopt_or_add)

    def _counted(self, call: Call, args: list[Any]) -> None:
        """As _gradients(), for leaves with buffers and counters. Python binds each .grad to the buffer, and counts: in one
        call when all leaves of a counter have their gradients, which starts the sum over ranks."""
        leaf: Any = args[0] if args else None
        function = call.function
        if call.label == "Optimizer.zero_grad" and len(args) == 1 and not call.settings:
            self.grads.update(dict.fromkeys(p for group in leaf.param_groups for p in group["params"]))
        elif function is gradients.clear_grad:
            self.grads[leaf] = None
        elif function in (gradients.adopt_or_add, gradients.accumulate) and self.grads.get(leaf, leaf) is None:
            buffer = None if leaf.hooks is None else leaf.hooks.grad_buffer
            if buffer is not None and buffer.dtype == args[1].array.dtype:
                self.grads[leaf] = self.put("map", "copy", self.ref(_as_value(buffer)), [self.ref(args[1])])
                self._copies.append(self.ops[-1])
                return
        elif function is gradients.grad_array and self.grads.get(leaf) is not None:
            self._fetch(leaf, call.outs[0].array)  # type: ignore[union-attr]
            return
        elif function is count and self.grads.get(leaf) is not None:
            counter = counter_of(leaf)
            arrived = self._arrived.setdefault(counter, [])
            arrived.append(leaf)
            if len(arrived) == self.counters[counter]:
                made = PythonCall(Call(count_all, (Constant(arrived),)), {})
                made.buffers = {x: self.grads[x] for x in arrived}
                reads = [*made.buffers.values()]
                self.ops.append(Op("call", "count", reads, reads, function=made))
                self.python["count (DataParallel)"] = self.python.get("count (DataParallel)", 0) + 1
            return
        raise NoMeaning("a counter of gradients")

    def _write_in_place(self) -> None:
        """Let what makes a gradient write it to its buffer, where nothing else reads it."""
        reads = Counter(s for op in self.ops for s in op.reads())
        for copy in self._copies:
            made, out = copy.ins[0], copy.out
            if (made.storage.outside or made.storage.keep or reads[made.storage] != 1 or made.offset
                    or made.strides != out.strides or made.storage.size != math.prod(out.shape)):
                continue
            self.ops.remove(copy)
            for op in self.ops:
                for ref in op.outs:
                    if ref.storage is made.storage:
                        ref.storage, ref.offset = out.storage, ref.offset + out.offset

    def _deliver(self, leaf: Tensor, g: Ref, adopts: bool) -> None:
        """Add a gradient to .grad, or bind .grad to it where the step has cleared it; to its very memory if it `adopts`."""
        if leaf not in self.grads:                   # .grad of before the run, or zeros
            memory = np.zeros(leaf.array.shape, leaf.array.dtype)
            self.added[leaf] = self._storage(memory, Storage(memory.size, memory.dtype, memory))
            self.grads[leaf] = self.ref(_as_value(memory))
        before, shape = self.grads[leaf], leaf.array.shape
        if before is not None:
            self.put("map", "add", before, [before, g])
        elif adopts and not g.storage.outside and g.storage.size == leaf.array.size and g.storage.dtype == leaf.array.dtype:
            self.grads[leaf] = g
        else:
            self.grads[leaf] = self.put("map", "copy", self.temporary(shape, leaf.array.dtype, like=g), [g])

    def _fetch(self, leaf: Tensor, array: Array) -> None:
        """`array` is what the recorded step had in .grad."""
        bound = self.grads.get(leaf)
        if bound is not None:
            if bound.storage.dtype != array.dtype or not laid_as(array, bound):
                raise NotNative("a gradient with another layout")
            self._storage(root_of(array), bound.storage)
            self._bound[leaf] = array

    def _settle_gradients(self) -> None:
        """Give gradients memory from outside, after all writes to .grad."""
        if self.counters:
            self._write_in_place()
            self.grads = {}
        for leaf, ref in self.grads.items():
            if ref is None:
                continue
            if leaf in self._bound:
                ref = self.grads[leaf] = self.ref(_as_value(self._bound[leaf]))
            if not ref.storage.outside:
                ref.storage.array, ref.storage.keep = np.empty(ref.storage.size, ref.storage.dtype), True

    # --- calls of Python ----------------------------------------------------------------------------------------------

    def _python(self, call: Call, reason: str) -> None:
        """Add a call that Python makes, between stretches of native code."""
        if call.optional and not (self.counters and call.outs[0] is not None and call.outs[0].uses):
            return
        why = f"{call.label} ({reason})"
        values = [x for a in (*call.args, *call.settings.values()) for x in (a if type(a) in (tuple, list) else (a,))
                  if isinstance(x, Value)]
        try:
            made = PythonCall(call, {id(x): self._home(x) for x in values})
        except NoMeaning as error:
            raise NotNative(f"{call.label}: {error}") from None
        reads = [*made.refs.values(), *map(self._pin, call.pinned)]
        for value in call.outs:
            if value is None:
                continue
            root = root_of(value.array)
            memory = flat(root, value.array.dtype)
            self._storage(root, Storage(memory.size, memory.dtype, memory))
            made.outs[value] = self.ref(value)
        outs = [*made.outs.values()]
        if writes_first(call):
            outs.append(made.refs[id(call.args[0])])
        elif self._can_precede(call, reads):
            self.first.append(made)
            self._early.update(ref.storage for ref in made.outs.values())
            if not call.checks:
                self.python[why] = self.python.get(why, 0) + 1
            return
        self.python[why] = self.python.get(why, 0) + 1
        if call.effect or call.function in GRADIENT_CALLS:           # it may read and write whatever Python reaches
            bound = {leaf: self._home(ref) for leaf, ref in self.grads.items() if ref is not None}
            made.gradients = {} if self.counters else {**bound}
            reads += bound.values()
            outs += reads
        self.ops.append(Op("call", call.label, outs, reads, function=made, label=call.label))

    def _can_precede(self, call: Call, reads: list[Ref]) -> bool:
        """Whether a call can be made before the native code: it reads arguments and constants alone. Draws stay in order."""
        before = not self._effects and not call.effect and call.function not in GRADIENT_CALLS and (
            (call.draws and self._draws_first) or call.checks or not call.draws) and all(
            r.storage in self._early and r.storage not in self._written for r in reads)
        self._draws_first = self._draws_first and (before or not call.draws)
        self._effects = self._effects or call.effect
        self._rates_change |= call.effect and call.label != "Optimizer.zero_grad" and getattr(
            call.function, "__module__", "").startswith("autograd.optim")
        return before

    def _home(self, x: Value | Ref) -> Ref:
        """The Ref of an array that Python reads: it must be in memory."""
        ref: Ref = x if isinstance(x, Ref) else self.ref(x)
        ref.storage.keep = True
        return ref

    def _pin(self, x: Value) -> Ref:
        """The Ref of an array that Python reads from the memory of the recording."""
        ref = self._home(x)
        self.pinned.add(ref.storage)
        if not ref.storage.outside:
            ref.storage.array = flat(root_of(x.array), ref.storage.dtype)
        return ref

    def _drop_unused(self) -> None:
        """Drop operations whose results nothing reads."""
        wanted: set[Storage] = {r.storage for r in (*self.results, *filter(None, self.grads.values()))}
        kept: list[Op] = []
        for op in reversed(self.ops):
            if op.kind == "call" or any(s.outside or s in wanted for s in op.writes()):
                wanted |= op.reads()
                kept.append(op)
        self.ops = kept[::-1]


def _as_value(array: Array) -> Value:
    return Value(0, array, None)


def moved(x: Ref, first: int, count: int, to_end: bool = False) -> Ref:
    """x with `count` dimensions from `first` on moved to the front, or to the end."""
    dims = list(range(len(x.shape)))
    some, others = dims[first:first + count], dims[:first] + dims[first + count:]
    order = others + some if to_end else some + others
    return Ref(x.storage, x.offset, tuple([x.shape[d] for d in order]), tuple([x.strides[d] for d in order]))


def copied_strides(r: Ref) -> tuple[int, ...]:
    """The strides of a copy, which keeps the order of dimensions in memory."""
    byte = np.lib.stride_tricks.as_strided(np.empty(1, np.int8), r.shape, r.strides)
    return np.empty_like(byte).strides


def flat(root: Array, dtype: Any) -> Array:
    """The memory of an array as a vector of this dtype, in the order in which it lies."""
    vector = root.ravel("K")
    if root.size and not np.may_share_memory(vector, root):
        raise NoMeaning("memory with gaps")
    if vector.dtype != dtype and vector.nbytes % np.dtype(dtype).itemsize:
        raise NoMeaning(f"a view of {root.dtype} as {dtype}")
    return vector.view(dtype)


def writes_first(call: Call) -> bool:
    """Whether a call writes to its first argument: an assignment, or a kernel that returns None."""
    return call.function in WRITES_FIRST or not (
        call.outs or call.effect or call.checks or call.function in GRADIENT_CALLS or not call.args
        or not isinstance(call.args[0], Value))


def check_bounds(index: Array, n: int) -> None:
    """IndexError unless the numbers of an index are places of a dimension of n elements, negative ones from its end."""
    if index.size and (index.min() < -n or index.max() >= n):
        wrong = index.max() if index.max() >= n else index.min()
        raise IndexError(f"index {wrong} is out of bounds for a dimension of size {n}")


def args_shape(x: Any) -> tuple[int, ...]:
    """The shape of an operand."""
    return tuple(x.array.shape if isinstance(x, Value) else x.shape)


def c_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, in elements, of an array in C order."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(strides[::-1])


DEGREES = {"deg2rad": math.pi / 180, "rad2deg": 180 / math.pi}
WRITES_FIRST = {np.ndarray.__setitem__, assign_parts, np.copyto, update, scatter.add_rows}         # to their first argument
GRADIENT_CALLS = {gradients.adopt, gradients.adopt_or_add, gradients.clear_grad, gradients.accumulate, gradients.overwrite,
                  gradients.grad_array, count}
RULES: dict[Any, Callable[..., None]] = {
    cast: Lowering._copy, np.array: Lowering._copy, np.copy: Lowering._copy, np.ndarray.astype: Lowering._copy,
    np.ascontiguousarray: Lowering._copy, np.copyto: Lowering._copyto, fill: Lowering._full, np.where: Lowering._where,
    masked: Lowering._masked, np.clip: Lowering._clip, products.product: Lowering._matmul, matmul: Lowering._matmul,
    products.affine: Lowering._affine, products.column_sums: Lowering._column_sums,
    take_along.take_per_row: Lowering._take_rows, take_along.subtract_per_row: Lowering._subtract_rows,
    np.take: Lowering._take, segments.add_rows: Lowering._add_rows, np.concatenate: Lowering._concatenate,
    scatter.add_rows: Lowering._add_into_rows, update: Lowering._update, pick: Lowering._pick, np.argmax: Lowering._argmax,
    np.take_along_axis: Lowering._take_along, np.argmin: Lowering._argmin, np.tile: Lowering._tile,
    np.repeat: Lowering._repeat, np.dot: Lowering._matmul, np.vdot: Lowering._matmul,
}
