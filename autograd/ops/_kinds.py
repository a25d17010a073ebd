"""Which dtypes an operation takes: checks that wrap a forward, and rules for operations without a derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..base.dtypes import default
from ..base.types import Array, Number

NAMES = {"bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long",
         "float16": "Half", "float32": "Float", "float64": "Double", "complex64": "ComplexFloat",
         "complex128": "ComplexDouble", "bfloat16": "BFloat16"}
ARRAYS = (np.ndarray, np.generic)


def refuse(name: str, dtype: np.dtype[Any]) -> NoReturn:
    """NotImplementedError: operation `name` does not take elements of `dtype`."""
    raise NotImplementedError(f'"{name}" not implemented for \'{NAMES.get(dtype.name, dtype.name)}\'; convert the tensor '
                              "first, as in x.float() or x.long()")


def demand_real(name: str, *tensors: Any) -> None:
    """NotImplementedError if one of the tensors or arrays holds complex numbers, which have no order."""
    for x in tensors:
        dtype = getattr(x, "dtype", None)
        if dtype is not None and dtype.kind == "c":
            refuse(name, dtype)


def only(kinds: str, name: str, forward: Callable[..., Any]) -> Callable[..., Any]:
    """`forward`, refused to arrays whose dtype.kind is not among `kinds` ("f" floating, "iu" integer, "b" bool)."""

    def checked(*arrays: Any) -> Array:
        seen = False
        for a in arrays:
            if isinstance(a, ARRAYS):
                seen = True
                if a.dtype.kind not in kinds:
                    refuse(name, a.dtype)
        if not seen:
            raise TypeError(f"{name}: one operand must be a Tensor; {arrays} are Python numbers")
        return forward(*arrays)

    return checked


def tensors(name: str, forward: Callable[..., Any], count: int = 2) -> Callable[..., Any]:
    """`forward`, refused (TypeError) where one of its first `count` operands is a Python number."""

    def checked(*arrays: Any) -> Array:
        for a in arrays[:count]:
            if not isinstance(a, ARRAYS):
                raise TypeError(f"{name}(): the operand {a!r} must be a Tensor, not {type(a).__name__}; use tensor({a!r})")
        return forward(*arrays)

    return checked


def ordered(name: str, forward: Callable[..., Any], error: type[Exception] = NotImplementedError) -> Callable[..., Any]:
    """A `forward` that compares: refused to complex numbers, and (TypeError) where the first operand is a number."""

    def checked(a: Array, b: Array | Number) -> Array:
        if not isinstance(a, ARRAYS):
            raise TypeError(f"{name}(): the operand {a!r} must be a Tensor, not {type(a).__name__}; use tensor({a!r})")
        if a.dtype.kind == "c" or b.__class__ is complex:
            raise error(f"{name} not implemented for complex tensors: they have no order")
        return forward(a, b)

    return checked


def in_floats(forward: Callable[..., Any]) -> Callable[..., Any]:
    """`forward` with arrays of integers and booleans as the default floating type."""
    def converted(*arrays: Any) -> Array:
        if not any(isinstance(a, ARRAYS) for a in arrays):
            raise TypeError(f"one operand must be a Tensor; {arrays} are Python numbers")
        return forward(*(a.astype(default.dtype) if isinstance(a, ARRAYS) and a.dtype.kind in "iub" else a for a in arrays))

    return converted


def undifferentiable(name: str) -> Callable[[Any], NoReturn]:
    """The rule of an operation that PyTorch records but does not differentiate: an error in backward."""

    def rule(g: Array) -> NoReturn:
        raise NotImplementedError(f"derivative for {name} is not implemented; detach its inputs if none is wanted")

    return rule


def as_arrays(a: Array | Number, b: Array | Number) -> tuple[Any, Any]:
    """Two operands of a forward as arrays of one dtype; TypeError if both are Python numbers."""
    if not isinstance(a, ARRAYS) and not isinstance(b, ARRAYS):
        raise TypeError(f"one operand must be a Tensor; {a!r} and {b!r} are Python numbers")
    if not isinstance(a, ARRAYS):
        a = np.asarray(a, getattr(b, "dtype", None))
    return np.asanyarray(a), np.asanyarray(b, a.dtype)


