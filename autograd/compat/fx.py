"""Graph capture, which is not here; its decorator `wrap` is, for model code marks functions with it."""

from __future__ import annotations

from typing import Any


def wrap(fn_or_name: Any) -> Any:
    """The function itself (or its name): it would be left whole by a tracer.

    Args:
        fn_or_name: A function, or the name of one.

    Returns:
        fn_or_name, the same object.

    Example:
        >>> @ag.fx.wrap
        ... def count(x):
        ...     return len(x)
        >>> count(ag.ones(3))
        3
    """
    return fn_or_name


def symbolic_trace(root: Any, concrete_args: Any = None) -> Any:
    """Refused: Python code is not captured as a graph.

    Args:
        root: Not used.
        concrete_args: Not used. Default: None.

    Raises:
        NotImplementedError: always; Tensor.grad_fn leads to the graph of a run.

    Example:
        >>> ag.fx.symbolic_trace(ag.nn.Linear(1, 1))
        Traceback (most recent call last):
            ...
        NotImplementedError: fx.symbolic_trace(): the graph here is that of a run; see Tensor.grad_fn
    """
    raise NotImplementedError("fx.symbolic_trace(): the graph here is that of a run; see Tensor.grad_fn")


__all__ = ["symbolic_trace", "wrap"]
