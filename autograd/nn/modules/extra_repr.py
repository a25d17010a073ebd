"""The text between the parentheses of a module's repr(): attributes as "name=value"."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...nn.module import Module


def format_attributes(module: Module, names: str, inplace: bool = False) -> str:
    """"name=value" for each attribute in `names`, joined by commas; inplace=True is added only if it is set."""
    parts = [f"{name}={getattr(module, name)}" for name in names.split()]
    return ", ".join([*parts, "inplace=True"] if inplace else parts)
