"""Checks of arguments that many functions take. `what` is the call as the error begins it, such as "Logger(every"."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


def whole_number(what: str, value: Any, least: int | None = 0) -> int:
    """value as an int; NumPy's whole numbers count. TypeError for a bool and for anything else, ValueError below `least`."""
    needed = f"{what}={value!r}): a whole number{'' if least is None else f' of at least {least}'} is needed"
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise TypeError(needed)
    try:
        number = operator.index(value)
    except TypeError:                                # an array or a Tensor of several elements
        raise TypeError(needed) from None
    if least is not None and number < least:
        raise ValueError(needed)
    return number


def whole_numbers(call: str, **values: Any) -> None:
    """TypeError, such as "Linear(in_features=None): a whole number is needed", unless all values are whole numbers."""
    for name, value in values.items():
        whole_number(f"{call}({name}", value, None)


def real_number(what: str, value: Any) -> float:
    """value as a float. TypeError for what float() does not take."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{what}={value!r}): a number is needed") from None


def listed(what: str, values: Iterable[T], stacklevel: int = 3) -> list[T]:
    """The values as a list. Warns if an iterator gives none: it may have been used up before."""
    found = list(values)
    if not found and isinstance(values, Iterator):
        warnings.warn(f"{what} is an empty generator, so nothing is done. A generator gives its elements once: call "
                      "model.parameters() again, or pass a list.", UserWarning, stacklevel=stacklevel)
    return found
