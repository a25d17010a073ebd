"""Steps that are recorded (differentiable=True): the formulas of the optimisers on Tensors. A loss computed after such a
step has gradients with respect to the parameters before it, their gradients, the state, and options that are Tensors.

A formula takes p, its gradient g to go down along (weight decay is added, where it belongs to the gradient), the state of p
and the options of its group; it gives the new p and writes the new state. `t` is the number of the step, `fresh` says that
the state was made just now. The formulas on arrays, which update all parameters in place, are the `rule` of each class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.dtypes import default
from ..core.modes import enable_grad
from ..core.tensor import Tensor, result
from ..ops.creation.fill import full_like
from ..ops.pointwise.complex import view_as_complex, view_as_real
from ..ops.pointwise.powers import sqrt
from ..ops.pointwise.sign import sign
from ..ops.pointwise.where import clamp, maximum, where
from .arguments import number

Formula = Callable[[Any, Any, dict[str, Any], dict[str, Any], float, bool], Any]


def sgd(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
    """The first velocity is the gradient itself."""
    momentum = options["momentum"]
    if number(momentum):
        v = g * 1 if fresh else momentum * state["momentum_buffer"] + (1 - options["dampening"]) * g
        state["momentum_buffer"] = v
        g = g + momentum * v if options["nesterov"] else v
    return p - options["lr"] * g


def moments(g: Any, state: dict[str, Any], options: dict[str, Any]) -> tuple[Any, Any]:
    """The running means of the gradient and of its square."""
    beta1, beta2 = options["betas"]
    m = state["exp_avg"] = state["exp_avg"] + (1 - beta1) * (g - state["exp_avg"])
    v = state["exp_avg_sq"] = beta2 * state["exp_avg_sq"] + (1 - beta2) * g * g
    return m, v


def adam(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
    """With amsgrad the largest second moment so far is used."""
    (beta1, beta2), (m, v) = options["betas"], moments(g, state, options)
    if options["amsgrad"]:
        v = state["max_exp_avg_sq"] = maximum(state["max_exp_avg_sq"], v)
    return p - options["lr"] / (1 - beta1 ** t) * m / (sqrt(v) / (1 - beta2 ** t) ** 0.5 + options["eps"])


def adamax(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
    """The running maximum stands for the second moment."""
    beta1, beta2 = options["betas"]
    m = state["exp_avg"] = state["exp_avg"] + (1 - beta1) * (g - state["exp_avg"])
    u = state["exp_inf"] = maximum(beta2 * state["exp_inf"], g.abs() + options["eps"])
    return p - options["lr"] / (1 - beta1 ** t) * m / u


def nadam(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
    """Adam that looks a step of momentum ahead."""
    (beta1, beta2), (m, v) = options["betas"], moments(g, state, options)
    mu, mu_next = (beta1 * (1 - 0.5 * 0.96 ** (n * options["momentum_decay"])) for n in (t, t + 1))
    product = state["mu_product"] = state["mu_product"] * mu
    root = sqrt(v / (1 - beta2 ** t)) + options["eps"]
    return p - options["lr"] * ((1 - mu) / (1 - product) * g + mu_next / (1 - product * mu_next) * m) / root


def radam(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
    """Without the second moment while its average is too short (rho <= 5)."""
    (beta1, beta2), (m, v) = options["betas"], moments(g, state, options)
    size, rho_inf = options["lr"] / (1 - beta1 ** t), 2 / (1 - beta2) - 1
    rho = rho_inf - 2 * t * beta2 ** t / (1 - beta2 ** t)
    if number(rho) <= 5:
        return p - size * m
    rectifier = ((rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho)) ** 0.5
    return p - size * rectifier * (1 - beta2 ** t) ** 0.5 * m / (sqrt(v) + options["eps"])


def rmsprop(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
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


def rprop(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
    """Steps of their own sizes; no step, and no memory of the gradient, where its sign turned."""
    (shrink, grow), (low, high) = options["etas"], options["step_sizes"]
    turn = (g * state["prev"]).detach()
    factors = where(turn > 0, full_like(turn, grow), where(turn < 0, full_like(turn, shrink), full_like(turn, 1)))
    size = state["step_size"] = clamp(state["step_size"] * factors, low, high)
    g = state["prev"] = where(turn < 0, full_like(g, 0), g)
    return p - sign(g) * size


def adagrad(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
    """Divided by the root of the sum of squares."""
    total = state["sum"] = state["sum"] + g * g
    return p - options["lr"] / (1 + (t - 1) * options["lr_decay"]) * g / (sqrt(total) + options["eps"])


def adadelta(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
    """Scaled by the root mean square of the steps."""
    rho, eps = options["rho"], options["eps"]
    s = state["square_avg"] = rho * state["square_avg"] + (1 - rho) * g * g
    step = sqrt(state["acc_delta"] + eps) / sqrt(s + eps) * g
    state["acc_delta"] = rho * state["acc_delta"] + (1 - rho) * step * step
    return p - options["lr"] * step


def asgd(p: Any, g: Any, state: dict[str, Any], options: dict[str, Any], t: float, fresh: bool) -> Any:
    """And the mean of the parameters from step t0 on."""
    lr, lambd, mu = options["lr"], options["lambd"], number(state["mu"])
    eta = lr if fresh else state["eta"]
    p = p * (1 - lambd * eta) - eta * g
    state["ax"] = p * 1 if mu == 1 else state["ax"] + mu * (p - state["ax"])
    state["eta"] = as_number(lr / (1 + lambd * lr * t) ** options["alpha"])
    state["mu"] = as_number(1 / max(1, t - options["t0"]))
    return p


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
