"""The CPU under the names that scripts ask of a device.

May import: base, amp, observe. Read first: this page.
"""

from __future__ import annotations

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
    """True: the CPU is always there.

    Returns:
        bool: True.

    Example:
        >>> ag.cpu.is_available()
        True
    """
    return True


def is_initialized() -> bool:
    """True: the CPU needs no initialisation.

    Returns:
        bool: True.

    Example:
        >>> ag.cpu.is_initialized()
        True
    """
    return True


def device_count() -> int:
    """1: the CPU counts as one device.

    Returns:
        int: 1.

    Example:
        >>> ag.cpu.device_count()
        1
    """
    return 1


def current_device() -> str:
    """The string "cpu", as PyTorch returns it.

    Returns:
        str: The name.

    Example:
        >>> ag.cpu.current_device()
        'cpu'
    """
    return "cpu"


def set_device(device: DeviceLike) -> None:
    """Accepted: there is one.

    Args:
        device: Has no effect.

    Example:
        >>> ag.cpu.set_device('cpu')
    """


def synchronize(device: DeviceLike = None) -> None:
    """Nothing to wait for: operations have ended when they return.

    Args:
        device: Has no effect. Default: None.

    Example:
        >>> ag.cpu.synchronize()
    """


__all__ = ["amp", "current_device", "device_count", "is_available", "is_initialized", "max_memory_allocated",
           "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_reserved", "memory_snapshot", "memory_stats",
           "memory_summary", "predict_memory", "reset_peak_memory_stats", "set_device", "synchronize"]
