"""Meanings: what recorded calls of NumPy and of kernels are as operations of ir.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.types import Array
from ...kernels import products, scatter, segments, take_along
from ...kernels.matmul import matmul
from ...kernels.where import masked
from ..recording.calls import Call, Value, cast, fill, pick, update
from .ir import ELEMENTWISE, REDUCTIONS, Ref
from .operands import NoMeaning, Operands, as_value, c_strides, moved
from .python_call import PythonCall

ALIASES = {"true_divide": "divide", "conjugate": "copy", "positive": "copy", "fabs": "absolute"}
IDENTITY = {"add": 0, "multiply": 1, "maximum": -math.inf, "minimum": math.inf, "logical_and": True, "logical_or": False}
FAR = 1 << 40                        # a place outside of any array
DEGREES = {"deg2rad": math.pi / 180, "rad2deg": 180 / math.pi}


class Meanings(Operands):
    """Adds the operations of a call."""

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
        old = self.ref(as_value(target))
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
                new = [self.temporary(r.shape, kind) for kind in (bool, bool, bool, bool, *[np.int64] * 4)]
                below = self.put("map", "less", new[0], [r, 0])
                wrapped = self.put("map", "select", new[5], [below, self.put("map", "add", new[4], [r, n]), r])
                wrong = self.put("map", "logical_or", new[3], [
                    self.put("map", "less", new[1], [wrapped, 0]), self.put("map", "less", new[2], [n - 1, wrapped])])
                place = self.put("map", "select", new[6], [wrong, FAR, wrapped])
                term = self.put("map", "multiply", new[7], [place, step])
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


def check_bounds(index: Array, n: int) -> None:
    """IndexError unless the numbers of an index are places of a dimension of n elements, negative ones from its end."""
    if index.size and (index.min() < -n or index.max() >= n):
        wrong = index.max() if index.max() >= n else index.min()
        raise IndexError(f"index {wrong} is out of bounds for a dimension of size {n}")


def args_shape(x: Any) -> tuple[int, ...]:
    """The shape of an operand."""
    return tuple(x.array.shape if isinstance(x, Value) else x.shape)


RULES: dict[Any, Callable[..., None]] = {
    cast: Meanings._copy, np.array: Meanings._copy, np.copy: Meanings._copy, np.ndarray.astype: Meanings._copy,
    np.ascontiguousarray: Meanings._copy, np.copyto: Meanings._copyto, fill: Meanings._full, np.where: Meanings._where,
    masked: Meanings._masked, np.clip: Meanings._clip, products.product: Meanings._matmul, matmul: Meanings._matmul,
    products.affine: Meanings._affine, products.column_sums: Meanings._column_sums,
    take_along.take_per_row: Meanings._take_rows, take_along.subtract_per_row: Meanings._subtract_rows,
    np.take: Meanings._take, segments.add_rows: Meanings._add_rows, np.concatenate: Meanings._concatenate,
    scatter.add_rows: Meanings._add_into_rows, update: Meanings._update, pick: Meanings._pick, np.argmax: Meanings._argmax,
    np.take_along_axis: Meanings._take_along, np.argmin: Meanings._argmin, np.tile: Meanings._tile,
    np.repeat: Meanings._repeat, np.dot: Meanings._matmul, np.vdot: Meanings._matmul,
}
