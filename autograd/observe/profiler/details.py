"""Details of calls, if shapes or stacks are requested: the call records as little as possible, and Details are built when
read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy import ndarray

from ...core.tensor import Tensor
from ...spans.spans import USER, names

if TYPE_CHECKING:
    import numpy as np

OWN = ("autograd.core.", "autograd.spans.", "autograd.modes.", "autograd.observe.profiler.")    # frames of the machinery


class Details(NamedTuple):
    """The inputs and the stack of one call; None if they were not requested."""

    shapes: list[Any] | None = None                  # of tensors; a list of shapes for a list of them; [] for others
    dtypes: list[str] | None = None
    values: list[Any] | None = None                  # numbers, strings and tuples of them; "" for tensors
    settings: dict[str, Any] | None = None
    stack: list[str] | None = None                   # "file(line): function", innermost first
    text: str | None = None                          # the `args` of record_function


class Noted:
    """The record of a call: the shape and dtype of each array, lists of these for lists of arrays, and other values without
    arrays. They are formatted when read: formatting the dtypes alone takes 2 us."""

    __slots__ = ("args", "settings", "stack", "text")

    def __init__(self, args: list[Any] | None, settings: Any, stack: Any, text: str | None) -> None:
        self.args: list[Any] | None = args
        self.settings: dict[str, Any] | None = settings
        self.stack: Any = stack
        self.text: str | None = text

    def read(self) -> Details:
        """The Details of the call."""
        stack = None if self.stack is None else [f"{code.co_filename}({line}): {code.co_name}" for code, line in self.stack]
        if self.args is None:
            return Details(stack=stack, text=self.text)
        return Details([shape_of(a) for a in self.args], [dtype_of(a) for a in self.args],
                       [a if is_plain(a) else "" for a in self.args], self.settings, stack)


class Like:
    """The shape and the dtype of an argument that is an array."""

    __slots__ = ("dtype", "shape")

    def __init__(self, array: Any) -> None:
        self.shape: tuple[int, ...] = array.shape
        self.dtype: np.dtype[Any] = array.dtype


class Describer:
    """Records the arguments of calls."""

    def __init__(self, shapes: bool, stack: bool) -> None:
        self.shapes: bool = shapes
        self.stack: bool = stack

    def __call__(self, number: int, args: tuple[Any, ...], settings: dict[str, Any] | None) -> Noted:
        """The record of a call."""
        stack = calling_stack() if self.stack else None
        if names[number][1] == USER:
            return Noted(None, None, stack, args[0] if args else None)
        if not self.shapes:
            return Noted(None, None, stack, None)
        kept = {key: noted(value) for key, value in settings.items()} if settings else {}
        return Noted([noted(a) for a in args], kept, stack, None)


def noted(value: Any) -> Any:
    """A value to be kept, without arrays, whose lifetime must not be extended."""
    if isinstance(value, Tensor):
        return Like(value.array)
    if isinstance(value, ndarray):
        return Like(value)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], (Tensor, ndarray)):
        return [noted(v) for v in value]
    return value if is_plain(value) else None


def is_plain(value: Any) -> bool:
    """Whether a value is a number, a string, or a tuple or list of these."""
    return isinstance(value, (bool, int, float, complex, str, type(None))) or (
        isinstance(value, (list, tuple)) and all(is_plain(v) for v in value))


def shape_of(value: Any) -> list[Any]:
    """The shape of a former array, the shapes in a list of them, [] for anything else."""
    if isinstance(value, Like):
        return list(value.shape)
    return [shape_of(v) for v in value] if isinstance(value, list) and value and isinstance(value[0], Like) else []


def dtype_of(value: Any) -> str:
    """The dtype of a former array, PyTorch's words for numbers and lists, "" for anything else."""
    if isinstance(value, Like):
        return str(value.dtype)
    if isinstance(value, (bool, int, float, complex)):
        return "Scalar"
    if isinstance(value, (list, tuple)):
        return "TensorList" if value and isinstance(value[0], Like) else "ScalarList"
    return ""


def calling_stack() -> list[tuple[Any, int]]:
    """The code and the lines of the frames outside of the machinery, innermost first."""
    frame: Any = sys._getframe(1)
    found = []
    while frame is not None:
        if not str(frame.f_globals.get("__name__", "")).startswith(OWN):
            found.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return found
