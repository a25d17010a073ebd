"""Random streams of this library, NumPy and Python: reading their states and restoring them.

A stream is anything with get_state/set_state, getstate/setstate or a bit generator; the modules `random` and `numpy.random`
are the streams that their functions draw from."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import random
import struct
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.tensor import Tensor, result
from ...modes.random import Generator, default_generator

MT19937_NUMBERS, PHILOX_NUMBERS = 624, 4             # that are drawn at once
MT19937 = 4 * (MT19937_NUMBERS + 1)                  # bytes: the numbers, and how many of them are used
PCG64 = 32                                           # bytes
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
    try:
        restore(streams, saved)
        yield
    finally:
        restore(common, before)


class SharedStates:
    """The states of the shared streams, asked for after every step: a stream is read only if its memory has changed since
    the last time (2 us for all three; to read them takes 45)."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[Any, Any]] = {}          # what memory_of() gave, and the state

    def read(self) -> dict[str, Any]:
        """The same as states(shared_streams())."""
        for name, stream in shared_streams().items():
            memory, last = memory_of(stream), self._last.get(name)
            if last is None or memory is None or memory != last[0] or (name == "numpy" and last[1][3]):
                self._last[name] = memory, _state(stream)    # [3]: it still has the second of a pair of normal numbers
        return {name: state for name, (_, state) in self._last.items()}


def memory_of(stream: Any) -> Any:
    """What changes whenever numbers are drawn from one of the shared streams, but for the second of a pair of normal numbers
    of NumPy's; None where that is not known."""
    bits: Any
    if isinstance(stream, Generator):
        bits = stream.numpy.bit_generator
        if isinstance(bits, np.random.PCG64):
            address = bits.ctypes.state_address
            numbers = ctypes.cast(address, ctypes.POINTER(ctypes.c_void_p))[0]
            return stream.initial_seed(), ctypes.string_at(numbers, PCG64), ctypes.string_at(address + 8, 8)
    elif stream is np.random:
        bits = stream.get_bit_generator() if hasattr(stream, "get_bit_generator") else None      # NumPy 1.24
        if isinstance(bits, np.random.MT19937):
            return ctypes.string_at(bits.ctypes.state_address, MT19937)
    elif stream is random and python_memory_is_known():
        hidden: Any = random
        return ctypes.string_at(id(hidden._inst) + object.__basicsize__, MT19937), hidden._inst.gauss_next
    return None


@functools.cache
def python_memory_is_known() -> bool:
    """Whether Python's stream lies in memory as in CPython 3.10 to 3.14: how many numbers are used, then all 624."""
    hidden: Any = random
    if sys.implementation.name != "cpython" or type(hidden._inst).__basicsize__ < object.__basicsize__ + MT19937:
        return False
    words = struct.unpack("=625I", ctypes.string_at(id(hidden._inst) + object.__basicsize__, MT19937))
    return (*words[1:], words[0]) == random.getstate()[1]


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
        _check_positions(saved)
    if isinstance(stream, np.random.Generator):
        stream.bit_generator.state = saved
    elif hasattr(stream, "get_state"):
        stream.set_state(saved)
    else:
        version, words, rest = saved
        stream.setstate((version, tuple(words), rest))


def _check_positions(saved: Any) -> None:
    """ValueError for a position outside of the numbers that it counts. NumPy takes any, and then reads other memory: a
    damaged or forged file would end the process by a segmentation fault."""
    inner = saved.get("state") if isinstance(saved, dict) else None
    found = {"pos": (inner.get("pos", 0) if isinstance(inner, dict) else 0, MT19937_NUMBERS)}
    if isinstance(saved, dict):
        found["buffer_pos"] = saved.get("buffer_pos", 0), PHILOX_NUMBERS
    elif isinstance(saved, (list, tuple)) and len(saved) > 2 and saved[0] == "MT19937":
        found["pos"] = saved[2], MT19937_NUMBERS
    for name, (position, most) in found.items():
        if not isinstance(position, (int, np.integer)) or not 0 <= position <= most:
            raise ValueError(f"the {name} of a random stream's state is {position!r:.100}, and not a number from 0 to "
                             f"{most}")
