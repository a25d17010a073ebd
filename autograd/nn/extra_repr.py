"""The text between the parentheses of a module's repr(): attributes as "name=value"."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .module import Module


def format_attributes(module: Module, names: str) -> str:
    """"name=value" for each attribute in `names`, joined by commas; one that ends in ? is left out where it is False."""
    parts = [(name, getattr(module, name.rstrip("?"))) for name in names.split()]
    return ", ".join(f"{name.rstrip('?')}={value}" for name, value in parts if value or name[-1] != "?")
