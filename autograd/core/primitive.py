"""Calls that make no node and are still one thing: a draw, an ordering, an optimiser's step, a write, a read of a value.

An Observer sees them, beside the calls that make nodes: trace_step() is one. Operations say what a function is, by the
decorators here, as PyTorch's tags on its operators do; what an observer makes of it is the observer's matter.
While nobody observes, `observers` is empty, and asking costs a call 15 ns; a decorated function costs 0.1 us more.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class Observer:
    """Who is told of one thread's calls. Each event has its default: what happens where nobody looks."""

    def primitive(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function declared `primitive` is called: return what it returns."""
        return function(*args, **kwargs)

    def shortcut(self, function: Callable[..., bool], args: tuple[Any, ...]) -> bool:
        """A function declared `shortcut` is asked: return its answer."""
        return function(*args)

    def computed(self, forward: Callable[..., Any], arrays: tuple[Any, ...], inputs: tuple[Any, ...], out: Any) -> None:
        """A declared operation has made the Tensor `out` of forward(*arrays): the arrays of `inputs`, maybe cast."""

    def operated(self, operation: Any, node: Any, args: tuple[Any, ...], arrays: list[Any], settings: dict[str, Any],
                 out: Any) -> None:
        """An Operation has made `out`, one Tensor or a tuple of them, of `args`, whose arrays are `arrays`."""

    def function(self, function: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        """A Function is applied: return what it returns."""
        return function.apply(*args, **settings)

    def value_read(self, what: str) -> None:
        """Python is about to read a tensor's values."""

    def value_written(self, array: Any, source: Any, index: Any) -> None:
        """source, an array or a number, is about to be written to array[index]."""

    def grad_assigned(self, leaf: Any, value: Any) -> None:
        """Somebody has assigned `value` to leaf.grad."""

    def side_effect(self, what: str) -> None:
        """Something begins that neither a tensor nor a call shows: a message, a setting of the reducer."""


class _Thread(threading.local):
    """The observer of this thread's calls, if any, and if it is not looking away."""

    observer: Any = None


thread = _Thread()
observers: list[Any] = []            # of all threads: hot code asks `if observers:` before all else


class unobserved:
    """A block whose calls the observer does not see: they are part of one that it has seen as a whole."""

    def __enter__(self) -> None:
        self._observer, thread.observer = thread.observer, None

    def __exit__(self, *exception: object) -> None:
        thread.observer = self._observer


def primitive(function: F) -> F:
    """Declare a function that computes on arrays, draws random numbers, or changes what is in no Tensor. It is one call,
    whatever it calls in turn, that can be made again with the same arguments. It returns an array, a Tensor, or None.

    >>> @primitive
    ... def keep_mask(shape, p): return default_generator().numpy.random(shape) >= p
    """

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if observers and thread.observer is not None:
            return thread.observer.primitive(function, args, kwargs)
        return function(*args, **kwargs)

    return called  # type: ignore[return-value]


def shortcut(function: F) -> F:
    """Declare a function of arrays, a question about their values, whose True lets the code that follows take a quicker
    way. An observer may ask again later. After a False the code must be right whatever the values are."""

    @functools.wraps(function)
    def asked(*args: Any) -> bool:
        if observers and thread.observer is not None:
            return bool(thread.observer.shortcut(function, args))
        return bool(function(*args))

    return asked  # type: ignore[return-value]


def data_dependent(function: F) -> F:
    """Declare a function whose result has a size that depends on values, or that goes other ways for other values."""

    @functools.wraps(function)
    def reading(*args: Any, **kwargs: Any) -> Any:
        if observers:
            value_read(f"{function.__name__}()")
        return function(*args, **kwargs)

    return reading  # type: ignore[return-value]


def computed(forward: Callable[..., Any], arrays: tuple[Any, ...], inputs: tuple[Any, ...], out: T) -> T:
    """A declared operation has made `out`, see Observer.computed. Returns it."""
    if thread.observer is not None:
        thread.observer.computed(forward, arrays, inputs, out)
    return out


def value_read(what: str) -> None:
    """`what` is about to read a tensor's values into Python."""
    if thread.observer is not None:
        thread.observer.value_read(what)


def value_written(array: Any, source: Any, index: Any = ...) -> None:
    """array[index] = source is about to be made. Said before: an observer looks at what was there."""
    if thread.observer is not None:
        thread.observer.value_written(array, source, index)


def grad_assigned(leaf: Any, value: Any) -> None:
    """leaf.grad = value has been made."""
    if thread.observer is not None:
        thread.observer.grad_assigned(leaf, value)


def side_effect(what: str) -> None:
    """`what` begins, which neither a tensor nor a call shows."""
    if thread.observer is not None:
        thread.observer.side_effect(what)


__all__ = ["Observer", "computed", "data_dependent", "grad_assigned", "observers", "primitive", "shortcut", "side_effect",
           "thread", "unobserved", "value_read", "value_written"]
