"""explain_factor(): which mistake makes gradients wrong by a power of the number of ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

TOO_SMALL = ("backward divides by the number of ranks, or does not sum over them. Collectives here have the gradients of "
             "the SUM of all ranks' losses, and only DataParallel divides")
TOO_LARGE = ("backward sums one replicated loss over all ranks. Collectives here have the gradients of the SUM of all "
             "ranks' losses: for one replicated loss use CopyToRanks and ReduceFromRanks, or divide the loss by the "
             "number of ranks")


def explain_factor(given: ArrayLike, right: ArrayLike, size: int, rtol: float = 1e-5) -> str:
    """Explain gradients that are N, 1/N, N**2 or 1/N**2 times the correct ones, with N = size, or "": docs/convention.md."""
    a, b = np.ravel(np.asarray(given)), np.ravel(np.asarray(right))
    if size < 2 or not a.size or a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()) or not b.any():
        return ""
    atol = rtol * float(np.max(np.abs(b)))
    for power in (1, 2):
        for factor, words, why in ((size**-power, "too small", TOO_SMALL), (size**power, "too large", TOO_LARGE)):
            if np.allclose(a / factor, b, rtol=rtol, atol=atol):
                what = "the number of ranks" + (" squared" if power == 2 else "")
                return f"the gradient is off by exactly {size**power} = {what}, {words}: {why}"
    return ""


def common_factor(pairs: Sequence[tuple[float, float]], size: int) -> str:
    """explain_factor() of pairs (given, right), as the end of an error message."""
    text = explain_factor([a for a, _ in pairs], [b for _, b in pairs], size)
    return f"; {text}" if text else ""
