"""Writes that the library makes on its own, such as a broadcast of buffers between two forward passes.

A write of the user's invalidates what nodes have saved of the memory. One of these must not, as the user has changed
nothing: nodes keep the values that they saved. The memory stays the same, so that views, detach() and numpy() see the new
values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .graph import shared_counter
from .versions import KeptVersions


def keep_saved(tensors: Iterable[Any]) -> None:
    """From now on, let nodes keep what they save of these tensors when overwrite() changes them."""
    for t in tensors:
        counter = t.counter
        if counter is None or counter.kept is None:
            counter = shared_counter(t)
            counter.kept = KeptVersions(counter.value)


def overwrite(tensors: Sequence[Any], values: Sequence[Any]) -> None:
    """Write values into the tensors' memory, where they differ in a bit."""
    changed: dict[Any, list[tuple[Any, Any]]] = {}   # by counter: aliases have one
    for t, new in zip(tensors, values, strict=True):
        if not same_bits(t.array, new):
            changed.setdefault(shared_counter(t), []).append((t.array, new))
    for counter, pairs in changed.items():
        version = None if counter.kept is None else counter.kept.current(counter.value)
        if version is not None:
            version.keep([array for array, _ in pairs])
        for array, new in pairs:
            np.copyto(array, new)
        counter.value += 1


def same_bits(a: Any, b: Any) -> bool:
    """Whether two arrays of one shape and dtype have the same bits, nan's too."""
    return bool(a.tobytes() == b.tobytes())
