"""Where temporaries lie in one block of memory: those that are never needed at the same time share a place."""

from __future__ import annotations

from typing import Any

from ..lowering.ir import Storage
from .fuse import Group

LINE = 64                            # bytes to which places are aligned


def places(items: list[Any]) -> tuple[dict[Storage, int], int]:
    """Bytes from the block's start for each temporary that needs memory, and the block's size."""
    first: dict[Storage, int] = {}
    last: dict[Storage, int] = {}
    for n, item in enumerate(items):
        for s in item.reads | item.writes:
            if not s.outside:
                first.setdefault(s, n)
                last[s] = n
    for n, item in enumerate(items):
        if isinstance(item, Group):
            for s in item.in_registers():
                if not s.keep and first.get(s) == last.get(s) == n:
                    del first[s], last[s]
    taken: list[tuple[int, int, int, int]] = []
    out, size = {}, 0
    for s in sorted(first, key=lambda s: (-s.size * s.dtype.itemsize, first[s])):
        a, b = first[s], len(items) if s.keep else last[s]
        length = max(LINE, -(-s.size * s.dtype.itemsize // LINE) * LINE)
        at = 0
        for begin, end, _, _ in sorted(t for t in taken if t[2] <= b and a <= t[3]):
            if at + length <= begin:
                break
            at = max(at, end)
        taken.append((at, at + length, a, b))
        out[s] = at
        size = max(size, at + length)
    return out, size
