"""Arrays that share memory, with their offsets and strides in it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .source import Array


class View(NamedTuple):
    """An array as a view of another: the name of that one, the offset of its first byte, its strides."""

    of: str
    offset: int
    strides: tuple[int, ...]


def shared_views(arrays: dict[str, Array]) -> tuple[dict[str, View], dict[str, Array]]:
    """The View of every array that shares the memory of another one, and blocks of memory to be saved beside them.

    Arrays that overlap are laid in the first of them that holds all of the others; if there is none, in a block of bytes.
    Overlapping is judged by first and last byte, so the columns of one matrix count as sharing it."""
    found: dict[str, View] = {}
    blocks: dict[str, Array] = {}
    for start, end, names in _groups(arrays):
        of = next((n for n in names if arrays[n].flags.c_contiguous and arrays[n].nbytes == end - start), None)
        if of is None:
            block = _block(arrays[names[0]], start, end)
            if block is None:
                continue
            of = f"{names[0]}.memory"
            while of in arrays or of in blocks:
                of += "_"
            blocks[of] = block
        found |= {n: View(of, _address(arrays[n]) - start, arrays[n].strides) for n in names if n != of}
    return found, blocks


def _groups(arrays: dict[str, Array]) -> list[tuple[int, int, list[str]]]:
    """(first byte, last byte + 1, names) of every set of arrays that overlap."""
    groups: list[tuple[int, int, list[str]]] = []
    spans = [(*np.lib.array_utils.byte_bounds(array), name) for name, array in arrays.items() if array.size]
    for start, end, name in sorted(spans, key=lambda span: span[:2]):
        if groups and start < groups[-1][1]:
            first, last, names = groups[-1]
            groups[-1] = (first, max(last, end), [*names, name])
        else:
            groups.append((start, end, [name]))
    order = {name: number for number, name in enumerate(arrays)}
    return [(start, end, sorted(names, key=order.__getitem__)) for start, end, names in groups if len(names) > 1]


def _block(array: Array, start: int, end: int) -> Array | None:
    """The bytes between two addresses, of the array that owns the memory; None if they are not accessible."""
    owner: Any = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    flat = owner.ravel(order="K")
    low = _address(flat) - _address(owner)
    if low != 0 or start < _address(owner) or end > _address(owner) + owner.nbytes:
        return None
    return flat.view(np.uint8)[start - _address(owner):end - _address(owner)]     # type: ignore[no-any-return]


def _address(array: Array) -> int:
    """The address of the first element."""
    return int(array.__array_interface__["data"][0])
