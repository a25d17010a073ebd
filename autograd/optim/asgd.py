"""ASGD: stochastic gradient descent with averaged iterates (Polyak and Juditsky 1992)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..kernels.optimizer_steps import Rate, descent
from .arguments import check_flags, check_lr, check_not_negative, number
from .differentiable import as_number
from .elementwise import Elementwise, direction
from .flat import Array
from .optimizer import ParamsT


class ASGD(Elementwise):
    """Averaged SGD, Polyak & Juditsky 1992: p = (1 - lambd * eta) * p - eta * g; state[p]["ax"] is the average of p.

    eta = lr / (1 + lambd * lr * t)^alpha. The average is p itself up to step t0, then its running mean."""


    def __init__(self, params: ParamsT, lr: float | Tensor = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
                 weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False,
                 differentiable: bool = False, capturable: bool = False) -> None:
        check_flags("ASGD", differentiable)
        check_lr(lr)
        check_not_negative(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable})

    def arrays(self, group: dict[str, Any]) -> dict[str, float]:
        """The state arrays: "ax", the running average of the parameter, starting at 0."""
        return {"ax": 0.0}

    def numbers(self, group: dict[str, Any]) -> dict[str, float]:
        """The state numbers: "step", "eta" (the next step's learning rate) and "mu" (its weight in the average)."""
        return {"step": 0.0, "eta": number(group["lr"]), "mu": 1.0}

    def rates(self, numbers: dict[str, float], group: dict[str, Any], fresh: bool) -> dict[str, Any]:
        """The rates of this step, and the numbers of the next one. `mu` is None while the average is p itself."""
        t = numbers["step"] = numbers["step"] + 1
        lr, lambd, eta, mu = number(group["lr"]), group["lambd"], numbers["eta"], numbers["mu"]
        numbers["eta"] = lr / (1 + lambd * lr * t) ** group["alpha"]
        numbers["mu"] = 1 / max(1, t - group["t0"])
        return {"eta": eta, "keep": 1 - lambd * eta, "mu": None if mu == 1 else mu, **direction(group)}

    @staticmethod
    def update(p: Array, g: Array, mean: Array, *, eta: Rate, keep: Rate, mu: Rate | None, **options: Any) -> None:
        """The formula of the class, and the average."""
        g = descent(p, g, g, **options)
        p *= keep
        g *= eta
        p -= g
        if mu is None:
            np.copyto(mean, p)
        else:
            mean += mu * (p - mean)

    @staticmethod
    def formula(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
        """And the mean of the parameters from step t0 on."""
        lr, lambd, mu = options["lr"], options["lambd"], number(state["mu"])
        eta = lr if fresh else state["eta"]
        p = p * (1 - lambd * eta) - eta * g
        state["ax"] = p * 1 if mu == 1 else state["ax"] + mu * (p - state["ax"])
        state["eta"] = as_number(lr / (1 + lambd * lr * t) ** options["alpha"])
        state["mu"] = as_number(1 / max(1, t - options["t0"]))
        return p
