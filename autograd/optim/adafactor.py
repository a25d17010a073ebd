"""Adafactor: second moments factored into a row and a column per matrix (Shazeer and Stern 2018)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.dtypes import finfo
from ..core.tensor import Tensor
from .arguments import check_lr, number
from .flat import Array
from .one_by_one import OneByOne, array_in, count_step, mean, norm
from .optimizer import ParamsT


class Adafactor(OneByOne):
    """Adafactor, Shazeer & Stern 2018 (arXiv:1804.04235): second moments of matrices are stored as sums of rows and columns.

    Running averages have weight t^beta2_decay. The update is clipped to a root mean square of d and scaled relative to the
    parameter: max(eps[1], rms(p)) * min(lr, 1 / sqrt(t)). eps[0]=None is the epsilon of the dtype."""

    def __init__(self, params: ParamsT, lr: float | Tensor = 1e-2, beta2_decay: float = -0.8,
                 eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0, *,
                 foreach: bool | None = None, maximize: bool = False) -> None:
        check_lr(lr)
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        for index, value in enumerate(eps, 1):
            if value is not None and not value >= 0.0:
                raise ValueError(f"epsilon{index} should be >= 0 but is: {value}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        super().__init__(params, {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d,
                                  "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize})

    def update(self, p: Array, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        t, lr, (eps1, eps2) = count_step(state), number(group["lr"]), group["eps"]
        eps1 = finfo(p.dtype).eps if eps1 is None else eps1
        g = -g if group["maximize"] else g
        size = max(eps2, norm(p) / math.sqrt(p.size)) * min(lr, 1 / math.sqrt(t))
        if group["weight_decay"]:
            p *= 1 - lr * group["weight_decay"]
        u = self._variance(g, state, t ** group["beta2_decay"], eps1)
        np.maximum(u, eps1 * eps1, out=u)
        np.divide(g, np.sqrt(u), out=u)
        u *= size / max(1.0, norm(u) / (math.sqrt(u.size) * group["d"]))
        p -= u

    @staticmethod
    def _variance(g: Array, state: dict[str, Any], weight: float, eps: float) -> Array:
        """The estimate of g^2: rows times columns over the mean of the rows; of vectors the running mean itself."""
        if g.ndim < 2:
            variance = array_in(state, "variance", g.shape, g.dtype)
            variance += weight * (g * g - variance)
            return variance.copy()
        squares = g * g
        row = array_in(state, "row_var", (*g.shape[:-1], 1), g.dtype)
        row += weight * (mean(squares, -1) - row)
        column = array_in(state, "col_var", (*g.shape[:-2], 1, g.shape[-1]), g.dtype)
        column += weight * (mean(squares, -2) - column)
        return row @ column / np.maximum(mean(row, -2), eps)
