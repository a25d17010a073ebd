"""Writes by the library itself, such as a broadcast of buffers between two forward passes.

A user's write invalidates the values that nodes saved from the memory. A write by the library must not, as the user has
changed nothing: nodes keep the values that they saved. The memory stays the same, so views, detach() and numpy() see the new
values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .graph import shared_counter
from .versions import KeptVersions


def keep_saved(tensors: Iterable[Any]) -> None:
    """From now on, nodes keep the values they save from these tensors when overwrite() changes them."""
    for t in tensors:
        counter = t.counter
        if counter is None or counter.kept is None:
            counter = shared_counter(t)
            counter.kept = KeptVersions(counter.value)


def overwrite(tensors: Sequence[Any], values: Sequence[Any]) -> None:
    """Write values into the tensors' memory if any bit differs."""
    changed: dict[Any, list[tuple[Any, Any]]] = {}   # by counter, which aliases share
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
    """Whether two arrays of the same shape and dtype are bitwise equal, including nan."""
    return bool(a.tobytes() == b.tobytes())
