"""What a trace consists of: values (arrays) and calls that make them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
OURS = ("autograd", "dparallel")


class Value:
    """An array of the traced step: made by a call, an argument, or one from outside that is used where it is.

    `fixed`: it lives in the memory that `array` has, in every replay. Otherwise it is whatever its call returns.
    """

    __slots__ = ("adopted", "array", "fixed", "maker", "number", "uses")

    def __init__(self, number: int, array: Array, maker: Call | None) -> None:
        self.number, self.array, self.maker = number, array, maker
        self.fixed = maker is None
        self.adopted = False                         # becomes a leaf's .grad
        self.uses = 0

    def __repr__(self) -> str:
        return f"v{self.number}"


class Call:
    """One call of the program: function(*args, **settings), where Values stand for their arrays."""

    __slots__ = ("args", "function", "label", "line", "optional", "out", "outs", "settings", "single")

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], settings: dict[str, Any] | None = None, *,
                 label: str = "") -> None:
        self.function, self.args, self.settings = function, args, settings or {}
        self.label = label or name_of(function)
        self.outs: list[Value | None] = []
        self.single = True                           # returns its one output, not a sequence of them
        self.out = out_of(function, self.settings)
        self.optional = False                        # reads only: left out where nobody uses what it gives
        self.line = user_line()


def out_of(function: Any, settings: dict[str, Any]) -> str:
    """How a function takes the memory for its result: "" if it does not."""
    if isinstance(function, np.ufunc):
        if function.nout != 1:
            return ""
        return ", out={}" if settings or function in (np.maximum, np.minimum) else ", {}"       # those two warn otherwise
    owner = getattr(function, "__self__", None)
    return ", out={}" if isinstance(owner, np.ufunc) and function.__name__ == "reduce" else ""


def name_of(function: Any) -> str:
    """What a function is called in the program's text."""
    return str(getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or type(function).__name__)


def user_line() -> str:
    """`file:line` of the innermost frame that is not ours."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] not in (*OURS, "contextlib"):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return "?"


def owner_of(array: Any) -> Any:
    """The array whose memory this one looks into: itself, where it has its own."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def inside(array: Array, of: Array) -> bool:
    """Whether all elements of `array` lie in the memory that `of` spans."""
    low, high = np.lib.array_utils.byte_bounds(array)
    first, last = np.lib.array_utils.byte_bounds(of)
    return bool(first <= low and high <= last)


_interface = np.ndarray.__array_interface__.__get__      # type: ignore[attr-defined]


def place(array: Any) -> Any:
    """What tells where an array lies and how."""
    return _interface(array)["data"][0], array.shape, array.strides, array.dtype


class Held:
    """An argument that is handed over as the very object."""

    __slots__ = ("thing",)

    def __init__(self, thing: Any) -> None:
        self.thing = thing
