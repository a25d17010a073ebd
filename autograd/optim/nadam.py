"""NAdam: Adam with Nesterov's momentum (Dozat 2016)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.dtypes import default
from ..core.tensor import Tensor
from ..kernels.optimizer_steps import Rate, descent, moments
from ..ops.pointwise.powers import sqrt
from .arguments import check_betas, check_flags, check_lr, check_not_negative, number
from .differentiable import recorded_moments
from .elementwise import Elementwise, direction, moment_rates
from .flat import Array
from .optimizer import ParamsT


class NAdam(Elementwise):
    """Adam with Nesterov momentum, Dozat 2016: beta1 warms up as mu_t = beta1 * (1 - 0.96^(t * momentum_decay) / 2).

    p -= lr * (g * (1 - mu_t) / (1 - prod mu_1..t) + m * mu_(t+1) / (1 - prod mu_1..t+1)) / (sqrt(v') + eps)."""


    def __init__(self, params: ParamsT, lr: float | Tensor = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, weight_decay: float = 0, momentum_decay: float = 4e-3,
                 decoupled_weight_decay: bool = False, *, foreach: bool | None = None, maximize: bool = False,
                 capturable: bool = False, differentiable: bool = False) -> None:
        check_flags("NAdam", differentiable)
        check_lr(lr)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay, momentum_decay=momentum_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable})

    def arrays(self, group: dict[str, Any]) -> dict[str, float]:
        return {"exp_avg": 0.0, "exp_avg_sq": 0.0}

    def numbers(self, group: dict[str, Any]) -> dict[str, float]:
        """The number of steps, and the product of all mu so far."""
        return {"step": 0.0, "mu_product": 1.0}

    def rates(self, numbers: dict[str, float], group: dict[str, Any], fresh: bool) -> dict[str, Any]:
        """The rates of this step. The product is rounded as the state keeps it, so that resuming changes nothing."""
        t = numbers["step"] = numbers["step"] + 1
        lr, (beta1, beta2) = number(group["lr"]), map(number, group["betas"])
        mu, mu_next = (beta1 * (1 - 0.5 * 0.96 ** (n * group["momentum_decay"])) for n in (t, t + 1))
        product = numbers["mu_product"] = (default.dtype.type(numbers["mu_product"]) * default.dtype.type(mu)).item()
        return {"of_g": lr * (1 - mu) / (1 - product), "of_m": lr * mu_next / (1 - product * mu_next),
                "scale": 1 / math.sqrt(1 - beta2 ** t), "eps": number(group["eps"]), **moment_rates(beta1, beta2),
                **direction(group)}

    @staticmethod
    def update(p: Array, g: Array, m: Array, v: Array, *, of_g: Rate, of_m: Rate, scale: Rate, beta1: Rate, rest1: Rate,
               beta2: Rate, rest2: Rate, eps: Rate, **options: Any) -> None:
        """The formula of the class."""
        g = descent(p, g, g, **options)
        scratch = moments(g, m, v, beta1, rest1, beta2, rest2)
        np.sqrt(v, out=scratch)
        scratch *= scale
        scratch += eps
        g *= of_g
        g += of_m * m
        g /= scratch
        p -= g

    @staticmethod
    def formula(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
        """Adam with Nesterov momentum, on one parameter's Tensors."""
        (beta1, beta2), (m, v) = options["betas"], recorded_moments(g, state, options)
        mu, mu_next = (beta1 * (1 - 0.5 * 0.96 ** (n * options["momentum_decay"])) for n in (t, t + 1))
        product = state["mu_product"] = state["mu_product"] * mu
        root = sqrt(v / (1 - beta2 ** t)) + options["eps"]
        return p - options["lr"] * ((1 - mu) / (1 - product) * g + mu_next / (1 - product * mu_next) * m) / root
