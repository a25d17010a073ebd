"""Binds the operations to Tensor: operators, methods, in-place forms, backward(). One table, at import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import engine, inplace
from .ops import (
    arithmetic,
    choice,
    comparison,
    exponential,
    index,
    linalg,
    logic,
    powers,
    reduce,
    rounding,
    shape,
    sign,
    special,
    trigonometric,
)
from .ops import elementwise as activations
from .ops.cast import cast
from .tensor import Tensor


def reflected(operation: Any) -> Any:
    """The operation with its operands swapped: x.__rsub__(y) is y - x."""
    return lambda x, y: operation(y, x)


# name: (operation, its reflected form or None where order does not matter)
BINARY = {
    "add": (arithmetic.plus, None), "sub": (arithmetic.minus, reflected), "mul": (arithmetic.mul, None),
    "truediv": (arithmetic.quotient, reflected), "floordiv": (arithmetic.floor_divide, reflected),
    "mod": (arithmetic.remainder, reflected), "pow": (powers.pow, reflected), "matmul": (linalg.matmul, reflected),
    "and": (logic.bitwise_and, None), "or": (logic.bitwise_or, None), "xor": (logic.bitwise_xor, None),
    "lshift": (logic.bitwise_left_shift, reflected), "rshift": (logic.bitwise_right_shift, reflected),
}
OPERATORS = {
    **{f"__{name}__": operation for name, (operation, _) in BINARY.items()},
    **{f"__r{name}__": swap(operation) if swap else operation for name, (operation, swap) in BINARY.items()},
    "__rdiv__": reflected(arithmetic.quotient), "__neg__": sign.neg, "__pos__": sign.positive, "__abs__": sign.abs,
    "__invert__": logic.bitwise_not,
    "__eq__": comparison.eq, "__ne__": comparison.ne, "__lt__": comparison.lt, "__le__": comparison.le,
    "__gt__": comparison.gt, "__ge__": comparison.ge,
    "__getitem__": index.getitem, "__setitem__": inplace.setitem,
}

# The modules of operations. Each says in METHODS which of its functions are methods of Tensor too, and in IN_PLACE
# which of those have a form that ends in "_".
FAMILIES = (
    activations,
    arithmetic,
    choice,
    comparison,
    exponential,
    index,
    linalg,
    logic,
    powers,
    reduce,
    rounding,
    shape,
    sign,
    special,
    trigonometric,
)

AUGMENTED = {"__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_", "__ipow__": "pow_",
             "__ifloordiv__": "floor_divide_", "__imod__": "remainder_", "__iand__": "bitwise_and_",
             "__ior__": "bitwise_or_", "__ixor__": "bitwise_xor_", "__ilshift__": "bitwise_left_shift_",
             "__irshift__": "bitwise_right_shift_"}


def backward(self: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None,
             create_graph: bool = False, inputs: Any = None) -> None:
    """Add d(self)/d(leaf) to .grad of every leaf behind this tensor; see autograd.backward."""
    engine.backward([self], [gradient], retain_graph, create_graph, inputs)


def to(self: Tensor, *args: Any, dtype: Any = None, device: Any = None, non_blocking: bool = False,
       copy: bool = False) -> Tensor:
    """This tensor in another dtype, or with the dtype of another tensor; device can only be "cpu"."""
    for arg in args:
        if isinstance(arg, Tensor):
            dtype = arg.dtype
        elif isinstance(arg, str) and arg.split(":")[0] in ("cpu", "cuda", "mps", "meta"):
            device = arg
        else:
            dtype = arg
    if device is not None and str(device).split(":")[0] != "cpu":
        raise NotImplementedError(f"to(device={device!r}): tensors live in the CPU's memory")
    out = self if dtype is None else cast(self, dtype)
    return shape.clone(out) if copy and out is self else out


def iterate(self: Tensor) -> Iterator[Tensor]:
    """The slices along the first dimension."""
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(shape.unbind(self, 0))


CASTS = {"float": np.float32, "double": np.float64, "half": np.float16, "long": np.int64, "int": np.int32,
         "bool": np.bool_}


def _cast_to(dtype: Any) -> Any:
    def method(self: Tensor) -> Tensor:
        return cast(self, dtype)

    method.__doc__ = f"This tensor as {np.dtype(dtype)}."
    return method


def bind() -> None:
    """Set all of it on Tensor."""
    table: dict[str, Any] = {**OPERATORS, "backward": backward, "to": to, "__iter__": iterate}
    table.update({name: _cast_to(dtype) for name, dtype in CASTS.items()})
    for family in FAMILIES:
        table.update({name: getattr(family, name) for name in family.METHODS})
        for name in getattr(family, "IN_PLACE", ()):
            table[name + "_"] = inplace.in_place(getattr(family, name), name + "_")
    for name, target in AUGMENTED.items():
        table[name] = table[target]
    table.update(where=choice.where_method, polygamma=special.polygamma_method,
                 polygamma_=inplace.in_place(special.polygamma_method, "polygamma_"))
    table.update(copy_=inplace.copy_, fill_=inplace.fill_, zero_=inplace.zero_, detach_=inplace.detach_,
                 cpu=lambda self: self, type_as=lambda self, other: cast(self, other.dtype))
    for name, value in table.items():
        setattr(Tensor, name, value)
    properties: dict[str, Any] = {"T": shape.t, "mT": shape.mT, "real": sign.real, "imag": sign.imag}
    for name, function in properties.items():
        setattr(Tensor, name, property(function))


bind()
