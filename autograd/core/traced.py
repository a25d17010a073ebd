"""What the core knows of trace(): who records this thread's calls, and how library code that works on plain arrays or on
Python's state says so.

While nobody traces, `tracers` is empty, and asking costs a call 15 ns.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class TraceError(RuntimeError):
    """A step can't be recorded, or what was recorded does not fit what it is called with."""


class _Here(threading.local):
    """The tracer that records this thread's calls, if any, and if it is not looking away."""

    tracer: Any = None


here = _Here()
tracers: list[Any] = []              # all that are at work in any thread: hot code asks `if tracers:` before all else


class unseen:
    """A block whose calls the tracer does not see: they are part of one that it has recorded as a whole."""

    def __enter__(self) -> None:
        self._tracer, here.tracer = here.tracer, None

    def __exit__(self, *exception: object) -> None:
        here.tracer = self._tracer


def again(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """function(*args, **kwargs), now and, where a trace is being recorded, in each of its replays: for code that draws
    random numbers, computes on arrays, or reads and writes what is in no Tensor. It may return an array, a Tensor, or None.

    >>> keep = again(draw_mask, shape, p)
    """
    if tracers and here.tracer is not None:
        return here.tracer.again(function, args, kwargs)     # type: ignore[no-any-return]
    return function(*args, **kwargs)


def redrawn(function: F) -> F:
    """A function that draws random numbers: replays call it again."""

    @functools.wraps(function)
    def drawing(*args: Any, **kwargs: Any) -> Any:
        return again(function, *args, **kwargs)

    return drawing  # type: ignore[return-value]


def rerun(function: F) -> F:
    """A function of Tensors that computes one Tensor, not differentiable, on arrays: replays call it again."""

    @functools.wraps(function)
    def running(*args: Any, **kwargs: Any) -> Any:
        return again(function, *args, **kwargs) if tracers else function(*args, **kwargs)

    return running  # type: ignore[return-value]


def unrecordable(function: F) -> F:
    """A function that computes on arrays, or gives sizes that depend on values: a trace refuses it."""

    @functools.wraps(function)
    def refusing(*args: Any, **kwargs: Any) -> Any:
        if tracers:
            refuse(f"{function.__name__}() can't be recorded: it works on values, or gives as much as values say. Call it "
                   "outside of the step")
        return function(*args, **kwargs)

    return refusing  # type: ignore[return-value]


def decided(function: Callable[..., bool], *args: Any) -> bool:
    """bool(function(*args)), on which code branches: a replay asks again, and is refused where the answer is another."""
    if tracers and here.tracer is not None:
        return here.tracer.decided(function, args)           # type: ignore[no-any-return]
    return bool(function(*args))


def told(forward: Callable[..., Any], arrays: tuple[Any, ...], inputs: tuple[Any, ...], out: T) -> T:
    """A declared operation has made `out` of forward(*arrays), those of `inputs` (maybe cast), and of settings."""
    if here.tracer is not None:
        here.tracer.called(forward, arrays, inputs, out)
    return out


def refuse(reason: str) -> None:
    """Code is about to run that a trace can't record."""
    if here.tracer is not None:
        here.tracer.refuse(reason)


def regraded(leaf: Any, value: Any) -> None:
    """Somebody has assigned this to a tensor's .grad."""
    if here.tracer is not None:
        here.tracer.gradients.assigned(leaf, value)


MSG_MASK = ("a mask as an index can't be recorded: how much it picks depends on values. where(mask, x, 0) has the same sum, "
            "and can be recorded")


def refuse_read(what: str) -> None:
    """A value is about to leave for Python: a trace that is being recorded can't know what becomes of it."""
    if here.tracer is not None:
        here.tracer.refuse(f"{what} reads a value, and what Python makes of it can't be recorded. Return the tensor from "
                           "the step and read it outside; a branch on values can be where()")


__all__ = ["MSG_MASK", "TraceError", "again", "decided", "here", "redrawn", "refuse", "refuse_read", "regraded", "rerun",
           "told", "tracers", "unrecordable", "unseen"]
