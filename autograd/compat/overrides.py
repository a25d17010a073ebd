"""Objects with __torch_function__: functions written in Python query them; operations here do not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..base import docstrings as _docstrings
from ..core.tensor import Tensor


def overrides(value: Any) -> bool:
    """Whether an object answers for functions itself."""
    return hasattr(type(value), "__torch_function__")


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether any argument has __torch_function__; tensors here have none."""
    return any(map(overrides, relevant_args))


def has_torch_function_unary(value: Any) -> bool:
    """Whether an argument has __torch_function__."""
    return overrides(value)


def has_torch_function_variadic(*args: Any) -> bool:
    """Whether any argument has __torch_function__."""
    return has_torch_function(args)


def handle_torch_function(public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """What the first argument with __torch_function__ makes of a call."""
    found = [value for value in relevant_args if overrides(value)]
    types = tuple(dict.fromkeys(map(type, found)))
    for value in found:
        result = value.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(f"no implementation found for {public_api.__name__!r} on types that implement __torch_function__: "
                    f"{[kind.__name__ for kind in types]}")


def is_tensor_like(inp: Any) -> bool:
    """Whether an object is a tensor, or has __torch_function__."""
    return isinstance(inp, Tensor) or overrides(inp)


_docstrings.complete(globals(), "compat", "overrides.")
