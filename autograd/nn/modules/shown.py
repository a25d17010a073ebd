"""What print() shows of a module."""

from __future__ import annotations

from typing import Any


def shown(module: Any, names: str, inplace: bool = False) -> str:
    """name=value of the attributes named; inplace=True is added only where it is so."""
    parts = [f"{name}={getattr(module, name)}" for name in names.split()]
    return ", ".join([*parts, "inplace=True"] if inplace else parts)
