"""A row of the table of operations, and what rows are made with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Case:
    """`call(t, *inputs)` with t = autograd or torch; shapes of the inputs, drawn uniformly from `domain`."""

    name: str
    call: Callable[..., Any]
    shapes: list[tuple[int, ...]]
    domain: tuple[float, float] = (-2.0, 2.0)
    second: bool = True                              # smooth enough for a second numerical derivative
    distinct: bool = False                           # no two elements nearly equal: maxima, sorting
    kinks: tuple[float, ...] = field(default=())     # stay away from these values

    def inputs(self, seed: int = 0) -> list[np.ndarray]:
        rng = np.random.default_rng([seed, len(self.name)])
        low, high = self.domain
        arrays = []
        for shape in self.shapes:
            size = int(np.prod(shape, dtype=int))
            x = rng.permutation(np.linspace(low, high, size + 2)[1:-1]) if self.distinct else rng.uniform(low, high, size)
            for kink in self.kinks:
                x = np.where(abs(x - kink) < 0.05, x + 0.1, x)
            arrays.append(x.reshape(shape))
        return arrays

    def __str__(self) -> str:
        return self.name


def F(t):
    return t.nn.functional


def labels(t, *shape, classes=4):
    return t.from_numpy(np.random.default_rng(5).integers(0, classes, shape))
