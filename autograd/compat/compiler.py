"""What surrounds compile(): decorators and questions of torch.compiler that change nothing here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import docstrings as _docstrings


def _itself(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def disable(fn: Callable[..., Any] | None = None, recursive: bool = True, **kwargs: Any) -> Callable[..., Any]:
    """Decorator, with parentheses or without, for what a compiler should not touch: the function itself."""
    return _itself if fn is None else fn


def allow_in_graph(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn


def is_compiling() -> bool:
    """False: compile() returns its function unchanged, so no code ever runs under a compiler."""
    return False


is_exporting = is_dynamo_compiling = is_compiling


def reset() -> None:
    """Nothing to forget."""


_docstrings.complete(globals(), "compat", "compiler.")
