"""Modes of a thread: whether and how its operations are recorded.

As in PyTorch each thread has its own modes; threads started by parallel.py inherit their caller's.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import threading
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from typing_extensions import Self

F = TypeVar("F", bound=Callable[..., Any])


GRAD, DUAL = 1, 2                        # bits of Tensor.tracked and modes.recording: backward mode, forward mode
WATCH = 4                                # a bit of modes.recording: interceptors are notified of each recorded call


class Process:
    """State shared by all threads. Hot code only tests whether these lists are empty."""

    def __init__(self) -> None:
        self.interceptors: list[Any] = []            # of all threads, see interceptors.py
        self.call_watchers: list[Any] = []           # interceptors that receive some thread's calls, see primitive.py
        self.inference_blocks: list[None] = []       # one for each open block of inference_mode, see versions.py
        self.compile: Any = None                     # compile(), for Module.compile()


process: Process = Process()
_versions = itertools.count()

# changed(): a module, a hook or a setting has changed, on which compiled steps may depend. While version() stays the same,
# their guards need not look at any of them. A call without a Python frame: 0.03 us, in every assignment to a module
changed: Callable[[], int] = _versions.__next__


def version() -> str:
    """The number of calls of changed() so far, as text."""
    return repr(_versions)


class Modes(threading.local):
    """The modes of the current thread; a new thread starts with these."""

    def __init__(self) -> None:
        # bits: operations are recorded for gradients (GRAD), for tangents (DUAL), interceptors are notified (WATCH)
        self.recording: int = GRAD | (WATCH if process.interceptors else 0)
        self.lane: int | None = None         # the lane that this thread runs, see parallel.py
        self.level: int | None = None        # the current dual level, see forward_mode.py
        self.inference = False               # new tensors have no versions and are never recorded, see modes/inference.py
        self.multithreading = True           # lanes run backward in threads
        self.interceptors: tuple[Any, ...] = ()      # of this thread, in the order in which they are called
        self.running_node: Any = None        # the node that runs in backward, while anomaly mode is on
        self.saving_refused: str | None = None       # the error message for installing saved-tensors hooks, if disabled
        self.autocast: Any = None            # autocast's dtype; None: autocast is off, see casting.py
        self.autocast_settings: dict[str, tuple[bool, Any]] = {}     # by device type: (on, dtype); never mutated
        self.autocast_caching = True         # cache casts of weights within a block
        self.autocast_depth = 0              # the number of enclosing blocks
        self.autocast_cache: dict[Any, Any] | None = None            # the cached casts; None outside all blocks


modes: Modes = Modes()


# state(): the modes of the current thread as a dict, for code that runs at every call; for the compiled core see modes.pxd
state: Callable[[], dict[str, Any]] = functools.partial(getattr, modes, "__dict__")


def is_grad_enabled() -> bool:
    """Whether operations of this thread are recorded."""
    return bool(modes.recording & GRAD)


class Modal:
    """Base of context managers that also decorate: each call of a function, and each step of a generator, runs inside."""

    def clone(self) -> Any:
        """A new context manager of the same kind."""
        return type(self)()

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exception: object) -> None:
        raise NotImplementedError

    if TYPE_CHECKING:
        @overload
        def __call__(self, function: F) -> F: ...
        @overload                                    # under `@no_grad` mypy takes what __new__ gives for a no_grad
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    def __call__(self, function: Any) -> Any:
        clone = self.clone
        if inspect.isgeneratorfunction(function):
            return _wrap_generator(function, clone)

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with clone():
                return function(*args, **kwargs)

        return wrapped


class _Recording(Modal):
    """Sets `modes.recording` in a `with` block, or in every call of a decorated function."""

    def __init__(self, recording: bool) -> None:
        self._recording = recording
        self._before: list[int] = []                # a stack: an object may be entered again inside itself

    def clone(self) -> _Recording:
        """Another block that sets the same."""
        return _Recording(self._recording)

    def __enter__(self) -> None:
        self._before.append(modes.recording)
        keep = modes.recording & ~GRAD              # forward mode stays on, as in PyTorch
        modes.recording = keep | (self._recording and not modes.inference)

    def __exit__(self, *exception: object) -> None:
        # only this bit: an interceptor or a dual level may have begun in the block and outlive it
        modes.recording = (modes.recording & ~GRAD) | (self._before.pop() & GRAD)


def _wrap_generator(function: Callable[..., Any], block: Callable[[], Any]) -> Any:
    """Run each step of a generator in a block, and the code between two steps in the caller's modes."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        generator = function(*args, **kwargs)
        step, value = generator.send, None
        while True:
            try:
                with block():
                    item = step(value)
            except StopIteration as stop:
                return stop.value
            try:
                value = yield item
                step = generator.send
            except GeneratorExit:
                with block():
                    generator.close()
                raise
            except BaseException as error:          # passed into the generator, as `throw` requires
                step, value = generator.throw, error

    return wrapped


class no_grad(_Recording):
    """Context manager and decorator: operations inside are not recorded."""

    def __init__(self, function: Any = None) -> None:
        super().__init__(False)

    if TYPE_CHECKING:
        @overload
        def __new__(cls) -> Self: ...
        @overload
        def __new__(cls, function: F) -> F: ...      # type: ignore[misc]
        def __new__(cls, function: Any = None) -> Any: ...
    else:
        def __new__(cls, function: Any = None) -> Any:
            """`@no_grad` without parentheses is a decorator too."""
            return super().__new__(cls) if function is None else no_grad()(function)


class enable_grad(_Recording):
    """Context manager and decorator: operations inside are recorded, even within `no_grad`."""

    def __init__(self, function: Any = None) -> None:
        super().__init__(True)

    if TYPE_CHECKING:
        @overload
        def __new__(cls) -> Self: ...
        @overload
        def __new__(cls, function: F) -> F: ...      # type: ignore[misc]
        def __new__(cls, function: Any = None) -> Any: ...
    else:
        def __new__(cls, function: Any = None) -> Any:
            """`@enable_grad` without parentheses is a decorator too."""
            return super().__new__(cls) if function is None else enable_grad()(function)


class set_grad_enabled(_Recording):
    """Switch recording on or off immediately; as a context manager, restore the previous state on exit."""

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        self._before.append(modes.recording)
        modes.recording = (modes.recording & ~GRAD) | (self._recording and not modes.inference)

    def __enter__(self) -> None:
        """The switch was made by the constructor."""
        if not self._before:                        # entered a second time
            super().__enter__()

    def __call__(self, function: F) -> F:
        """As a decorator the switch counts inside the calls only."""
        modes.recording = (modes.recording & ~GRAD) | (self._before.pop() & GRAD)
        return super().__call__(function)


def is_multithreading_enabled() -> bool:
    """Whether backward passes of this thread run lanes in threads."""
    return modes.multithreading


class set_multithreading_enabled(Modal):
    """Set immediately whether backward passes of this thread run lanes in threads; as a context manager, restore on exit."""

    def __init__(self, mode: bool) -> None:
        self._mode, self._before = bool(mode), modes.multithreading
        modes.multithreading = self._mode

    def clone(self) -> set_multithreading_enabled:
        """Another block that sets the same."""
        return set_multithreading_enabled(self._mode)

    def __enter__(self) -> None:
        """The switch was made by the constructor."""

    def __exit__(self, *exception: object) -> None:
        modes.multithreading = self._before

    def __call__(self, function: F) -> F:
        """As a decorator the switch counts inside the calls only."""
        modes.multithreading = self._before
        return super().__call__(function)
