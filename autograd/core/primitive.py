"""Calls that make no node and are still one thing: a draw, an ordering, an optimiser's step, a write, a read of a value.

Operations say what a function is, by the decorators here, as PyTorch's tags on its operators do. An Interceptor that
`sees_calls` is told of them, beside the calls of operations: trace_step()'s is one. While there is none in any thread,
`watchers` is empty, and asking costs a call 15 ns; a decorated function costs 0.1 us more."""

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
    """Declare a function that computes on arrays, draws random numbers, or changes what is in no Tensor. It is one call,
    whatever it calls in turn, that can be made again with the same arguments. It returns an array, a Tensor, or None.

    >>> @primitive
    ... def keep_mask(shape, p): return default_generator().numpy.random(shape) >= p
    """

    # an operation of arrays is one for a profiler too; an optimiser's step has a name of its own there
    module = getattr(function, "__module__", None) or OPERATIONS[0]          # a method of arrays has none
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
    """Declare a function of Tensors that makes no node, and yet is an operation for a profiler: it makes a tensor of no
    others, or looks at values."""
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
    """Declare a function of arrays, a question about their values, whose True lets the code that follows take a quicker
    way. A replay of the step asks again. After a False the code must be right whatever the values are."""

    @functools.wraps(function)
    def asked(*args: Any) -> bool:
        if watchers and this_thread.call_watcher is not None:
            return bool(this_thread.call_watcher.shortcut(function, args))
        return bool(function(*args))

    return asked  # type: ignore[return-value]


def data_dependent(function: F) -> F:
    """Declare a function whose result has a size that depends on values, or that goes other ways for other values."""

    @functools.wraps(function)
    def reading(*args: Any, **kwargs: Any) -> Any:
        if watchers:
            value_read(f"{function.__name__}()")
        return function(*args, **kwargs)

    return reading  # type: ignore[return-value]


def computed(forward: Callable[..., Any], arrays: tuple[Any, ...], inputs: tuple[Any, ...], out: T) -> T:
    """A declared operation has made `out`, see Interceptor.computed. Returns it."""
    if this_thread.call_watcher is not None:
        this_thread.call_watcher.computed(forward, arrays, inputs, out)
    return out


def value_read(what: str) -> None:
    """`what` is about to read a tensor's values into Python."""
    if this_thread.call_watcher is not None:
        this_thread.call_watcher.value_read(what)


def value_written(array: Any, source: Any, index: Any = ...) -> None:
    """array[index] = source is about to be made. Said before, since a watcher looks at what was there."""
    if this_thread.call_watcher is not None:
        this_thread.call_watcher.value_written(array, source, index)


def grad_assigned(leaf: Any, value: Any) -> None:
    """leaf.grad = value has been made."""
    if this_thread.call_watcher is not None:
        this_thread.call_watcher.grad_assigned(leaf, value)


def drawn() -> None:
    """Random numbers are about to be drawn."""
    if this_thread.call_watcher is not None:
        this_thread.call_watcher.drawn()


def side_effect(what: str) -> None:
    """`what` begins, which neither a tensor nor a call shows."""
    if this_thread.call_watcher is not None:
        this_thread.call_watcher.side_effect(what)
