"""What surrounds compile(), by the names of torch.compiler."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..base import docstrings as _docstrings
from ..core.primitive import side_effect, this_thread, watchers


def disable(fn: Callable[..., Any] | None = None, recursive: bool = True, **kwargs: Any) -> Callable[..., Any]:
    """Decorator, with parentheses or without: compile() runs a step that calls the function eagerly."""
    if fn is None:
        return functools.partial(disable, recursive=recursive, **kwargs)
    if hasattr(fn, "forward"):                       # a module
        fn.forward = disable(fn.forward)
        return fn
    function = fn

    @functools.wraps(function)
    def disabled(*args: Any, **kwargs: Any) -> Any:
        if watchers:
            side_effect(f"{function.__name__}(), which compiler.disable() excludes,")
        return function(*args, **kwargs)

    return disabled


def allow_in_graph(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn


def is_compiling() -> bool:
    """Whether this thread is recording a function for compile()."""
    return getattr(this_thread.call_watcher, "compiles", False)


is_exporting = is_dynamo_compiling = is_compiling


_docstrings.complete(globals(), "compat", "compiler.")
