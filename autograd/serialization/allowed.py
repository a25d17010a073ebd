"""Which classes load() may make, by PyTorch's names: none but those that it knows, whatever is allowed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


def add_safe_globals(safe_globals: Sequence[Any]) -> None:
    """Accepted, and without effect: load() makes no object of a class that a file names, and says so where there is one.

    Args:
        safe_globals (Sequence): Has no effect.

    Example:
        >>> ag.serialization.add_safe_globals([ag.nn.Linear])
    """


@contextmanager
def safe_globals(safe_globals: Sequence[Any]) -> Iterator[None]:
    """As add_safe_globals, for a block.

    Args:
        safe_globals (Sequence): Has no effect.

    Example:
        >>> with ag.serialization.safe_globals([ag.nn.Linear]):
        ...     pass
    """
    yield


__all__ = ["add_safe_globals", "safe_globals"]
