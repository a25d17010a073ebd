"""Aliases of arguments: NumPy's names, which PyTorch takes too, and names that PyTorch's variants of a function differ
in."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def also(**names: str) -> Callable[[F], F]:
    """Let a function take arguments under further names: also(axis="dim")."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if kwargs:
                for other, name in names.items():
                    if other in kwargs:
                        kwargs[name] = kwargs.pop(other)
            return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    return decorate
