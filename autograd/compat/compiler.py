"""compile() and what surrounds it: hints of speed that change nothing."""

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

    PyTorch scripts that call torch.compile run as they are. For what repeats, trace_step() records a step and replays it.

    Args:
        model (Callable[..., Any]): A Module or function; None for the decorator.
        fullgraph (bool): Has no effect. Default: False.
        dynamic (bool): Has no effect.
        backend (str or Callable[..., Any]): Has no effect. Default: 'inductor'.
        mode (str): Has no effect.
        options (dict[str, Any]): Has no effect.
        disable (bool): Has no effect. Default: False.

    Returns:
        model, the same object.

    Example:
        >>> model = ag.nn.Linear(2, 2)
        >>> ag.compile(model, mode="max-autotune") is model
        True
        >>> @ag.compile
        ... def double(x):
        ...     return 2 * x
        >>> double(ag.ones(2))
        tensor([2., 2.])
    """
    return _itself if model is None else model


def _itself(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def disable(fn: Callable[..., Any] | None = None, recursive: bool = True, **kwargs: Any) -> Callable[..., Any]:
    """Decorator, with parentheses or without, for what a compiler should not touch: the function itself.

    Args:
        fn: The function; None for the decorator. Default: None.
        recursive (bool): Has no effect. Default: True.
        **kwargs: Have no effect.

    Returns:
        fn, the same object.

    Example:
        >>> @ag.compiler.disable
        ... def double(x):
        ...     return 2 * x
        >>> double(ag.ones(2))
        tensor([2., 2.])
    """
    return _itself if fn is None else fn


def allow_in_graph(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself.

    Args:
        fn: The function.

    Returns:
        fn, the same object.

    Example:
        >>> ag.compiler.allow_in_graph(abs)(-1)
        1
    """
    return fn


def is_compiling() -> bool:
    """False: compile() returns its function unchanged, so no code ever runs under a compiler.

    Returns:
        bool: False.

    Example:
        >>> ag.compiler.is_compiling()
        False
    """
    return False


is_exporting = is_dynamo_compiling = is_compiling


def reset() -> None:
    """Nothing to forget.

    Example:
        >>> ag.compiler.reset()
    """


__all__ = ["allow_in_graph", "compile", "disable", "is_compiling", "is_dynamo_compiling", "is_exporting", "reset"]
