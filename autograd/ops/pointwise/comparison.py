"""Comparisons and tests: their results are booleans."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

import numpy as np

from ...core.batching import elementwise as elementwise_rule
from ...core.batching import maps
from ...core.declare import elementwise
from ...core.primitive import primitive, value_read
from ...core.tensor import Tensor, result
from .._kinds import ordered, tensors
from ..creation.arguments import number

if TYPE_CHECKING:
    from ...core.types import Declared

eq: Declared = elementwise("Eq", tensors("eq", np.equal, 1), inputs=2)
ne: Declared = elementwise("Ne", tensors("ne", np.not_equal, 1), inputs=2)
lt: Declared = elementwise("Lt", ordered("lt", np.less), inputs=2)
le: Declared = elementwise("Le", ordered("le", np.less_equal), inputs=2)
gt: Declared = elementwise("Gt", ordered("gt", np.greater), inputs=2)
ge: Declared = elementwise("Ge", ordered("ge", np.greater_equal), inputs=2)
isnan: Declared = elementwise("Isnan", np.isnan)
isinf: Declared = elementwise("Isinf", np.isinf)
isfinite: Declared = elementwise("Isfinite", np.isfinite)
isreal: Declared = elementwise("Isreal", np.isreal)
isposinf: Declared = elementwise("Isposinf", lambda x: x == np.inf, real=True)
isneginf: Declared = elementwise("Isneginf", lambda x: x == -np.inf, real=True)
not_equal: Declared = ne
less: Declared = lt
less_equal: Declared = le
greater: Declared = gt
greater_equal: Declared = ge


@primitive
@maps(elementwise_rule)
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether |input - other| <= atol + rtol * |other|, or the two are equal; nan equals nan if `equal_nan`."""
    if not isinstance(input, Tensor) or not isinstance(other, Tensor):
        raise TypeError(f"isclose() takes two Tensors, not {type(input).__name__} and {type(other).__name__}")
    if input.dtype != other.dtype:
        raise RuntimeError(f"isclose: {input.dtype} did not match {other.dtype}; convert one of them")
    rtol, atol = (number("isclose", name, value) for name, value in (("rtol", rtol), ("atol", atol)))
    if rtol < 0 or atol < 0:
        raise RuntimeError(f"isclose: rtol and atol must be at least 0, not {rtol} and {atol}")
    return result(np.isclose(input.array, other.array, rtol, atol, equal_nan))


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08,
             equal_nan: bool = False) -> builtins.bool:
    """Whether all elements are close, see isclose."""
    value_read("allclose()")
    return builtins.bool(np.all(isclose(input, other, rtol, atol, equal_nan).array))


def equal(input: Tensor, other: Tensor) -> builtins.bool:
    """Whether the two have the same shape and elements."""
    value_read("equal()")
    return builtins.bool(np.array_equal(input.array, other.array))


__all__ = ["allclose", "eq", "equal", "ge", "greater", "greater_equal", "gt", "isclose", "isfinite", "isinf", "isnan",
           "isneginf", "isposinf", "isreal", "le", "less", "less_equal", "lt", "ne", "not_equal"]
METHODS = __all__
IN_PLACE = ["eq", "ge", "greater", "greater_equal", "gt", "le", "less", "less_equal", "lt", "ne", "not_equal"]
