"""Random streams of worker threads: in such a thread the functions of `random` and `numpy.random` draw from its own.

While a worker thread runs, these functions are replaced by ones that choose the stream by thread; in other threads they call
the original. A function that was imported by name (`from random import shuffle`) before is the original, and draws from the
stream that all threads share."""

from __future__ import annotations

import contextlib
import functools
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...modes.random import Generator, use_generator


@dataclass(frozen=True)
class ThreadStreams:
    """The random streams of a worker thread. Functions without a generator draw from `torch_generator`, those of `random`
    from `random_generator`, and those of `numpy.random` from `numpy_state`; `numpy_generator` is for the user."""

    random_generator: random.Random
    torch_generator: Generator
    numpy_generator: np.random.Generator
    numpy_state: np.random.RandomState

    @staticmethod
    def seeded(base_seed: int, number: int) -> ThreadStreams:
        """The streams of worker `number`."""
        seed = base_seed + number
        return ThreadStreams(random.Random(seed), Generator().manual_seed(seed), np.random.default_rng(seed),
                             np.random.RandomState(numpy_seed(base_seed, number)))


class _Own(threading.local):
    streams: ThreadStreams | None = None


_own = _Own()
_lock = threading.Lock()
_threads = 0                                         # with streams of their own
_replaced: list[tuple[Any, str, Any, Any]] = []      # module, name, the original function, the one in its place


def numpy_seed(base_seed: int, number: int) -> Any:
    """The seed of NumPy's stream in worker `number`, as PyTorch derives it."""
    words = [number, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return np.random.SeedSequence(words).generate_state(4)


@contextlib.contextmanager
def own_streams(streams: ThreadStreams) -> Iterator[None]:
    """A block in which this thread draws from `streams`."""
    global _threads
    use_generator(streams.torch_generator)
    _own.streams = streams
    with _lock:
        _threads += 1
        if _threads == 1:
            _replace()
    try:
        yield
    finally:
        _own.streams = None
        with _lock:
            _threads -= 1
            if _threads == 0:
                _put_back()


def _replace() -> None:
    """Let the modules' functions choose their stream by thread."""
    hidden: Any = random
    shared: Any = np.random.mtrand._rand             # type: ignore[attr-defined]
    for module, source, field in ((random, hidden._inst, "random_generator"), (np.random, shared, "numpy_state")):
        for name in dir(module):
            function = getattr(module, name)
            if getattr(function, "__self__", None) is source:
                _replaced.append((module, name, function, _by_thread(function, field, name)))
    for name, method in (("seed", "seed"), ("ranf", "random_sample"), ("sample", "random_sample")):
        function = getattr(np.random, name)          # these are functions of the module that call the shared stream
        _replaced.append((np.random, name, function, _by_thread(function, "numpy_state", method)))
    for module, name, _, replacement in _replaced:
        setattr(module, name, replacement)


def _put_back() -> None:
    """Restore the modules' own functions, except where another replacement was made in the meantime."""
    for module, name, function, replacement in _replaced:
        if getattr(module, name) is replacement:
            setattr(module, name, function)
    _replaced.clear()


def _by_thread(function: Callable[..., Any], field: str, method: str) -> Callable[..., Any]:
    """The function, or in a thread with own streams that method of its own stream."""
    @functools.wraps(function)
    def draw(*args: Any, **kwargs: Any) -> Any:
        streams = _own.streams
        return (function if streams is None else getattr(getattr(streams, field), method))(*args, **kwargs)

    return draw
