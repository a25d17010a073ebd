"""RAdam: Adam with a rectified adaptive learning rate (Liu et al. 2020)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..kernels.optimizer_steps import Rate, descent, moments
from ..ops.pointwise.powers import sqrt
from .arguments import check_betas, check_flags, check_lr, check_not_negative, number
from .differentiable import recorded_moments
from .elementwise import Elementwise, direction, moment_rates
from .flat import Array
from .optimizer import ParamsT


class RAdam(Elementwise):
    """Adam with a rectified variance, Liu et al. 2020 (arXiv:1908.03265), algorithm 2.

    While the second moment averages at most five values, the step is lr * m'; then it is Adam's times the rectifier."""


    def __init__(self, params: ParamsT, lr: float | Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, weight_decay: float = 0, decoupled_weight_decay: bool = False, *,
                 foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
                 differentiable: bool = False) -> None:
        check_flags("RAdam", differentiable)
        check_lr(lr)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable})

    def arrays(self, group: dict[str, Any]) -> dict[str, float]:
        return {"exp_avg": 0.0, "exp_avg_sq": 0.0}

    def rates(self, numbers: dict[str, float], group: dict[str, Any], fresh: bool) -> dict[str, Any]:
        """The rates of this step. Before the variance is rectified, `bound` and `eps` make the denominator 1."""
        t = numbers["step"] = numbers["step"] + 1
        beta1, beta2 = map(number, group["betas"])
        size, rectifier = number(group["lr"]) / (1 - beta1 ** t), rectified(t, beta2)
        if rectifier is not None:
            size *= rectifier * math.sqrt(1 - beta2 ** t)
        return {"size": size, "bound": 0.0 if rectifier is None else math.inf,
                "eps": 1.0 if rectifier is None else number(group["eps"]), **moment_rates(beta1, beta2), **direction(group)}

    @staticmethod
    def update(p: Array, g: Array, m: Array, v: Array, *, size: Rate, bound: Rate, eps: Rate, beta1: Rate, rest1: Rate,
               beta2: Rate, rest2: Rate, **options: Any) -> None:
        g = descent(p, g, g, **options)
        scratch = moments(g, m, v, beta1, rest1, beta2, rest2)
        np.sqrt(v, out=scratch)
        if bound is not math.inf:                    # an array of one number may be infinite later
            np.minimum(scratch, bound, out=scratch)
        scratch += eps
        np.divide(m, scratch, out=scratch)
        scratch *= size
        p -= scratch

    @staticmethod
    def formula(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
        """Without the second moment while its average is too short (rho <= 5)."""
        (beta1, beta2), (m, v) = options["betas"], recorded_moments(g, state, options)
        size, (rho, rho_inf) = options["lr"] / (1 - beta1 ** t), averaged_length(t, beta2)
        if number(rho) <= 5:
            return p - size * m
        rectifier = ((rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho)) ** 0.5
        return p - size * rectifier * (1 - beta2 ** t) ** 0.5 * m / (sqrt(v) + options["eps"])


def averaged_length(t: float, beta2: Any) -> tuple[Any, Any]:
    """rho_t, over how many gradients the second moment is an average at step t, and its limit rho_inf."""
    rho_inf = 2 / (1 - beta2) - 1
    return rho_inf - 2 * t * beta2 ** t / (1 - beta2 ** t), rho_inf


def rectified(t: float, beta2: float) -> float | None:
    """The rectifier r_t of the variance at step t; None while the average is too short (rho_t <= 5)."""
    rho, rho_inf = averaged_length(t, beta2)
    if rho <= 5:
        return None
    return math.sqrt((rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho))
