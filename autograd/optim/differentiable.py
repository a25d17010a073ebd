"""Steps that are recorded (differentiable=True). A loss computed after such a step has gradients with respect to the
parameters before it, their gradients, the state, and options that are Tensors.

Each optimizer writes its step twice, side by side: `rule` updates vectors of many parameters in place, in fused kernels, and
cannot be recorded; `formula` is the same on one parameter's Tensors. A formula takes p, its gradient g to go down along
(weight decay is added, where it belongs to the gradient), the state of p and the options of its group; it gives the new p
and writes the new state. `t` is the number of the step, `fresh` says that the state was made just now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.dtypes import default
from ..core.modes import enable_grad
from ..core.tensor import Tensor, result
from ..ops.creation.fill import full_like
from ..ops.pointwise.complex import view_as_complex, view_as_real
from .arguments import number

Formula = Callable[[Any, Any, dict[str, Any], dict[str, Any], float, bool], Any]


def recorded_moments(g: Tensor, state: dict[str, Any], options: dict[str, Any]) -> tuple[Any, Any]:
    """The running means of the gradient and of its square."""
    beta1, beta2 = options["betas"]
    m = state["exp_avg"] = state["exp_avg"] + (1 - beta1) * (g - state["exp_avg"])
    v = state["exp_avg_sq"] = beta2 * state["exp_avg_sq"] + (1 - beta2) * g * g
    return m, v


def as_number(value: Any) -> Tensor:
    """One number of a state."""
    return value if isinstance(value, Tensor) else result(np.array(value, default.dtype))


def recorded_step(formula: Formula, params: list[Tensor], group: dict[str, Any], states: Any, arrays: dict[str, float],
                  numbers: dict[str, float]) -> None:
    """One step of a group's parameters, each by itself; p changes in place, the entries of its state are replaced."""
    with enable_grad():
        for p in params:
            if p.grad is None:
                continue
            state = states[p]
            fresh = any(name not in state for name in arrays)
            for name, value in numbers.items():
                state.setdefault(name, as_number(value))
            pairs = p.dtype.kind == "c"              # complex numbers are pairs of real ones
            for name, value in arrays.items():
                state.setdefault(name, full_like(p.detach(), value * (1 + 1j) if pairs else value))
            if "step" in numbers:
                state["step"] = state["step"] + 1
            t = number(state["step"]) if "step" in numbers else 0
            held = {name: view_as_real(state[name]) for name in arrays} if pairs else state
            if pairs:
                held.update({name: state[name] for name in numbers})
            x = p.clone()                            # what formulas save must outlive the write to p
            x, g = (view_as_real(x), view_as_real(p.grad)) if pairs else (x, p.grad)
            if group["maximize"]:
                g = -g
            decay = group.get("weight_decay", 0)
            if isinstance(decay, Tensor) or decay:
                if group.get("decoupled_weight_decay"):
                    x = x * (1 - group["lr"] * decay)
                else:
                    g = g + decay * x
            x = formula(x, g, held, group, t, fresh)
            if pairs:
                state.update({name: view_as_complex(value) if name in arrays else value for name, value in held.items()})
            p.copy_(view_as_complex(x) if pairs else x)
