"""Reports of what a training loop does beside optimizer steps: batches of loaders, steps of schedules, scalers, averages."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
Listener = Callable[[str, Any], object]              # what happened, and the object: see `reported`

listeners: list[Listener] = []                       # each report goes to all; dparallel.survival adds one


def report(what: str, thing: Any) -> None:
    """Tell the listeners, if there are any. what: "batch" (of a loader's iterator), "scheduler", "scaler", "average"."""
    for listener in tuple(listeners):
        listener(what, thing)


def reported(what: str) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """A decorator of methods whose calls are reported, before they begin."""
    def decorate(method: Callable[..., T]) -> Callable[..., T]:
        @functools.wraps(method)
        def call(self: Any, *args: Any, **kwargs: Any) -> T:
            if listeners:
                report(what, self)
            return method(self, *args, **kwargs)

        return call

    return decorate
