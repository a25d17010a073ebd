"""Memory of recorded arrays that the step itself has dropped: they keep their address, which identifies them, but no pages.

A recording holds each array that the step has computed, although the step holds few of them at a time.
"""

from __future__ import annotations

import ctypes
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ...base.refcounts import holders
from ...base.types import Array
from ...kernels.addresses import address
from ...kernels.blocks import Block
from .calls import Value, root_of

LARGE = 1 << 16                      # bytes from which an array is worth it
BETWEEN = 1 << 22                    # bytes of new arrays after which dropped ones are looked for
PAGE = 1 << 12
DONTNEED = 4


class Released:
    """The large values of a recording whose memory has pages."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self.new = 0                                 # bytes since the last search
        self.advise: Any = getattr(ctypes.CDLL(None), "madvise", None) if sys.platform == "linux" else None

    def add(self, value: Value, by_root: dict[int, list[Value]]) -> None:
        """Note a value that a call has made."""
        if value.array.nbytes >= LARGE and self.advise is not None:
            self.values.append(value)
            self.new += value.array.nbytes
            if self.new >= BETWEEN:
                self.search(by_root)

    def search(self, by_root: dict[int, list[Value]]) -> None:
        """Give back the pages of arrays that the recording alone holds."""
        self.new = 0
        self.values = [v for v in self.values if not self._drop(v, by_root)]

    def _drop(self, value: Value, by_root: dict[int, list[Value]]) -> bool:
        """Give the pages back if the recording alone holds the array; whether that is done."""
        root = root_of(value.array)
        family = by_root.get(id(root), ())
        if value not in family:                      # it was rolled back
            return True
        if is_held([v.array for v in family], root):
            return False
        self.empty(root)
        return True

    def empty(self, root: Array) -> None:
        """Give back the whole pages of an array's memory."""
        start = address(root)
        first, end = -(-start // PAGE) * PAGE, (start + root.nbytes) // PAGE * PAGE
        if end > first:
            self.advise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), DONTNEED)


def is_held(arrays: list[Array], root: Array) -> bool:
    """Whether anything but a list of these arrays, the owner of each, and the caller refers to them or to their root."""
    expected: Counter[int] = Counter()               # references to each object
    chain: dict[int, Array] = {id(root): root}       # the arrays, and those of which they are views
    for array in arrays:
        expected[id(array)] += 2
        while id(array) not in chain:
            chain[id(array)] = array
            assert array.base is not None
            expected[id(array.base)] += 1
            array = array.base
    expected[id(root)] += 2
    for each in chain.values():                      # the pool's blocks; see kernels/blocks.py
        expected[id(each)] += type(each) is Block and each is not root
    del array, each
    found = holders([*chain.values()])
    return any(n != 1 + expected[key] for key, n in zip(chain, found, strict=True))


__all__: Sequence[str] = ["Released"]
