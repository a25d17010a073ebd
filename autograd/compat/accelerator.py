"""Accelerators of any kind: there are none."""

from __future__ import annotations

from typing import Any


def is_available() -> bool:
    """False: tensors live in the CPU's memory.

    Returns:
        bool: False.

    Example:
        >>> ag.accelerator.is_available()
        False
    """
    return False


def device_count() -> int:
    """0, since there is no accelerator.

    Returns:
        int: 0.

    Example:
        >>> ag.accelerator.device_count()
        0
    """
    return 0


def current_accelerator(check_available: bool = False) -> Any:
    """None, since there is no accelerator.

    Args:
        check_available (bool): Has no effect. Default: False.

    Returns:
        None.

    Example:
        >>> print(ag.accelerator.current_accelerator())
        None
    """
    return None
