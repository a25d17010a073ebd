"""Docstrings of operations and of Tensor's methods, set when a name is first used, so that importing does not read them;
and where pickle finds them.

The build writes the other modules (tools/docstrings.py): TEXTS, the docstring of each name ("add", "Tensor.add_",
"linalg.norm"), one module for each room of ops, which is imported with the first use of the room. dparallel's lie in rooms,
with paths such as "dparallel.comm.job:world". In a checkout that was not built, functions have the docstrings of the code.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import FunctionType
from typing import Any

PACKAGE = __name__.partition(".base.")[0]


def attach(functions: Mapping[str, Any], room: str, *prefixes: str) -> None:
    """Set the docstrings of functions by their names in the module `room`: the first of prefix + name that it has. Pickle
    finds the functions under the first prefix."""
    for name, function in functions.items():
        if callable(function) and not is_found(function):
            function.__module__, function.__qualname__ = address(prefixes[0] + name)
    if sys.flags.optimize > 1:                       # python -OO: no docstrings
        return
    try:
        texts: dict[str, str] = import_module(f".{room}", __name__).TEXTS
    except ModuleNotFoundError:
        return
    for name, function in functions.items():
        for prefix in prefixes:
            if prefix + name in texts:
                function.__doc__ = texts[prefix + name]
                break


def attach_to_modules(*rooms: str) -> None:
    """Set the docstrings that ROOM._docstrings has, for each room, of functions and classes in modules that are imported."""
    for room in rooms if sys.flags.optimize < 2 else ():
        try:
            texts: dict[str, str] = import_module(f"{room}._docstrings").TEXTS
        except ModuleNotFoundError:
            continue
        for path, text in texts.items():
            module, _, name = path.partition(":")
            if module in sys.modules:
                owner: Any = sys.modules[module]
                *classes, last = name.split(".")
                for part in classes:
                    owner = getattr(owner, part)
                found = vars(owner)[last]
                getattr(found, "__func__", found).__doc__ = text


def is_found(function: Any) -> bool:
    """Whether pickle finds a function by its module and qualified name. Other objects have ways of their own."""
    if type(function) is not FunctionType and type(function).__name__ != "cython_function_or_method":
        return True
    found: Any = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
    return found is function


def address(name: str) -> tuple[str, str]:
    """Module and qualified name of "nn.functional.relu", "Tensor.add_", or "add"."""
    module, _, last = name.rpartition(".")
    return (PACKAGE, name) if module in ("", "Tensor") else (f"{PACKAGE}.{module}", last)
