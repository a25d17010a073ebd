"""Adadelta: steps scaled by running averages of squared steps and gradients (Zeiler 2012)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..kernels.optimizer_steps import Rate, descent
from ..ops.pointwise.powers import sqrt
from .arguments import check_flags, check_lr, check_not_negative, number
from .elementwise import Elementwise, direction
from .flat import Array
from .optimizer import ParamsT


class Adadelta(Elementwise):
    """Adadelta, Zeiler 2012 (arXiv:1212.5701).

    s = lerp(s, g^2, 1 - rho), d = g * sqrt(a + eps) / sqrt(s + eps), a = lerp(a, d^2, 1 - rho), p -= lr * d."""


    def __init__(self, params: ParamsT, lr: float | Tensor = 1.0, rho: float = 0.9, eps: float = 1e-6,
                 weight_decay: float = 0, foreach: bool | None = None, *, capturable: bool = False,
                 maximize: bool = False, differentiable: bool = False) -> None:
        check_flags("Adadelta", differentiable)
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_not_negative(eps=eps, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable})

    def arrays(self, group: dict[str, Any]) -> dict[str, float]:
        """Running means of squared gradients and of squared steps."""
        return {"square_avg": 0.0, "acc_delta": 0.0}

    def rates(self, numbers: dict[str, float], group: dict[str, Any], fresh: bool) -> dict[str, Any]:
        numbers["step"] += 1
        rho = number(group["rho"])
        return {"lr": number(group["lr"]), "rho": rho, "rest": 1 - rho, "eps": number(group["eps"]), **direction(group)}

    @staticmethod
    def update(p: Array, g: Array, s: Array, a: Array, *, lr: Rate, rho: Rate, rest: Rate, eps: Rate,
               **options: Any) -> None:
        g = descent(p, g, g, **options)
        s *= rho
        s += rest * (g * g)
        step = np.sqrt(a + eps)
        step /= np.sqrt(s + eps)
        step *= g
        a *= rho
        a += rest * (step * step)
        step *= lr
        p -= step

    @staticmethod
    def formula(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
        """Scaled by the root mean square of the steps."""
        rho, eps = options["rho"], options["eps"]
        s = state["square_avg"] = rho * state["square_avg"] + (1 - rho) * g * g
        step = sqrt(state["acc_delta"] + eps) / sqrt(s + eps) * g
        state["acc_delta"] = rho * state["acc_delta"] + (1 - rho) * step * step
        return p - options["lr"] * step
