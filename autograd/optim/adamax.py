"""Adamax: Adam with the infinity norm (Kingma and Ba 2015)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..kernels.optimizer_steps import Rate, descent
from ..ops.pointwise.where import maximum
from .arguments import check_betas, check_flags, check_lr, check_not_negative, number
from .elementwise import Elementwise, direction
from .flat import Array
from .optimizer import ParamsT


class Adamax(Elementwise):
    """Adam with the infinity norm, Kingma & Ba 2015 (arXiv:1412.6980), algorithm 2.

    m = lerp(m, g, 1 - beta1), u = max(beta2 * u, |g| + eps), p -= lr / (1 - beta1^t) * m / u."""


    def __init__(self, params: ParamsT, lr: float | Tensor = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False,
                 differentiable: bool = False, capturable: bool = False) -> None:
        check_flags("Adamax", differentiable)
        check_lr(lr)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable})

    def arrays(self, group: dict[str, Any]) -> dict[str, float]:
        return {"exp_avg": 0.0, "exp_inf": 0.0}

    def rates(self, numbers: dict[str, float], group: dict[str, Any], fresh: bool) -> dict[str, Any]:
        t = numbers["step"] = numbers["step"] + 1
        beta1, beta2 = map(number, group["betas"])
        return {"size": number(group["lr"]) / (1 - beta1 ** t), "beta1": beta1, "rest1": 1 - beta1, "beta2": beta2,
                "eps": number(group["eps"]), **direction(group)}

    @staticmethod
    def update(p: Array, g: Array, m: Array, u: Array, *, size: Rate, beta1: Rate, rest1: Rate, beta2: Rate, eps: Rate,
               **options: Any) -> None:
        g = descent(p, g, g, **options)
        m *= beta1
        m += rest1 * g
        np.abs(g, out=g)
        g += eps
        u *= beta2
        np.maximum(u, g, out=u)
        np.divide(m, u, out=g)
        g *= size
        p -= g

    @staticmethod
    def formula(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
        """The running maximum stands for the second moment."""
        beta1, beta2 = options["betas"]
        m = state["exp_avg"] = state["exp_avg"] + (1 - beta1) * (g - state["exp_avg"])
        u = state["exp_inf"] = maximum(beta2 * state["exp_inf"], g.abs() + options["eps"])
        return p - options["lr"] / (1 - beta1 ** t) * m / u
