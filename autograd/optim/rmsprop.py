"""RMSprop: steps divided by the root of a running mean of squared gradients."""

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


class RMSprop(Elementwise):
    """RMSprop, Tieleman & Hinton 2012: s = lerp(s, g^2, 1 - alpha), p -= lr * g / (sqrt(s) + eps).

    If centered, s - a^2 replaces s, with a the running average of g (Graves 2013, arXiv:1308.0850). With momentum b =
    momentum * b + quotient, p -= lr * b."""


    def __init__(self, params: ParamsT, lr: float | Tensor = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
                 weight_decay: float = 0, momentum: float = 0, centered: bool = False, capturable: bool = False,
                 foreach: bool | None = None, maximize: bool = False, differentiable: bool = False) -> None:
        check_flags("RMSprop", differentiable)
        check_lr(lr)
        check_not_negative(eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable})

    def arrays(self, group: dict[str, Any]) -> dict[str, float]:
        """The running mean of squares; as asked for, the momentum, and the running mean."""
        names = ["square_avg", *["momentum_buffer"] * (group["momentum"] > 0), *["grad_avg"] * bool(group["centered"])]
        return dict.fromkeys(names, 0.0)

    def rates(self, numbers: dict[str, float], group: dict[str, Any], fresh: bool) -> dict[str, Any]:
        numbers["step"] += 1
        alpha, momentum = number(group["alpha"]), number(group["momentum"])
        return {"lr": number(group["lr"]), "alpha": alpha, "rest": 1 - alpha, "eps": number(group["eps"]),
                "momentum": momentum if momentum > 0 else None, "centered": bool(group["centered"]), **direction(group)}

    @staticmethod
    def update(p: Array, g: Array, s: Array, *more: Array, lr: Rate, alpha: Rate, rest: Rate, eps: Rate,
               momentum: Rate | None, centered: bool, **options: Any) -> None:
        g = descent(p, g, g, **options)
        s *= alpha
        s += rest * (g * g)
        if centered:
            mean = more[-1]
            mean *= alpha
            mean += rest * g
            root = np.sqrt(s - mean * mean)
        else:
            root = np.sqrt(s)
        root += eps
        np.divide(g, root, out=g)
        if momentum is not None:
            gathered = more[0]
            gathered *= momentum
            gathered += g
            np.multiply(gathered, lr, out=g)
        else:
            g *= lr
        p -= g

    @staticmethod
    def formula(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
        """Divided by the root of the mean square; of the variance, if centered."""
        alpha = options["alpha"]
        s = state["square_avg"] = alpha * state["square_avg"] + (1 - alpha) * g * g
        if options["centered"]:
            mean = state["grad_avg"] = alpha * state["grad_avg"] + (1 - alpha) * g
            s = s - mean * mean
        g = g / (sqrt(s) + options["eps"])
        if options["momentum"] > 0:
            g = state["momentum_buffer"] = options["momentum"] * state["momentum_buffer"] + g
        return p - options["lr"] * g
