"""Which files the time of a step is spent in, besides matrix products and convolutions."""

from __future__ import annotations

import cProfile
import pstats
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runs import ROOT

KERNELS = ("autograd/kernels/products.py", "autograd/kernels/convolution.py", "autograd/kernels/windows.py",
           "autograd/kernels/matmul.py", "autograd/kernels/onednn")


def hottest(step: Callable[[], Any], steps: int = 5, count: int = 5) -> list[tuple[str, float]]:
    """The files with the most own time, and their shares."""
    profile = cProfile.Profile(time.process_time)         # others on the machine are not in it
    profile.enable()
    for _ in range(steps):
        step()
    profile.disable()
    own: Counter[str] = Counter()
    for (file, _, name), (_, _, seconds, _, callers) in pstats.Stats(profile).stats.items():     # type: ignore[attr-defined]
        for caller, given in (callers or {}).items() if file == "~" else [((file, 0, name), (0, 0, seconds, 0))]:
            own[short(caller[0])] += given[2]
    for name in list(own):
        if name.startswith(KERNELS):
            del own[name]
    whole = sum(own.values()) or 1.0
    return [(name, seconds / whole) for name, seconds in own.most_common(count)]


def short(file: str) -> str:
    """A file's name inside this folder, or of the package it belongs to."""
    path = Path(file)
    if path.is_relative_to(ROOT):
        return str(path.relative_to(ROOT))
    return "NumPy" if "numpy" in path.parts else "Python"
