"""Binds the operations to Tensor: operators, methods, in-place forms, backward(). One table, at import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import engine, inplace
from .ops import (
    addmm,
    cholesky,
    complex,
    determinant,
    index,
    lu,
    matmul,
    matrix_functions,
    pinv,
    products,
    qr,
    reduce,
    shape,
    solve,
    svd,
    triangle,
)
from .ops import elementwise as ew
from .tensor import Tensor

OPERATORS = {
    "__add__": ew.plus, "__radd__": ew.plus, "__sub__": ew.minus, "__mul__": ew.mul, "__rmul__": ew.mul,
    "__truediv__": ew.quotient, "__pow__": ew.pow, "__floordiv__": ew.floor_divide, "__mod__": ew.remainder,
    "__matmul__": matmul.matmul, "__neg__": ew.neg, "__abs__": ew.abs,
    "__eq__": ew.eq, "__ne__": ew.ne, "__lt__": ew.lt, "__le__": ew.le, "__gt__": ew.gt, "__ge__": ew.ge,
    "__and__": ew.bitwise_and, "__or__": ew.bitwise_or, "__invert__": ew.bitwise_not,
    "__getitem__": index.getitem, "__setitem__": inplace.setitem,
    "__rsub__": lambda x, y: ew.minus(y, x), "__rtruediv__": lambda x, y: ew.quotient(y, x),
    "__rpow__": lambda x, y: ew.pow(y, x), "__rmatmul__": lambda x, y: matmul.matmul(y, x),
}

# The modules of operations. Each says in METHODS which of its functions are methods of Tensor too, and in IN_PLACE
# which of those have a form that ends in "_".
FAMILIES = (
    addmm,
    cholesky,
    complex,
    determinant,
    ew,
    index,
    lu,
    matmul,
    matrix_functions,
    pinv,
    products,
    qr,
    reduce,
    shape,
    solve,
    svd,
    triangle,
)

AUGMENTED = {"__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_", "__ipow__": "pow_"}


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
    out = self if dtype is None else ew.cast(self, dtype)
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
        return ew.cast(self, dtype)

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
    table.update(copy_=inplace.copy_, fill_=inplace.fill_, zero_=inplace.zero_, detach_=inplace.detach_,
                 cpu=lambda self: self, type_as=lambda self, other: ew.cast(self, other.dtype))
    for name, value in table.items():
        setattr(Tensor, name, value)
    properties: dict[str, Any] = {"T": shape.t, "mT": shape.mT, "H": complex.property_H, "mH": complex.property_mH,
                                  "real": complex.real, "imag": complex.imag}
    for name, function in properties.items():
        setattr(Tensor, name, property(function))


bind()
