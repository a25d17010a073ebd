"""A Python frame around NumPy's functions, for a compiled core, which has none of its own.

NumPy's warnings (log(0), 0 / 0) name the innermost Python frame; without one of ours they would name the user's, and our
filter, which silences them as PyTorch is silent, would not know them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .extensions import in_use


def framed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A ufunc of one or two inputs as a Python function where the core is compiled; anything else as it is."""
    if not in_use or not isinstance(function, np.ufunc):
        return function
    call: Callable[..., Any] = (lambda a: function(a)) if function.nin == 1 else (lambda a, b: function(a, b))
    call.__qualname__ = call.__name__ = function.__name__        # for messages and programs of traces
    return call


__all__ = ["framed"]
