"""One element of each row of a matrix."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@lru_cache(maxsize=64)
def numbers(rows: int) -> Array:
    """0 to rows - 1, a constant."""
    made = np.arange(rows)
    made.flags.writeable = False
    return made


def picked(x: Array, index: Array) -> Array:
    """x[i, index[i]] for each row i."""
    if type(x) is not np.ndarray:                    # of a rule that is being recorded: see tracing/inline.py
        return x.kernel(picked, x, index)  # type: ignore[attr-defined, no-any-return]
    return x[numbers(len(x)), index]  # type: ignore[no-any-return]


def take_away(x: Array, index: Array, share: Any) -> None:
    """x[i, index[i]] -= share[i], or one number for all rows."""
    if type(x) is not np.ndarray:
        x.kernel(take_away, x, index, share)  # type: ignore[attr-defined]
        return
    x[numbers(len(x)), index] -= share
