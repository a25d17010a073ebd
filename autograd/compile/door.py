"""compile(), the one door to compiled steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

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
    return (lambda function: function) if model is None else model
