"""Memory for large arrays, kept for the next array of the same size.

The C library keeps what is freed too, but cuts small pieces off it and then has none for the next large array: the heap of a
CNN grew to 112 MB where no more than 69 were ever in use, and stays at 80 with blocks.
"""

from __future__ import annotations

import threading
from math import prod
from time import perf_counter_ns
from typing import Any

import numpy as np

from ..base.refcounts import holders
from ..base.types import Array
from .addresses import address

LARGE = 1 << 22                      # bytes from which an array is worth a block
IDLE = 1 << 26                       # bytes in unused blocks beyond which the oldest are released
LINE = 64                            # bytes of a cache line


class Block(np.ndarray[Any, Any]):
    """Bytes. It is a separate class so that views of an array in a block refer to the array: otherwise NumPy would let them
    refer to the block, and the array could not be distinguished from its views."""

    __slots__ = ()


class Pool:
    """The blocks of this process, by size: used and unused ones. A block is in use as long
    as an array holds it."""

    def __init__(self) -> None:
        self.lock: threading.Lock = threading.Lock()
        self.blocks: dict[int, list[Block]] = {}
        self.watched = 0                             # by so many who are to see each array's memory come and go: no blocks
        self.seen: list[tuple[int, int]] = []        # while it is watched: when which address was given to an array

    def clear(self) -> None:
        """Release all unused blocks."""
        with self.lock:
            _give_up(0)


pool: Pool = Pool()


def owns_memory(array: Array) -> bool:
    """Whether the array's memory is its own, or a whole block: whether it is no view of another array."""
    return array.base is None or type(array.base) is Block


def empty(shape: tuple[int, ...], dtype: np.dtype[Any], strides: tuple[int, ...] | None = None) -> Array:
    """A new array, as np.ndarray() makes it. A large one lies in a block, and so does not own its memory."""
    size = prod(shape) * dtype.itemsize
    # If the lock is taken, allocate normally: the holder may be this thread (the collector runs a finaliser inside it), or
    # a thread that did not survive a fork.
    if pool.watched:
        array = np.ndarray(shape, dtype, strides=strides)
        pool.seen.append((perf_counter_ns(), array.__array_interface__["data"][0]))
        return array
    if size < LARGE or not pool.lock.acquire(blocking=False):
        return np.ndarray(shape, dtype, strides=strides)
    try:
        kept = pool.blocks.setdefault(size, [])
        for number, count in enumerate(holders(kept)):
            if not count:
                block = kept.pop(number)
                break
        else:
            _give_up(IDLE)
            block = _aligned(size)
        kept.append(block)                           # the last ones used stay longest
        return np.ndarray(shape, dtype, block, 0, strides)
    finally:
        pool.lock.release()


def _aligned(size: int) -> Block:
    """A block that starts at a cache line: vectors that lie in two lines take up to 1.25 times as long."""
    memory = Block(size + LINE, np.uint8)
    start = -address(memory) % LINE
    return memory[start:start + size]


def watch(on: bool) -> None:
    """From here on someone is to see the memory of each array come and go (not any more): there are no blocks."""
    with pool.lock:
        pool.watched += 1 if on else -1
        pool.seen = []
    pool.clear()


def _give_up(most: int) -> None:
    """Release unused blocks, of the sizes requested longest ago first, until `most` bytes are left."""
    idle = sum(size for size, kept in pool.blocks.items() for count in holders(kept) if not count)
    for size, kept in pool.blocks.items():
        for number, count in reversed(list(enumerate(holders(kept)))):
            if idle <= most:
                return
            if not count:
                del kept[number]
                idle -= size


def empty_like(x: Array) -> Array:
    """A new array of x's shape, dtype and, if x is dense, order of memory."""
    if x.nbytes < LARGE and not pool.watched:
        return np.empty_like(x)
    order = sorted(range(x.ndim), key=lambda axis: -x.strides[axis])
    dense = x.transpose(order).flags.c_contiguous
    return empty(x.shape, x.dtype, x.strides if dense else None)
