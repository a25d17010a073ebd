"""Docstrings of public names; those of operations are set when a name is first used, so that importing does not read them.

The build writes the other modules (tools/docstrings.py): TEXTS, the docstring of each name ("add", "Tensor.add_",
"linalg.norm"), one module for each room, which is imported with the first use of the room. dparallel's lie in rooms,
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
    found = texts(f"{__name__}.{room}")
    for name, function in functions.items():
        for prefix in prefixes:
            if prefix + name in found:
                function.__doc__ = found[prefix + name]
                break


def complete(names: Mapping[str, Any], room: str, prefix: str) -> None:
    """Set the docstrings of the functions, classes and methods of a module that the module `room` has under prefix + name.
    """
    for path, text in texts(f"{__name__}.{room}").items():
        name, _, method = path.removeprefix(prefix).partition(".")
        found = names.get(name) if path.startswith(prefix) else None
        found = vars(found).get(method) if found is not None and method else found
        if found is not None:
            found.__doc__ = getattr(found, "__func__", found).__doc__ = text


def texts(module: str) -> dict[str, str]:
    """The docstrings that a module has: none in a checkout that was not built, or under python -OO."""
    try:
        found: dict[str, str] = {} if sys.flags.optimize > 1 else import_module(module).TEXTS
    except ModuleNotFoundError:
        return {}
    return found


def attach_to_modules(*rooms: str) -> None:
    """Set the docstrings that ROOM._docstrings has, for each room, of functions and classes in modules that are imported."""
    for room in rooms:
        for path, text in texts(f"{room}._docstrings").items():
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
