"""Accelerators of any kind: there are none."""

from __future__ import annotations

from typing import Any

from ..base import docstrings as _docstrings


def is_available() -> bool:
    """False: tensors live in the CPU's memory."""
    return False


def device_count() -> int:
    """0, since there is no accelerator."""
    return 0


def current_accelerator(check_available: bool = False) -> Any:
    """None, since there is no accelerator."""
    return None

_docstrings.complete(globals(), "compat", "accelerator.")
