"""What is noted of a call when shapes or stacks are asked for: an object of Details beside the span."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from numpy import ndarray

from ..core.spans import USER, names
from ..core.tensor import Tensor

OWN = ("autograd.core.", "autograd.profiler.")       # modules whose frames are the machinery's


class Details(NamedTuple):
    """The inputs and the stack of one call; None where nobody asked for them."""

    shapes: list[Any] | None = None                  # of tensors; of a list of them a list of theirs; [] of others
    dtypes: list[str] | None = None
    values: list[Any] | None = None                  # numbers, texts and tuples of them; "" for tensors
    settings: dict[str, Any] | None = None
    stack: list[str] | None = None                   # "file(line): function", innermost first
    text: str | None = None                          # the `args` of record_function


class Describer:
    """Makes the Details of calls."""

    def __init__(self, shapes: bool, stack: bool) -> None:
        self.shapes, self.stack = shapes, stack

    def __call__(self, number: int, args: tuple[Any, ...], settings: dict[str, Any] | None) -> Details:
        """The Details of a call, now."""
        stack = calling_stack() if self.stack else None
        if names[number][1] == USER:
            return Details(stack=stack, text=args[0] if args else None)
        if not self.shapes:
            return Details(stack=stack)
        return Details([shape_of(a) for a in args], [dtype_of(a) for a in args], [value_of(a) for a in args],
                       {key: value_of(v) for key, v in (settings or {}).items()}, stack)


def shape_of(value: Any) -> list[Any]:
    """The shape of a tensor or array, those of a list of them, [] of anything else."""
    if isinstance(value, (Tensor, ndarray)):
        return list(value.shape)
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, (Tensor, ndarray)) for v in value):
        return [list(v.shape) for v in value]
    return []


def dtype_of(value: Any) -> str:
    """The dtype of a tensor or array, PyTorch's words for numbers and lists, "" for anything else."""
    if isinstance(value, (Tensor, ndarray)):
        return str(value.dtype)
    if isinstance(value, (bool, int, float, complex)):
        return "Scalar"
    if isinstance(value, (list, tuple)):
        return "TensorList" if value and isinstance(value[0], (Tensor, ndarray)) else "ScalarList"
    return ""


def is_plain(value: Any) -> bool:
    """Whether a value holds no array, and can be kept as it is."""
    return isinstance(value, (bool, int, float, complex, str, type(None))) or (
        isinstance(value, (list, tuple)) and all(is_plain(v) for v in value))


def value_of(value: Any) -> Any:
    """A number, text or tuple of them as it is; "" of anything else, which must not be kept alive."""
    return value if is_plain(value) else ""


def calling_stack() -> list[str]:
    """The frames outside of the machinery, innermost first, as PyTorch writes them."""
    frame: Any = sys._getframe(1)
    found = []
    while frame is not None:
        if not str(frame.f_globals.get("__name__", "")).startswith(OWN):
            code = frame.f_code
            found.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return found


__all__ = ["Describer", "Details"]
