"""compile() and what surrounds it: hints of speed that change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..base import docstrings as _docstrings

F = TypeVar("F", bound=Callable[..., Any])


if TYPE_CHECKING:
    @overload
    def compile(model: F, *, fullgraph: bool = False, dynamic: bool | None = None,
                backend: str | Callable[..., Any] = "inductor", mode: str | None = None,
                options: dict[str, Any] | None = None, disable: bool = False) -> F: ...
    @overload
    def compile(model: None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
                backend: str | Callable[..., Any] = "inductor", mode: str | None = None,
                options: dict[str, Any] | None = None, disable: bool = False) -> Callable[[F], F]: ...


def compile(model: Callable[..., Any] | None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: str | Callable[..., Any] = "inductor", mode: str | None = None, options: dict[str, Any] | None = None,
            disable: bool = False) -> Callable[..., Any]:
    """The model or function itself, uncompiled, with its own state_dict keys; without one, a decorator.

    PyTorch scripts that call torch.compile run as they are. For what repeats, trace_step() records a step and replays it."""
    return _itself if model is None else model


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
