"""Recording modes: what this thread does with the operations that it runs.

Each thread has its own modes (PyTorch's rule); threads that `autograd.lanes` starts begin with their caller's.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Generator
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


GRAD, DUAL = 1, 2                        # bits of Tensor.tracked and modes.recording: backward mode, forward mode


class Modes(threading.local):
    """The modes of the current thread; a new thread starts with these."""

    def __init__(self) -> None:
        self.recording: int = GRAD           # for what operations are recorded: GRAD, DUAL, both, or 0 for nothing
        self.lane: int | None = None         # the lane that this thread works for, see lanes.py
        self.level: int | None = None        # the dual level that this thread is in, see tangent.py


modes = Modes()


def is_grad_enabled() -> bool:
    """Whether operations of this thread are recorded."""
    return bool(modes.recording & GRAD)


class _Recording:
    """Sets `modes.recording` for a `with` block, or around every call of a decorated function."""

    def __init__(self, recording: bool) -> None:
        self._recording = recording
        self._before: list[int] = []                # a stack: one object may be entered again inside itself

    def __enter__(self) -> None:
        self._before.append(modes.recording)
        modes.recording = self._recording | (modes.recording & DUAL)      # forward mode goes on, as in PyTorch

    def __exit__(self, *exception: object) -> None:
        modes.recording = self._before.pop()

    def __call__(self, function: F) -> F:
        if inspect.isgeneratorfunction(function):
            return _wrap_generator(function, self._recording)
        recording = self._recording

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with _Recording(recording):
                return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]


def _wrap_generator(function: Callable[..., Any], recording: bool) -> Any:
    """Run each stretch of a generator in the mode, and what happens between two stretches in the caller's."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        generator = function(*args, **kwargs)
        step, value = generator.send, None
        while True:
            try:
                with _Recording(recording):
                    item = step(value)
            except StopIteration as stop:
                return stop.value
            try:
                value = yield item
                step = generator.send
            except GeneratorExit:
                with _Recording(recording):
                    generator.close()
                raise
            except BaseException as error:          # handed into the generator, as `throw` asks
                step, value = generator.throw, error

    return wrapped


class no_grad(_Recording):
    """Context manager and decorator: operations inside are not recorded.

    >>> with no_grad():
    ...     y = x * 2          # y.requires_grad is False
    """

    def __init__(self) -> None:
        super().__init__(False)

    def __new__(cls, function: Any = None) -> Any:
        """`@no_grad` without parentheses decorates too."""
        return super().__new__(cls) if function is None else no_grad()(function)


class enable_grad(_Recording):
    """Context manager and decorator: operations inside are recorded, even within `no_grad`."""

    def __init__(self) -> None:
        super().__init__(True)

    def __new__(cls, function: Any = None) -> Any:
        """`@enable_grad` without parentheses decorates too."""
        return super().__new__(cls) if function is None else enable_grad()(function)


class set_grad_enabled(_Recording):
    """Switch recording on or off, at once; as a `with` block also back at its end."""

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        self._before.append(modes.recording)
        modes.recording = self._recording | (modes.recording & DUAL)

    def __enter__(self) -> None:
        """The switch was made by the constructor."""
        if not self._before:                        # entered a second time
            super().__enter__()

    def __call__(self, function: F) -> F:
        """As a decorator the switch counts inside the calls only."""
        modes.recording = self._before.pop()
        return super().__call__(function)


class inference_mode(_Recording):
    """no_grad, as PyTorch's code for inference says it. What is computed inside may be recorded later, which PyTorch
    forbids. inference_mode(False) records.
    """

    def __init__(self, mode: bool = True) -> None:
        super().__init__(not mode)

    def __new__(cls, mode: Any = True) -> Any:
        """`@inference_mode` without parentheses decorates too."""
        return super().__new__(cls) if isinstance(mode, bool) else inference_mode()(mode)
