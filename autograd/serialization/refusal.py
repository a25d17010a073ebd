"""The errors about objects that cannot be saved: the class, the keys that lead to the object, and what to save instead."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, NoReturn


def refuse(value: Any, path: tuple[Any, ...], why: str | None = None, also: str = "") -> NoReturn:
    """Raise a TypeError about the object that the keys `path` lead to. why: what is wrong, if not its class."""
    raise TypeError(f"save: {described(value, path)}: {why or 'a file of weights holds no objects of this class'}{also}. "
                    f"{remedy(value, why)}")


def described(value: Any, path: tuple[Any, ...]) -> str:
    """The position and the class of the object."""
    where = "the object given to save()" if not path else "obj" + "".join(f"[{key!r:.60}]" for key in path)
    cls = type(value)
    return f"{where} is a {cls.__qualname__ if cls.__module__ == 'builtins' else f'{cls.__module__}.{cls.__qualname__}'}"


def remedy(value: Any, why: str | None = None) -> str:
    """What the error suggests instead."""
    if hasattr(value, "dtype") and why:
        return ("Save view_as_real(tensor)." if "complex" in why else
                "Save an array of bool, integer, floating or complex64 elements.")
    if why:
        return "Save it without the circle."
    if isinstance(value, type):
        return "Save its name, and find the class by it after load()."
    if callable(getattr(value, "state_dict", None)):
        return "Save its state_dict()."
    if isinstance(value, enum.Enum):
        return "Save its .value or .name."
    if dataclasses.is_dataclass(value):
        return "Save dataclasses.asdict() of it."
    for cls in (dict, list, tuple, set, str, bool, int, float):
        if isinstance(value, cls):
            return f"Save {cls.__name__}() of it."
    if callable(value):
        return "Save its name, and find the function by it after load()."
    if hasattr(value, "__dict__"):
        return "Save vars() of it, or those of its numbers, strings, lists, dicts and tensors that matter."
    return "Save the numbers, strings, lists, dicts and tensors that it is made of."
