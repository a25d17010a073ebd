"""Adagrad: steps divided by the root of the sum of squared gradients (Duchi et al. 2011)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.dtypes import default
from ..core.tensor import Tensor, result
from ..kernels.optimizer_steps import Rate, descent
from ..ops.pointwise.powers import sqrt
from .arguments import check_flags, check_lr, check_not_negative, number
from .elementwise import Elementwise, direction
from .flat import Array
from .optimizer import ParamsT


class Adagrad(Elementwise):
    """Adagrad, Duchi et al. 2011: s += g^2, p -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps).

    The constructor creates the state, as in PyTorch."""


    def __init__(self, params: ParamsT, lr: float | Tensor = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
                 initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
                 maximize: bool = False, differentiable: bool = False, fused: bool | None = None) -> None:
        check_flags("Adagrad", differentiable, foreach, fused)
        check_lr(lr)
        check_not_negative(lr_decay=lr_decay, weight_decay=weight_decay,
                           initial_accumulator_value=initial_accumulator_value, eps=eps)
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused})
        for group in self.param_groups:
            for p in group["params"]:
                start = initial_accumulator_value
                filled = complex(start, start) if p.array.dtype.kind == "c" else start
                self.state[p] = {"step": result(np.zeros((), default.dtype)),
                                 "sum": result(np.full(p.array.shape, filled, p.array.dtype))}

    def arrays(self, group: dict[str, Any]) -> dict[str, float]:
        return {"sum": group["initial_accumulator_value"]}

    def rates(self, numbers: dict[str, float], group: dict[str, Any], fresh: bool) -> dict[str, Any]:
        t = numbers["step"] = numbers["step"] + 1
        size = number(group["lr"]) / (1 + (t - 1) * group["lr_decay"])
        return {"size": size, "eps": number(group["eps"]), **direction(group)}

    @staticmethod
    def update(p: Array, g: Array, s: Array, *, size: Rate, eps: Rate, **options: Any) -> None:
        g = descent(p, g, g, **options)
        scratch = g * g
        s += scratch
        np.sqrt(s, out=scratch)
        scratch += eps
        np.divide(g, scratch, out=scratch)
        scratch *= size
        p -= scratch

    @staticmethod
    def formula(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
        """Divided by the root of the sum of squares."""
        total = state["sum"] = state["sum"] + g * g
        return p - options["lr"] / (1 + (t - 1) * options["lr_decay"]) * g / (sqrt(total) + options["eps"])
