"""Binds the operations to Tensor: operators, methods, in-place forms, backward(). One table, at import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import attributes, engine, inplace, numpy_protocol, printing
from .ops import (
    addmm,
    by_element,
    cholesky,
    complex,
    covariance,
    create,
    cumulative,
    determinant,
    differences,
    draw,
    extremes,
    fill,
    histograms,
    index,
    lu,
    matmul,
    matrix_functions,
    norms,
    piecewise,
    pinv,
    products,
    qr,
    quantiles,
    redraw,
    reduce,
    sets,
    shape,
    softmax,
    solve,
    sorting,
    svd,
    triangle,
    types,
    variance,
    vector_products,
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
    ew,
    addmm,
    by_element,
    cholesky,
    complex,
    covariance,
    create,
    cumulative,
    determinant,
    differences,
    draw,
    extremes,
    fill,
    histograms,
    index,
    lu,
    matmul,
    matrix_functions,
    norms,
    piecewise,
    pinv,
    products,
    qr,
    quantiles,
    redraw,
    reduce,
    sets,
    shape,
    softmax,
    solve,
    sorting,
    svd,
    triangle,
    types,
    variance,
    vector_products,
)

RESHAPING = {"squeeze": shape, "unsqueeze": shape, "transpose": shape, "t": shape, "swapaxes": shape, "swapdims": shape,
             "as_strided": index}

AUGMENTED = {"__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_", "__ipow__": "pow_"}


def backward(self: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None,
             create_graph: bool = False, inputs: Any = None) -> None:
    """Add d(self)/d(leaf) to .grad of every leaf behind this tensor; see autograd.backward."""
    engine.backward([self], [gradient], retain_graph, create_graph, inputs)


def iterate(self: Tensor) -> Iterator[Tensor]:
    """The slices along the first dimension."""
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(shape.unbind(self, 0))


def bind() -> None:
    """Set all of it on Tensor."""
    table: dict[str, Any] = {**OPERATORS, "backward": backward, "__iter__": iterate}
    for source in (attributes, printing, numpy_protocol):
        table.update(source.METHODS)
    for family in FAMILIES:
        table.update({name: getattr(family, name) for name in family.METHODS})
        for name in getattr(family, "IN_PLACE", ()):
            table[name + "_"] = inplace.in_place(getattr(family, name), name + "_")
    for name, target in AUGMENTED.items():
        table[name] = table[target]
    table.update({name + "_": inplace.reshaping(getattr(family, name), name + "_") for name, family in RESHAPING.items()})
    table.update({name: getattr(inplace, name) for name in inplace.METHODS})
    table.update(cpu=lambda self: self, type_as=lambda self, other: ew.cast(self, other.dtype))
    properties: dict[str, Any] = {name: getattr(shape, name) for name in shape.PROPERTIES}
    properties.update(attributes.PROPERTIES, H=complex.property_H, mH=complex.property_mH, real=complex.real,
                      imag=complex.imag)
    table.update({name: property(function) for name, function in properties.items()})
    for name, value in table.items():
        setattr(Tensor, name, value)


bind()
