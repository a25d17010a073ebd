"""Converts the Tensor arguments of other packages' functions to arrays."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.tensor import Tensor


def values(x: Any) -> Any:
    """A Tensor's array, as float32 for bfloat16; anything else unchanged. RuntimeError for a Tensor that requires grad."""
    if not isinstance(x, Tensor):
        return x
    array = x.numpy()
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def given_values(home: str, name: str, convert: Callable[[Any], Any] = values) -> None:
    """Let the function `name` of the module `home` get its arguments by position through `convert`: there, and in those
    modules of its package that have imported it by its name. Nothing happens where a version has no such function."""
    theirs = getattr(sys.modules.get(home), name, None)
    if theirs is None:
        return

    @functools.wraps(theirs)
    def ours(*args: Any, **kwargs: Any) -> Any:
        return theirs(*map(convert, args), **kwargs)

    for module_name, module in list(sys.modules.items()):
        if module_name.partition(".")[0] == home.partition(".")[0] and getattr(module, name, None) is theirs:
            setattr(module, name, ours)
