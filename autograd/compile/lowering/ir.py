"""The program of a step between its recording and its back ends: operations on strided parts of Storages.

Each Storage is written before it is read. A write to a whole temporary starts a new Storage; a write to a part of one, or to
memory from outside, is an ordered effect.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...base.types import Array

KINDS = {
    "map": "out = name(*ins), element by element; ins broadcast to out's shape. Names: ELEMENTWISE",
    "reduce": "out = the name of ins[0] over its trailing axes, those that out.shape lacks. Names: REDUCTIONS",
    "take": "out[r] = ins[0][r, ins[1][r]]: one element of each row; rows have any number of leading axes",
    "product": "out = ins[0] @ ins[1], matrices or stacks of them that broadcast; ins[2], where given, is added (a bias)",
    "gather": "out[i] = ins[0][ins[1][i]]: rows of a table; indices are within its bounds",
    "scatter": "out = 0, then out[ins[1][i]] += ins[0][i]: rows added into a table, in the order of i",
    "update": "out[ins[1][i]] = ins[0][i], or combined with it, in the order of i. Names: copy, REDUCTIONS",
    "scan": "out[0] = ins[0][0], then out[i] = name(out[i - 1], ins[0][i])",
    "primitive": "function.calls: C functions that read `ins` and write `outs` in place",
    "call": "function(): Python code that reads `ins` and writes `outs` in place",
}
ELEMENTWISE = frozenset("""
    copy select add subtract multiply divide maximum minimum fmax fmin power remainder floor_divide arctan2 negative
    absolute square reciprocal sqrt exp expm1 exp2 log log1p log2 log10 sin cos tan arcsin arccos arctan sinh cosh
    tanh arcsinh arccosh arctanh erf power_of_two fmod nextafter
    sign floor ceil rint trunc isnan isinf isfinite signbit copysign hypot equal
    not_equal less less_equal greater greater_equal logical_and logical_or logical_not logical_xor bitwise_and
    bitwise_or bitwise_xor invert left_shift right_shift""".split())
REDUCTIONS = frozenset("add multiply maximum minimum logical_and logical_or".split())


class Storage:
    """Contiguous memory of one dtype: from outside (`array`: a parameter, an argument, a constant) or a temporary.

    `keep`: its contents are read after the program has run.
    """

    __slots__ = ("array", "dtype", "keep", "size")

    def __init__(self, size: int, dtype: Any, array: Array | None = None, keep: bool = False) -> None:
        self.size: int = size                        # elements
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.array: Array | None = array             # owns the memory; its first element is offset 0
        self.keep: bool = keep or array is not None

    @property
    def outside(self) -> bool:
        """Whether the memory is not the program's own."""
        return self.array is not None


class Ref:
    """A strided part of a Storage; offset and strides in elements."""

    __slots__ = ("offset", "shape", "storage", "strides")

    def __init__(self, storage: Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.storage: Storage = storage
        self.offset: int = offset
        self.shape: tuple[int, ...] = tuple(shape)
        self.strides: tuple[int, ...] = tuple(strides)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
        return self.storage.dtype


class Handle(NamedTuple):
    """A pointer to what is no Storage: a library's function or object."""

    address: int


class Primitive:
    """The calls of a "primitive": each the address of a C function, then its arguments. A Ref or Handle is a pointer, an int
    has 64 bits, an np.int32 has 32, an np.float32 is a float. keep: what must exist while the program does."""

    def __init__(self, calls: list[tuple[Any, ...]], *keep: object) -> None:
        self.calls: list[tuple[Any, ...]] = calls
        self.keep: tuple[object, ...] = keep


class Op:
    """One operation; ins: Refs and numbers."""

    __slots__ = ("exact", "function", "ins", "kind", "label", "name", "outs", "stage")

    def __init__(self, kind: str, name: str, outs: list[Ref], ins: list[Any], *, function: Any = None,
                 label: str = "") -> None:
        self.kind: str = kind
        self.name: str = name
        self.outs: list[Ref] = outs
        self.ins: list[Any] = ins
        self.function: Any = function                # of a "call"; the Primitive of a "primitive"
        self.label: str = label or name or kind      # for profilers and program()
        self.exact: bool = False                     # no product is rounded together with a sum
        self.stage: int = 0                          # only operations of one stage share a loop

    @property
    def out(self) -> Ref:
        """The one output."""
        return self.outs[0]

    def reads(self) -> set[Storage]:
        """The storages that it reads."""
        return {x.storage for x in self.ins if isinstance(x, Ref)}

    def writes(self) -> set[Storage]:
        """The storages that it writes."""
        return {x.storage for x in self.outs}


def whole(array: Array) -> Ref:
    """A Ref to an array from outside, which must own its memory or be contiguous."""
    itemsize = array.dtype.itemsize
    return Ref(Storage(array.size, array.dtype, array), 0, array.shape, tuple([s // itemsize for s in array.strides]))
