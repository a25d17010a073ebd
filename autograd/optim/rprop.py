"""Rprop: step sizes that grow while a gradient keeps its sign, and shrink where it changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..kernels.optimizer_steps import Rate, descent
from ..ops.creation.fill import full_like
from ..ops.pointwise.sign import sign
from ..ops.pointwise.where import clamp, where
from .arguments import check_flags, check_lr, number
from .elementwise import Elementwise
from .flat import Array
from .optimizer import ParamsT


class Rprop(Elementwise):
    """Rprop, Riedmiller & Braun 1993: each element moves by its own step size, against the sign of its gradient.

    The step size grows by etas[1] while the sign is unchanged and shrinks by etas[0] when it changes; the element then skips
    a step."""


    def __init__(self, params: ParamsT, lr: float | Tensor = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
                 step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False,
                 foreach: bool | None = None, maximize: bool = False, differentiable: bool = False) -> None:
        check_flags("Rprop", differentiable)
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable})

    def arrays(self, group: dict[str, Any]) -> dict[str, float]:
        """The gradient before, and the step sizes, which begin at lr."""
        return {"prev": 0.0, "step_size": number(group["lr"])}

    def rates(self, numbers: dict[str, float], group: dict[str, Any], fresh: bool) -> dict[str, Any]:
        numbers["step"] += 1
        (shrink, grow), (low, high) = map(number, group["etas"]), map(number, group["step_sizes"])
        return {"shrink": shrink, "grow": grow, "low": low, "high": high, "maximize": bool(group["maximize"])}

    @staticmethod
    def update(p: Array, g: Array, before: Array, size: Array, *, shrink: Rate, grow: Rate, low: Rate, high: Rate,
               maximize: bool) -> None:
        g = descent(p, g, g, maximize=maximize)
        turn = np.sign(g * before)
        turned = turn < 0
        size *= np.where(turn > 0, grow, np.where(turned, shrink, 1)).astype(size.dtype, copy=False)
        np.maximum(size, low, out=size)
        np.minimum(size, high, out=size)
        np.copyto(before, np.where(turned, 0, g))
        p -= np.sign(before) * size

    @staticmethod
    def formula(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
        """Steps of individual sizes; where the gradient's sign has changed, no step, and the gradient counts as 0."""
        (shrink, grow), (low, high) = options["etas"], options["step_sizes"]
        turn = (g * state["prev"]).detach()
        factors = where(turn > 0, full_like(turn, grow), where(turn < 0, full_like(turn, shrink), full_like(turn, 1)))
        size = state["step_size"] = clamp(state["step_size"] * factors, low, high)
        g = state["prev"] = where(turn < 0, full_like(g, 0), g)
        return p - sign(g) * size
