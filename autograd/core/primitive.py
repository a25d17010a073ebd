"""Decorators for functions that are recorded as one call although they create no node: random draws, sorting, an optimizer's
step, writes, reads of a value.

They classify a function, as PyTorch's tags on operators do. An Interceptor with `sees_calls`, such as trace_step()'s,
receives these calls and those of operations. While no thread has one, `watchers` is empty: the test costs 15 ns a call, and
a decorated function 0.1 us.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ..spans.spans import begin, describe, end, operation_number, profilers
from .interceptors import Interceptor, this_thread
from .modes import process

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
OPERATIONS = ("autograd.ops.", "autograd.modes.random")
watchers: list[Interceptor] = process.call_watchers  # of all threads: hot code asks `if watchers:` before all else


def primitive(function: F) -> F:
    """Declare a function that computes on arrays, draws random numbers, or changes state outside Tensors. It is one call,
    whatever it calls itself, and can be repeated with the same arguments. It returns an array, a Tensor, or None.

    >>> @primitive
    ... def keep_mask(shape, p): return default_generator().numpy.random(shape) >= p
    """

    # the profiler shows a function of arrays as an operation; an optimizer's step has its own name there
    module = getattr(function, "__module__", None) or OPERATIONS[0]          # methods of arrays have no module
    span = operation_number(function.__name__) if module.startswith(OPERATIONS) else -1

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if profilers and span >= 0:
            token = begin(span)
            try:
                return told(args, kwargs)
            finally:
                end(token)
        return told(args, kwargs) if watchers else function(*args, **kwargs)

    def told(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if watchers and this_thread.call_watcher is not None:
            return this_thread.call_watcher.primitive(function, args, kwargs)
        return function(*args, **kwargs)

    return called  # type: ignore[return-value]


def spanned(function: F) -> F:
    """Declare a function of Tensors that creates no node but is an operation for the profiler: it creates a tensor or reads
    values."""
    span = operation_number(function.__name__)

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if not profilers:
            return function(*args, **kwargs)
        token = begin(span)
        describe(token, span, args, kwargs or None)
        try:
            return function(*args, **kwargs)
        finally:
            end(token)

    return called  # type: ignore[return-value]


def shortcut(function: F) -> F:
    """Declare a predicate on the values of arrays that permits a faster path if True. A replayed step evaluates it again.
    The code after False must be correct for all values."""

    @functools.wraps(function)
    def asked(*args: Any) -> bool:
        if watchers and this_thread.call_watcher is not None:
            return bool(this_thread.call_watcher.shortcut(function, args))
        return bool(function(*args))

    return asked  # type: ignore[return-value]


def data_dependent(function: F) -> F:
    """Declare a function whose result's size, or whose control flow, depends on values."""

    @functools.wraps(function)
    def reading(*args: Any, **kwargs: Any) -> Any:
        if watchers:
            value_read(f"{function.__name__}()")
        return function(*args, **kwargs)

    return reading  # type: ignore[return-value]


def computed(forward: Callable[..., Any], arrays: tuple[Any, ...], inputs: tuple[Any, ...], out: T) -> T:
    """Notify watchers that a declared operation computed `out`, and return it; see Interceptor.computed."""
    if this_thread.call_watcher is not None:
        this_thread.call_watcher.computed(forward, arrays, inputs, out)
    return out


def value_read(what: str) -> None:
    """Notify watchers that `what` is about to read a tensor's values into Python."""
    if this_thread.call_watcher is not None:
        this_thread.call_watcher.value_read(what)


def value_written(array: Any, source: Any, index: Any = ...) -> None:
    """Notify watchers before array[index] = source, while the old values can still be read."""
    if this_thread.call_watcher is not None:
        this_thread.call_watcher.value_written(array, source, index)


def grad_assigned(leaf: Any, value: Any) -> None:
    """Notify watchers that `value` was assigned to leaf.grad."""
    if this_thread.call_watcher is not None:
        this_thread.call_watcher.grad_assigned(leaf, value)


def drawn() -> None:
    """Notify watchers that random numbers are about to be drawn."""
    if this_thread.call_watcher is not None:
        this_thread.call_watcher.drawn()


def side_effect(what: str) -> None:
    """Notify watchers that `what` begins, which no tensor and no call shows."""
    if this_thread.call_watcher is not None:
        this_thread.call_watcher.side_effect(what)
