"""A Python frame around NumPy's functions, for the compiled core, which has no frames.

NumPy attributes its warnings (log(0), 0 / 0) to the innermost Python frame. autograd silences those of its own frames, as
PyTorch gives none; without this frame they would be attributed to the user's code."""

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
