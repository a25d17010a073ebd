"""SGD: stochastic gradient descent with momentum and weight decay."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..kernels import optimizer_steps
from .arguments import check_flags, check_lr, check_not_negative, number
from .elementwise import Elementwise, direction
from .optimizer import ParamsT


class SGD(Elementwise):
    """Stochastic gradient descent: v = momentum * v + (1 - dampening) * (g + weight_decay * p), p -= lr * v."""

    overwrites = False

    def __init__(self, params: ParamsT, lr: float | Tensor = 1e-3, momentum: float = 0, dampening: float = 0,
                 weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False,
                 foreach: bool | None = None, differentiable: bool = False, fused: bool | None = None) -> None:
        check_flags("SGD", differentiable, foreach, fused)
        check_lr(lr)
        check_not_negative(momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach, "differentiable": differentiable,
            "fused": fused})

    def arrays(self, group: dict[str, Any]) -> dict[str, float]:
        return {"momentum_buffer": 0.0} if group["momentum"] else {}

    def numbers(self, group: dict[str, Any]) -> dict[str, float]:
        return {}

    def rates(self, numbers: dict[str, float], group: dict[str, Any], fresh: bool) -> dict[str, Any]:
        """The rates of this step; the first velocity is the gradient itself, not dampened."""
        momentum, dampening = number(group["momentum"]), number(group["dampening"])
        return {"lr": number(group["lr"]), "momentum": momentum if momentum else None,
                "share": None if dampening == 0 else 1.0 if fresh else 1 - dampening, "nesterov": bool(group["nesterov"]),
                **direction(group)}

    update = staticmethod(optimizer_steps.sgd)

    @staticmethod
    def formula(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
        """The first velocity is the gradient itself."""
        momentum = options["momentum"]
        if number(momentum):
            v = g * 1 if fresh else momentum * state["momentum_buffer"] + (1 - options["dampening"]) * g
            state["momentum_buffer"] = v
            g = g + momentum * v if options["nesterov"] else v
        return p - options["lr"] * g
