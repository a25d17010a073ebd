"""Docstrings of operations and of Tensor's methods, set when a name is first used, so that importing does not read them.

The other modules are written by docs/write_docstrings.py: TEXTS, the docstring of each name ("add", "Tensor.add_",
"linalg.norm"), one module for each room of ops, which is imported with the first use of the room.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any


def attach(functions: Mapping[str, Any], room: str, *prefixes: str) -> None:
    """Set the docstrings of functions by their names in the module `room`: the first of prefix + name that it has."""
    if sys.flags.optimize > 1:                       # python -OO: no docstrings
        return
    texts: dict[str, str] = import_module(f".{room}", __name__).TEXTS
    for name, function in functions.items():
        for prefix in prefixes:
            if prefix + name in texts:
                function.__doc__ = texts[prefix + name]
                break
