"""Objects with __torch_function__: functions written in Python query them; operations here do not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..core.tensor import Tensor


def overrides(value: Any) -> bool:
    """Whether an object answers for functions itself."""
    return hasattr(type(value), "__torch_function__")


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether any argument has __torch_function__; tensors here have none.

    Args:
        relevant_args: The arguments.

    Returns:
        bool

    Example:
        >>> ag.overrides.has_torch_function((ag.ones(1),))
        False
    """
    return any(map(overrides, relevant_args))


def has_torch_function_unary(value: Any) -> bool:
    """Whether an argument has __torch_function__.

    Args:
        value: The argument.

    Returns:
        bool

    Example:
        >>> ag.overrides.has_torch_function_unary(ag.ones(1))
        False
    """
    return overrides(value)


def has_torch_function_variadic(*args: Any) -> bool:
    """Whether any argument has __torch_function__.

    Args:
        *args: The arguments.

    Returns:
        bool

    Example:
        >>> ag.overrides.has_torch_function_variadic(ag.ones(1), 2)
        False
    """
    return has_torch_function(args)


def handle_torch_function(public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """What the first argument with __torch_function__ makes of a call.

    Args:
        public_api: The function that is called.
        relevant_args: Its arguments that may have __torch_function__.
        *args: Its arguments.
        **kwargs: Its named arguments.

    Raises:
        TypeError: No argument has an implementation for it.

    Example:
        >>> class Constant:
        ...     @classmethod
        ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
        ...         return 3
        >>> ag.overrides.handle_torch_function(ag.add, (Constant(),), Constant(), 1)
        3
    """
    found = [value for value in relevant_args if overrides(value)]
    types = tuple(dict.fromkeys(map(type, found)))
    for value in found:
        result = value.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(f"no implementation found for {public_api.__name__!r} on types that implement __torch_function__: "
                    f"{[kind.__name__ for kind in types]}")


def is_tensor_like(inp: Any) -> bool:
    """Whether an object is a tensor, or has __torch_function__.

    Args:
        inp: The object.

    Returns:
        bool

    Example:
        >>> ag.overrides.is_tensor_like(ag.ones(1)), ag.overrides.is_tensor_like(1.0)
        (True, False)
    """
    return isinstance(inp, Tensor) or overrides(inp)


__all__ = ["handle_torch_function", "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic",
           "is_tensor_like"]
