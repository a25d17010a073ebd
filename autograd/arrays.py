"""What the core asks of two arrays at every call: in a compiled core two comparisons in C, see arrays.pxd."""

from __future__ import annotations

from typing import Any


def alike(a: Any, b: Any) -> bool:
    """Whether two arrays have one dtype and one shape."""
    return a.dtype is b.dtype and a.shape == b.shape


__all__ = ["alike"]
