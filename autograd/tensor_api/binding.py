"""Binds the operations to Tensor: operators, methods, in-place forms, backward().

A family of operations is imported on the first access to one of its methods; see ops/__init__.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from ..base import docstrings
from ..core.backward import backward_method
from ..core.tensor import Tensor, TensorBase
from ..ops import families, index, shape
from ..ops.linalg import matmul
from ..ops.pointwise import arithmetic, comparison, complex, logic, powers, sign
from ..ops.pointwise.cast import cast
from . import conversion, inplace, numpy_protocol, printing, storage
from .tensor_types import construct, new


def reflected(operation: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """The operation with its operands swapped: x.__rsub__(y) is y - x."""
    return lambda x, y: operation(y, x)


# name: (operation, its reflected form or None where order does not matter)
BINARY: dict[str, Any] = {
    "add": (arithmetic.plus, None), "sub": (arithmetic.minus, reflected), "mul": (arithmetic.mul, None),
    "truediv": (arithmetic.quotient, reflected), "floordiv": (arithmetic.floor_divide, reflected),
    "mod": (arithmetic.remainder, reflected), "pow": (powers.power, reflected), "matmul": (matmul.matmul, reflected),
    "and": (logic.bitwise_and, None), "or": (logic.bitwise_or, None), "xor": (logic.bitwise_xor, None),
    "lshift": (logic.bitwise_left_shift, reflected), "rshift": (logic.bitwise_right_shift, reflected),
}


def refuse_delete(self: Tensor, index: Any) -> None:
    """TypeError: a tensor keeps its elements."""
    raise TypeError("Tensor does not support deleting items; index what remains, as in x[keep]")


OPERATORS: dict[str, Callable[..., Any]] = {
    **{f"__{name}__": operation for name, (operation, _) in BINARY.items()},
    **{f"__r{name}__": swap(operation) if swap else operation for name, (operation, swap) in BINARY.items()},
    "__rdiv__": reflected(arithmetic.quotient), "__neg__": sign.neg, "__pos__": sign.positive, "__abs__": sign.abs,
    "__invert__": logic.bitwise_not,
    "__eq__": comparison.eq, "__ne__": comparison.ne, "__lt__": comparison.lt, "__le__": comparison.le,
    "__gt__": comparison.gt, "__ge__": comparison.ge,
    "__getitem__": index.getitem, "__setitem__": inplace.setitem, "__delitem__": refuse_delete,
}

RESHAPING = {"squeeze": shape, "unsqueeze": shape, "transpose": shape, "t": shape, "swapaxes": shape, "swapdims": shape,
             "as_strided": index}

AUGMENTED = {"__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_", "__ipow__": "pow_",
             "__ifloordiv__": "floor_divide_", "__imod__": "remainder_", "__iand__": "bitwise_and_",
             "__ior__": "bitwise_or_", "__ixor__": "bitwise_xor_", "__ilshift__": "bitwise_left_shift_",
             "__irshift__": "bitwise_right_shift_"}


def iterate(self: Tensor) -> Iterator[Tensor]:
    """The slices along the first dimension."""
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(shape.unbind(self, 0))


class LazyMethod:
    """A method whose family of operations is not imported yet. The first access binds the whole family."""

    __slots__ = ("family", "name")

    def __init__(self, family: str, name: str) -> None:
        self.family: str = family
        self.name: str = name

    def __get__(self, instance: Tensor | None, owner: Any = None) -> Callable[..., Any]:
        bind_family(self.family)
        return vars(Tensor)[self.name].__get__(instance, owner)


def bind_family(name: str) -> None:
    """Set the methods of one family on Tensor, except those that have been replaced by others."""
    family = import_module(f"...ops.{name}", __name__)
    forms = {form: getattr(family, f"{form}_method", None) or getattr(family, form)
             for form in (*family.METHODS, *getattr(family, "IN_PLACE", ()))}
    table = {form: forms[form] for form in family.METHODS}
    table.update({form + "_": inplace.in_place(forms[form], form + "_") for form in getattr(family, "IN_PLACE", ())})
    docstrings.attach(table, name.partition(".")[0], "Tensor.", "")
    for method, value in table.items():
        if type(vars(Tensor).get(method)) is LazyMethod:
            setattr(Tensor, method, value)


def bind() -> None:
    """Set all operators, methods and properties on Tensor."""
    table: dict[str, Any] = {**OPERATORS, "backward": backward_method, "__init__": construct, "new": new,
                             "__iter__": iterate}
    for source in (conversion, printing, numpy_protocol, storage):
        table.update(source.METHODS)
    table.update({name: LazyMethod(family, name) for name, family in families()[1].items()})
    table.update({name + "_": inplace.reshaping(getattr(family, name), name + "_") for name, family in RESHAPING.items()})
    table.update({name: getattr(inplace, name) for name in inplace.METHODS})
    table.update(cpu=lambda self: self, type_as=lambda self, other: cast(self, other.dtype))
    properties: dict[str, Any] = {name: getattr(shape, name) for name in shape.PROPERTIES}
    properties.update(conversion.PROPERTIES)
    table.update({name: property(function) for name, function in properties.items()})
    table.update({part.__name__: property(part, inplace.writer(part)) for part in (complex.real, complex.imag)})
    docstrings.attach({name: value for name, value in {**vars(TensorBase), **vars(Tensor), **table}.items()
                       if type(value) is not LazyMethod}, "tensor", "Tensor.")
    for name, value in table.items():
        setattr(Tensor, name, value)
    for name, target in AUGMENTED.items():
        setattr(Tensor, name, getattr(Tensor, target))


bind()
