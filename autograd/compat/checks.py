"""torch._check and related functions: errors with a message, which code may give as a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _check_with(error_type: type[Exception], cond: Any, message: Callable[[], Any] | str | None = None) -> None:
    """Raise an error of a type, with the text that message() makes, unless cond is true."""
    if not cond:
        text = message() if callable(message) else message
        raise error_type("Expected cond to be True, but got False." if text is None else str(text))


def _check(cond: Any, message: Callable[[], Any] | str | None = None) -> None:
    """RuntimeError unless cond is true."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Callable[[], Any] | str | None = None) -> None:
    """IndexError unless cond is true."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Callable[[], Any] | str | None = None) -> None:
    """ValueError unless cond is true."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Callable[[], Any] | str | None = None) -> None:
    """TypeError unless cond is true."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Callable[[], Any] | str | None = None) -> None:
    """NotImplementedError unless cond is true."""
    _check_with(NotImplementedError, cond, message)


def _check_tensor_all(cond: Any, message: Callable[[], Any] | str | None = None) -> None:
    """RuntimeError unless all elements are true."""
    _check_with(RuntimeError, cond.all(), message)


def _check_is_size(i: Any, message: Callable[[], Any] | str | None = None, *, max: int | None = None) -> None:
    """RuntimeError unless i is a size."""
    _check_with(RuntimeError, i >= 0 and (max is None or i <= max), message)
