"""Reports NumPy's allocations of array memory to spans.py. Only the compiled core can observe them: see allocations.pxd."""

from __future__ import annotations

from collections.abc import Callable


def watch(note: Callable[[int, int], None]) -> None:
    """Call note(bytes, address) at each allocation, and note(-bytes, address) before each release."""
    raise NotImplementedError("profile(profile_memory=True) needs the compiled core: only C can see NumPy's allocations. "
                              "`pip install -e .` compiles it")


def unwatch() -> None:
    """Stop calling it."""
