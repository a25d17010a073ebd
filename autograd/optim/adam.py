"""Adam: steps from running averages of the gradient and its square (Kingma and Ba 2015)."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Tensor
from ..kernels import optimizer_steps
from ..ops.pointwise.powers import sqrt
from ..ops.pointwise.where import maximum
from .arguments import check_betas, check_flags, check_lr, check_not_negative, number
from .differentiable import recorded_moments
from .elementwise import Elementwise, direction, moment_rates
from .optimizer import ParamsT


class Adam(Elementwise):
    """Adam, Kingma & Ba 2015 (arXiv:1412.6980).

    m = lerp(m, g, 1 - beta1), v = lerp(v, g^2, 1 - beta2), p -= lr * m' / (sqrt(v') + eps), where m' = m / (1 - beta1^t) and
    v' = v / (1 - beta2^t). With amsgrad v' is computed from the largest v so far (Reddi et al. 2018, arXiv:1904.09237);
    decoupled_weight_decay is Loshchilov & Hutter 2019 (arXiv:1711.05101)."""

    overwrites = False

    def __init__(self, params: ParamsT, lr: float | Tensor = 1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None,
                 maximize: bool = False, capturable: bool = False, differentiable: bool = False,
                 fused: bool | None = None, decoupled_weight_decay: bool = False) -> None:
        check_flags(type(self).__name__, differentiable, foreach, fused)
        check_lr(lr)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": (number(betas[0]), number(betas[1])), "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable, "fused": fused, "decoupled_weight_decay": decoupled_weight_decay})

    def arrays(self, group: dict[str, Any]) -> dict[str, float]:
        """First and second moment; with amsgrad also the largest second moment."""
        moments = {"exp_avg": 0.0, "exp_avg_sq": 0.0}
        return {**moments, "max_exp_avg_sq": 0.0} if group["amsgrad"] else moments

    def rates(self, numbers: dict[str, float], group: dict[str, Any], fresh: bool) -> dict[str, Any]:
        t = numbers["step"] = numbers["step"] + 1
        beta1, beta2 = map(number, group["betas"])
        return {"size": number(group["lr"]) / (1 - beta1 ** t), "scale": 1 / math.sqrt(1 - beta2 ** t),
                "eps": number(group["eps"]), **moment_rates(beta1, beta2), **direction(group)}

    update = staticmethod(optimizer_steps.adam)

    @staticmethod
    def formula(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
        """With amsgrad the largest second moment so far is used."""
        (beta1, beta2), (m, v) = options["betas"], recorded_moments(g, state, options)
        if options["amsgrad"]:
            v = state["max_exp_avg_sq"] = maximum(state["max_exp_avg_sq"], v)
        return p - options["lr"] / (1 - beta1 ** t) * m / (sqrt(v) / (1 - beta2 ** t) ** 0.5 + options["eps"])
