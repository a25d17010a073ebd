"""The parts of a recorded program: Value, an array; Call, which computes values; Constant, an object passed as it is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.plugins import plugin_packages
from ...base.types import Array, DTypeLike
from ...kernels.blocks import owns_memory
from ...kernels.halves import converted

Location = tuple[int, tuple[int, ...], tuple[int, ...], np.dtype[Any]]
OWN = "autograd"


class Value:
    """An array of the recorded step: the result of a call, an argument of the step, or an array from outside.

    `fixed`: every replay keeps it in the memory of `array`. Otherwise it is the array that its call returns.
    """

    __slots__ = ("adopted", "array", "fixed", "maker", "number", "uses")

    def __init__(self, number: int, array: Array, maker: Call | None) -> None:
        self.number: int = number
        self.array: Array = array
        self.maker: Call | None = maker
        self.fixed: bool = maker is None
        self.adopted: bool = False                   # this very array becomes a leaf's .grad
        self.uses: int = 0

    def __repr__(self) -> str:
        return f"v{self.number}"


class Call:
    """One call of the program: function(*args, **settings), where Values stand for their arrays."""

    __slots__ = ("args", "checks", "draws", "effect", "function", "label", "line", "optional", "out", "outs", "pinned",
                 "settings", "single", "step")

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], settings: dict[str, Any] | None = None, *,
                 label: str = "") -> None:
        self.function: Callable[..., Any] = function
        self.args: tuple[Any, ...] = args
        self.settings: dict[str, Any] = settings or {}
        self.label: str = label or name_of(function)
        self.outs: list[Value | None] = []
        self.single: bool = True                     # returns its one output, not a sequence of them
        self.out: str = out_of(function, self.settings)
        self.optional: bool = False                  # it only reads: dropped where its result is not used
        self.checks: bool = False                    # it only raises an error where arguments have other values
        self.draws: bool = False                     # it reads no array: it may draw random numbers
        self.effect: bool = False                    # it may read and write what Python reaches, not its arguments alone
        self.pinned: list[Value] = []                # what it reads from the memory of the recording, beside its arguments
        self.step: Any = None                        # of an optimizer: an OptimizerStep, or why it has to be called
        self.line: str = user_line()


def effect(call: Call) -> Call:
    """The call, marked as an effect."""
    call.effect = True
    return call


def out_of(function: Callable[..., Any], settings: dict[str, Any]) -> str:
    """The source text that passes memory for the result to a function; "" if it takes none."""
    if isinstance(function, np.ufunc):
        if function.nout != 1:
            return ""
        return ", out={}" if settings or function in (np.maximum, np.minimum) else ", {}"       # those two warn otherwise
    owner = getattr(function, "__self__", None)
    return ", out={}" if isinstance(owner, np.ufunc) and function.__name__ == "reduce" else ""


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function in the program's text."""
    return str(getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or type(function).__name__)


def user_line(frame: Any = None) -> str:
    """`file:line` of the innermost frame outside of this package and its plugins', from this frame or the caller's on."""
    frame = frame or sys._getframe(1)
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] not in (OWN, *plugin_packages(), "contextlib"):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return "?"


def root_of(array: Array) -> Array:
    """The array that owns the memory of this one, or has a whole block: the end of its chain of `.base`."""
    while isinstance(array.base, np.ndarray) and not owns_memory(array):
        array = array.base
    return array


def spanned_by(array: Array, whole: Array) -> bool:
    """Whether all elements of `array` lie in the memory that `whole` spans."""
    low, high = np.lib.array_utils.byte_bounds(array)
    first, last = np.lib.array_utils.byte_bounds(whole)
    return bool(first <= low and high <= last)


def laid_alike(shape: tuple[int, ...], one: tuple[int, ...], two: tuple[int, ...]) -> bool:
    """Whether the strides of two arrays of one shape are the same where there is more than one element."""
    return all(n == 1 or s == t for n, s, t in zip(shape, one, two, strict=True))


_interface = np.ndarray.__array_interface__.__get__      # type: ignore[attr-defined]


def location(array: Array) -> Location:
    """What identifies an array in memory: address, shape, strides, dtype."""
    return _interface(array)["data"][0], array.shape, array.strides, array.dtype


class Constant:
    """An argument that every replay passes as the same object, also where it is an array."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value: object = value


# --- functions of calls ---------------------------------------------------------------------------------------------------

def cast(x: Array, dtype: DTypeLike) -> Array:
    """x converted to dtype, as a call of its own in the program."""
    return converted(x, dtype)


def fill(*number: Any) -> None:
    """Stands for the creation of an array of equal numbers, which only native programs make."""
    raise NotImplementedError


def update(target: Array, name: str, value: Any, *index: Any) -> None:
    """A call of put_at()."""
    if name == "copy":
        target[index] = value
    else:
        getattr(np, name).at(target, index, value)


def pick(x: Array, *index: Any) -> Array:
    """x[index], of arrays of integers and slices."""
    return x[index]  # type: ignore[no-any-return]


def element(x: Array, index: Any) -> Array:
    """x[index], one element, as an array without dimensions."""
    return np.asarray(x[index])
