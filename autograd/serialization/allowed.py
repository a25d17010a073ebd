"""The classes that load() may create, under PyTorch's names: only those that it knows, whatever is allowed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..base import docstrings as _docstrings

ALLOWED: list[Any] = []


def add_safe_globals(safe_globals: Sequence[Any]) -> None:
    """List classes, without effect: load() never creates an object of a class named by a file, and its error reports
    that."""
    ALLOWED.extend(value for value in safe_globals if value not in ALLOWED)


def get_safe_globals() -> list[Any]:
    """The classes listed by add_safe_globals()."""
    return list(ALLOWED)


def clear_safe_globals() -> None:
    """Empty that list."""
    ALLOWED.clear()


@contextmanager
def safe_globals(safe_globals: Sequence[Any]) -> Iterator[None]:
    """As add_safe_globals, for a block."""
    before = list(ALLOWED)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        ALLOWED[:] = before


_docstrings.complete(globals(), "serialization", "serialization.")
