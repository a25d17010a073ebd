"""Random streams of this library, NumPy and Python: reading their states and restoring them.

A stream is anything with get_state/set_state, getstate/setstate or a bit generator; the modules `random` and
`numpy.random` are the streams that their functions draw from.
"""

from __future__ import annotations

import contextlib
import ctypes
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.random import Generator, default_generator
from ...core.tensor import Tensor, result

WORDS = 624 * 4 + 4                                  # bytes of a MT19937: its numbers, and how many of them are used
KINDS = (Generator, np.random.Generator, np.random.RandomState, random.Random)


def shared_streams() -> dict[str, Any]:
    """The streams that functions draw from by default."""
    return {"default": default_generator(), "random": random, "numpy": np.random}


def states(streams: dict[str, Any]) -> dict[str, Any]:
    """The state of each stream."""
    return {name: _state(stream) for name, stream in streams.items()}


def restore(streams: dict[str, Any], saved: dict[str, Any]) -> None:
    """Let those of `streams` whose state was saved go on from there."""
    for name, stream in streams.items():
        if name in saved:
            _restore(stream, saved[name])


@contextlib.contextmanager
def as_of(streams: dict[str, Any], saved: dict[str, Any]) -> Iterator[None]:
    """A block in which the streams have their saved states; after it the shared ones have their former states."""
    common = shared_streams()
    before = states(common)
    restore(streams, saved)
    try:
        yield
    finally:
        restore(common, before)


def shared_states(last: dict[str, Any] | None) -> dict[str, Any]:
    """states(shared_streams()), given what this gave the last time: NumPy's, which takes 30 us to read, is read only if its
    bytes have changed, or if it may hand out the second of a pair of normal numbers, which no byte of them tells."""
    streams = shared_streams()
    numpy = streams.pop("numpy")
    bits = numpy.get_bit_generator() if hasattr(numpy, "get_bit_generator") else None          # NumPy 1.24
    memory = ctypes.string_at(bits.ctypes.state_address, WORDS) if isinstance(bits, np.random.MT19937) else None
    found = states(streams)
    if last is not None and memory is not None and memory == last["memory"] and not last["numpy"][3]:
        return {**found, "numpy": last["numpy"], "memory": memory}
    return {**found, "numpy": _state(numpy), "memory": memory}


def _state(stream: Any) -> Any:
    if isinstance(stream, np.random.Generator):
        return stream.bit_generator.state
    return stream.get_state() if hasattr(stream, "get_state") else stream.getstate()


def portable(value: Any) -> Any:
    """A saved state with lists for tuples and tensors for arrays, as files hold them."""
    if isinstance(value, dict):
        return {key: portable(part) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [portable(part) for part in value]
    return result(value.copy()) if isinstance(value, np.ndarray) else value


def _arrays(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _arrays(part) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [_arrays(part) for part in value]
    return value.array if isinstance(value, Tensor) else value


def _restore(stream: Any, saved: Any) -> None:
    if not isinstance(stream, Generator):
        saved = _arrays(saved)
    if isinstance(stream, np.random.Generator):
        stream.bit_generator.state = saved
    elif hasattr(stream, "get_state"):
        stream.set_state(saved)
    else:
        version, words, rest = saved
        stream.setstate((version, tuple(words), rest))
