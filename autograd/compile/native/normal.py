"""Operations in normal form: loops over the elements of a shape, with one stride per operand and dimension.

A reduction whose axes are apart becomes several, with temporaries between them. An operation that reads what it overwrites
at other places writes into a temporary first.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ..lowering.ir import ELEMENTWISE, REDUCTIONS, Op, Ref, Storage
from .values import INTEGERS, KINDS, identity, kind_of, lacking

Strides = tuple[int, ...]


class Operand:
    """Elements of a storage: one stride per dimension of a loop; `index`, an operand, times `factor` is added."""

    __slots__ = ("factor", "index", "length", "offset", "storage", "strides")

    def __init__(self, storage: Storage, offset: int, strides: Strides, index: Operand | None = None, factor: int = 0,
                 length: int = 0) -> None:
        self.storage: Storage = storage
        self.offset: int = offset
        self.strides: Strides = strides
        self.index: Operand | None = index
        self.factor: int = factor
        self.length: int = length                    # of the indexed dimension: negative indices count from its end

    @property
    def kind(self) -> str:
        """The kind of its elements, such as "f4"."""
        return kind_of(self.storage.dtype)


class Work:
    """One loop. `how`: "map", or a reduction: "row" (inner dimensions), "total", "columns" (outer ones, added into `out`),
    "scatter" (added where out.index says)."""

    __slots__ = ("exact", "how", "inner", "ins", "kinds", "label", "name", "out", "reads", "shape", "stage", "writes")

    def __init__(self, how: str, name: str, shape: tuple[int, ...], out: Operand, ins: list[Any], kinds: tuple[str, ...],
                 label: str, inner: int = 0) -> None:
        self.how: str = how
        self.name: str = name
        self.shape: tuple[int, ...] = shape
        self.out: Operand = out
        self.ins: list[Any] = ins                    # Operands and numbers
        self.kinds: tuple[str, ...] = kinds          # in which `name` is computed: of the arguments and the result
        self.label: str = label
        self.inner: int = inner                      # of "row": how many elements make one sum
        self.exact: bool = False                     # see Op
        self.stage: int = 0
        self.writes: set[Storage] = {out.storage}
        self.reads: set[Storage] = set(self.writes) if how in ("columns", "scatter") else set()
        for x in (*ins, out):
            if isinstance(x, Operand):
                if x is not out:
                    self.reads.add(x.storage)
                if x.index is not None:
                    self.reads.add(x.index.storage)


class Product:
    """out = a @ b: stacks of matrices whose rows or columns are contiguous."""

    __slots__ = ("a", "b", "label", "out", "reads", "writes")

    def __init__(self, out: Ref, a: Ref, b: Ref, label: str) -> None:
        self.out: Ref = out
        self.a: Ref = a
        self.b: Ref = b
        self.label: str = label
        self.reads: set[Storage] = {a.storage, b.storage}
        self.writes: set[Storage] = {out.storage}


class Call:
    """A Python function between two stretches of native code."""

    __slots__ = ("function", "label", "reads", "writes")

    def __init__(self, op: Op) -> None:
        self.function: Any = op.function
        self.label: str = op.label
        self.reads: set[Storage] = op.reads()
        self.writes: set[Storage] = op.writes()


class Bound:
    """Calls of C functions within a stretch."""

    __slots__ = ("calls", "label", "reads", "writes")

    def __init__(self, op: Op) -> None:
        self.calls: list[tuple[Any, ...]] = op.function.calls
        self.label: str = op.label
        self.reads: set[Storage] = op.reads()
        self.writes: set[Storage] = op.writes()


# --- dtypes ---------------------------------------------------------------------------------------------------------------

def type_of(x: Any) -> Any:
    """What NumPy's promotion sees: a dtype, or Python's int or float."""
    if isinstance(x, Ref | np.generic):
        return x.dtype
    return np.dtype(bool) if isinstance(x, bool) else type(x)


@lru_cache(maxsize=4096)
def computed(name: str, types: tuple[Any, ...], out: np.dtype[Any]) -> tuple[str, ...]:
    """The kinds of the arguments and the result with which NumPy computes. TypeError if there are none."""
    if name == "copy":
        return (kind_of(out),) * 2
    if name == "select":
        common = out if not any(isinstance(t, np.dtype) for t in types[1:]) else np.result_type(*[
            t if isinstance(t, np.dtype) else t(0) for t in types[1:]])
        return "b1", *((kind_of(common),) * 3)
    if name in ("erf", "power_of_two"):
        kind = kind_of(np.sqrt.resolve_dtypes((types[0], None))[0])
        return kind, kind
    return tuple([kind_of(t) for t in getattr(np, name).resolve_dtypes((*types, None))])


def reason(op: Op) -> str:
    """Why this operation has no native form; "" if it has."""
    if op.kind == "primitive":
        return ""
    for x in (*op.outs, *op.ins):
        if isinstance(x, Ref) and x.dtype.char not in KINDS:
            return f"{op.label}: no native code for {x.dtype}"
        if not isinstance(x, Ref) and not isinstance(x, bool | int | float | np.bool_ | np.integer | np.floating):
            return f"{op.label}: an operand of type {type(x).__name__}"
    if op.kind == "map":
        if op.name not in ELEMENTWISE:
            return f"{op.label}: no elementwise function {op.name!r}"
        try:
            kinds = computed(op.name, tuple([type_of(x) for x in op.ins]), op.out.dtype)
        except (TypeError, KeyError):
            return f"{op.label}: no native {op.name} of {', '.join(str(type_of(x)) for x in op.ins)}"
        return f"{op.label}: no native {op.name} of {kinds[0]}" if lacking(op.name, kinds) else ""
    if op.kind == "reduce":
        return "" if op.name in REDUCTIONS else f"{op.label}: no reduction {op.name!r}"
    if op.kind == "product":
        return "" if kind_of(op.out.dtype)[0] == "f" else f"{op.label}: no native product of {op.out.dtype}"
    if op.kind == "update" and op.name not in (*REDUCTIONS, "copy"):
        return f"{op.label}: no update by {op.name!r}"
    if op.kind == "scan":
        return reason(Op("map", op.name, op.outs, [op.out, *op.ins], label=op.label))
    if op.kind in ("take", "gather", "scatter", "update"):
        return "" if kind_of(op.ins[1].dtype) in INTEGERS else f"{op.label}: indices of {op.ins[1].dtype}"
    return f"{op.label}: no native operation of kind {op.kind!r}"


# --- strides --------------------------------------------------------------------------------------------------------------

def spread(strides: Strides, shape: tuple[int, ...], to: tuple[int, ...]) -> Strides:
    """Strides of an operand of `shape` broadcast to the shape `to`."""
    missing = len(to) - len(shape)
    if missing < 0:                                  # leading dimensions of size 1
        return spread(strides[-missing:], shape[-missing:], to)
    return (0,) * missing + tuple([0 if n == 1 else s for n, s in zip(shape, strides, strict=True)])


def contiguous(shape: tuple[int, ...]) -> Strides:
    """Strides of C order."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def temporary(shape: tuple[int, ...], dtype: Any) -> Ref:
    """New memory of this shape."""
    return Ref(Storage(prod(shape), dtype), 0, shape, contiguous(shape))


def span(x: Ref) -> tuple[int, int]:
    """The first and the last element that x touches."""
    ends = [(n - 1) * s for n, s in zip(x.shape, x.strides, strict=True)]
    return x.offset + sum(e for e in ends if e < 0), x.offset + sum(e for e in ends if e > 0)


def clashes(x: Any, out: Ref) -> bool:
    """Whether x may read elements that `out` writes, other than its own."""
    if not isinstance(x, Ref) or x.storage is not out.storage:
        return False
    a, b = span(x), span(out)
    if a[1] < b[0] or b[1] < a[0]:
        return False
    here = [(n, s) for n, s in zip(out.shape, out.strides, strict=True) if n > 1]
    there = [(n, s) for n, s in zip(x.shape, x.strides, strict=True) if n > 1]
    return x.offset != out.offset or here != there


# --- from Op to Work ------------------------------------------------------------------------------------------------------

def normal(op: Op) -> list[Any]:
    """The loops, products and calls that an operation consists of."""
    if op.kind == "call":
        return [Call(op)]
    if op.kind == "primitive":
        return [Bound(op)]
    if not prod(op.out.shape):
        return []
    numbers = [n for n, x in enumerate(op.ins) if clashes(x, op.out)]
    if numbers and op.kind == "update":              # values from the memory that is written
        copies = [temporary(x.shape, x.dtype) if n in numbers else x for n, x in enumerate(op.ins)]
        return [*[mapped("copy", copies[n], [op.ins[n]], op.label) for n in numbers], *updates(Op(
            op.kind, op.name, op.outs, copies, label=op.label))]
    if numbers and op.kind not in ("scatter", "scan"):
        new = temporary(op.out.shape, op.out.dtype)
        return [*normal(Op(op.kind, op.name, [new], op.ins, label=op.label)), mapped("copy", op.out, [new], op.label)]
    made: list[Any] = FORMS[op.kind](op)
    return made


def staged(op: Op) -> list[Any]:
    """normal(), in the stage of the operation."""
    made = normal(op)
    for work in made:
        if isinstance(work, Work):
            work.exact, work.stage = op.exact, op.stage
    return made


def mapped(name: str, out: Ref, ins: list[Any], label: str) -> Work:
    """out = name(*ins)."""
    kinds = computed(name, tuple([type_of(x) for x in ins]), out.dtype)
    strides = [spread(x.strides, x.shape, out.shape) if isinstance(x, Ref) else None for x in ins]
    order = memory_order(out.shape, out.strides)
    operands = [x if s is None else Operand(x.storage, x.offset, pick(s, order)) for x, s in zip(ins, strides, strict=True)]
    target = Operand(out.storage, out.offset, pick(out.strides, order))
    return Work("map", name, pick(out.shape, order), target, operands, kinds, label)


def pick(x: Any, order: list[int]) -> tuple[int, ...]:
    """The numbers of these dimensions."""
    return tuple([x[d] for d in order])


def memory_order(shape: tuple[int, ...], strides: Strides) -> list[int]:
    """The dimensions that count, those with the largest strides first."""
    return sorted([d for d, n in enumerate(shape) if n != 1], key=lambda d: -abs(strides[d]))


def maps(op: Op) -> list[Any]:
    """The form of a map."""
    return [mapped(op.name, op.out, op.ins, op.label)]


def reductions(op: Op) -> list[Any]:
    """A reduction over trailing axes, in the order of memory."""
    x, out, kind = op.ins[0], op.out, kind_of(op.out.dtype)
    kinds = (kind, kind)
    kept = len(out.shape)
    start = identity(op.name, kind)
    if not prod(x.shape):
        return [mapped("copy", out, [start], op.label)]
    order = memory_order(x.shape, x.strides)
    shape, strides = pick(x.shape, order), pick(x.strides, order)
    gone = [d >= kept for d in order]
    into = tuple([0 if d >= kept else out.strides[d] for d in order])
    source, target = Operand(x.storage, x.offset, strides), Operand(out.storage, out.offset, into)
    if not any(gone):
        return [mapped("copy", out, [Ref(x.storage, x.offset, out.shape, x.strides[:kept])], op.label)]
    if all(gone):
        return [Work("total", op.name, shape, target, [source], kinds, op.label)]
    if not gone[-1]:                                 # outer dimensions go
        return [mapped("copy", out, [start], op.label), Work("columns", op.name, shape, target, [source], kinds, op.label)]
    first = len(gone) - 1
    while first and gone[first - 1] and strides[first - 1] == strides[first] * shape[first]:
        first -= 1
    if not any(gone[:first]):
        return [Work("row", op.name, shape, target, [source], kinds, op.label, prod(shape[first:]))]
    stage = temporary(shape[:first], out.dtype)      # the innermost run goes first
    staged = Operand(stage.storage, 0, stage.strides + (0,) * (len(shape) - first))
    work = Work("row", op.name, shape, staged, [source], kinds, op.label, prod(shape[first:]))
    place = {d: n for n, d in enumerate(order[:first])}
    dims = [*range(kept), *[d for d in order[:first] if d >= kept]]
    rest = Ref(stage.storage, 0, tuple([x.shape[d] if d in place else 1 for d in dims]),
               tuple([stage.strides[place[d]] if d in place else 0 for d in dims]))
    return [work, *reductions(Op("reduce", op.name, [out], [rest], label=op.label))]


def takes(op: Op) -> list[Any]:
    """out[r] = table[r, index[r]]."""
    table, index = op.ins
    return [indexed(op, table.strides[:-1], table.shape[:-1], index, table.strides[-1], table.shape[-1])]


def gathers(op: Op) -> list[Any]:
    """out[i] = table[index[i]]."""
    table, index = op.ins
    rest = len(table.shape) - 1
    index = Ref(index.storage, index.offset, index.shape + (1,) * rest, index.strides + (0,) * rest)
    return [indexed(op, table.strides[1:], table.shape[1:], index, table.strides[0], table.shape[0])]


def indexed(op: Op, strides: Strides, shape: tuple[int, ...], index: Ref, factor: int, length: int) -> Work:
    """A copy of elements whose place an index says."""
    out, table = op.out, op.ins[0]
    order = memory_order(out.shape, out.strides)
    where = Operand(index.storage, index.offset, pick(spread(index.strides, index.shape, out.shape), order))
    source = Operand(table.storage, table.offset, pick(spread(strides, shape, out.shape), order), where, factor, length)
    return Work("map", "copy", pick(out.shape, order), Operand(out.storage, out.offset, pick(out.strides, order)), [source],
                (kind_of(out.dtype),) * 2, op.label)


def scatters(op: Op) -> list[Any]:
    """out = 0, then rows are added into it."""
    zeros = mapped("copy", op.out, [0], op.label)
    return [zeros, *updates(Op("update", "add", op.outs, op.ins, label=op.label))]


def updates(op: Op) -> list[Any]:
    """Values written, or combined with what is there, where an index says."""
    values, index = op.ins
    out, kind = op.out, kind_of(op.out.dtype)
    shape = (*index.shape, *out.shape[1:])
    if not prod(shape):
        return []
    order = [d for d, n in enumerate(shape) if n != 1]
    where = Operand(index.storage, index.offset, pick(index.strides + (0,) * (len(shape) - len(index.shape)), order))
    strides = pick((0,) * len(index.shape) + out.strides[1:], order)
    target = Operand(out.storage, out.offset, strides, where, out.strides[0], out.shape[0])
    source = Operand(values.storage, values.offset, pick(values.strides, order)) if isinstance(values, Ref) else values
    return [Work("scatter", op.name, pick(shape, order), target, [source], (kind, kind), op.label)]


def scans(op: Op) -> list[Any]:
    """The first element, then a loop in the order of the others."""
    x, out = op.ins[0], op.out

    def part(r: Ref, start: int, n: int) -> Ref:
        return Ref(r.storage, r.offset + start * r.strides[0], (n, *r.shape[1:]), r.strides)

    n = out.shape[0] - 1
    first = mapped("copy", part(out, 0, 1), [part(x, 0, 1)], op.label)
    return [first, mapped(op.name, part(out, 1, n), [part(out, 0, n), part(x, 1, n)], op.label)] if n else [first]


def products(op: Op) -> list[Any]:
    """A product of operands that BLAS can read; a bias is added afterwards, in a loop that takes more operations."""
    out, (a, b) = op.out, op.ins[:2]
    if len(op.ins) > 2:
        whole = temporary(out.shape, out.dtype)
        first = products(Op("product", "", [whole], [a, b], label=op.label))
        return [*first, mapped("add", out, [whole, op.ins[2]], op.label)]
    if not a.shape[-1]:
        return [mapped("copy", out, [0], op.label)]
    before: list[Any] = []
    after: list[Any] = []
    operands = []
    for x in (a, b):
        if x.dtype != out.dtype or layout(x) is None:
            new = temporary(x.shape, out.dtype)
            before.append(mapped("copy", new, [x], op.label))
            x = new
        operands.append(x)
    where = layout(out)
    if where is None:
        new = temporary(out.shape, out.dtype)
        after.append(mapped("copy", out, [new], op.label))
        out, where = new, layout(new)
    if where is not None and where[0] == "T":        # out^T = b^T a^T
        out, operands = transposed(out), [transposed(x) for x in reversed(operands)]
    return [*before, Product(out, operands[0], operands[1], op.label), *after]


def layout(x: Ref) -> tuple[str, int] | None:
    """How a matrix lies: by rows (N) or by columns (T), and the distance of these; None if neither is contiguous."""
    (rows, columns), (down, across) = x.shape[-2:], x.strides[-2:]
    if (across == 1 or columns == 1) and (rows == 1 or down >= columns):
        return "N", columns if rows == 1 else down
    if (down == 1 or rows == 1) and (columns == 1 or across >= rows):
        return "T", rows if columns == 1 else across
    return None


def transposed(x: Ref) -> Ref:
    """x with its last two axes exchanged."""
    return Ref(x.storage, x.offset, (*x.shape[:-2], *x.shape[:-3:-1]), (*x.strides[:-2], *x.strides[:-3:-1]))


FORMS = {"map": maps, "reduce": reductions, "take": takes, "gather": gathers, "scatter": scatters, "update": updates,
         "scan": scans, "product": products}
__all__ = ["Bound", "Call", "Operand", "Product", "Work", "layout", "normal", "reason"]
