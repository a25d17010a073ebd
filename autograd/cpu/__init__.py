"""The CPU under the names that scripts ask of a device.

May import: base, amp, observe. Read first: this page."""

from __future__ import annotations

from ..base import docstrings as _docstrings
from ..base.types import DeviceLike
from ..observe.profiler import (
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_summary,
    predict_memory,
    reset_peak_memory_stats,
)
from . import amp


def is_available() -> bool:
    """True: the CPU is always there."""
    return True


def is_initialized() -> bool:
    """True: the CPU needs no initialisation."""
    return True


def device_count() -> int:
    """1: the CPU counts as one device."""
    return 1


def current_device() -> str:
    """The string "cpu", as PyTorch returns it."""
    return "cpu"


def set_device(device: DeviceLike) -> None:
    """Accepted: there is one."""


def synchronize(device: DeviceLike = None) -> None:
    """Nothing to wait for: operations have ended when they return."""


__all__ = ["amp", "current_device", "device_count", "is_available", "is_initialized", "max_memory_allocated",
           "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_reserved", "memory_snapshot", "memory_stats",
           "memory_summary", "predict_memory", "reset_peak_memory_stats", "set_device", "synchronize"]

_docstrings.complete(globals(), "backends", "cpu.")
