"""Muon: momentum that is orthogonalized before the step (Jordan et al. 2024)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from .arguments import check_lr, number
from .flat import Array
from .one_by_one import OneByOne, array_in
from .optimizer import ParamsT


class Muon(OneByOne):
    """Momentum orthogonalized by Newton-Schulz iterations, Jordan et al. 2024, for the matrices of hidden layers.

    v = lerp(v, g, 1 - momentum), p = (1 - lr * weight_decay) * p - lr' * orthogonal(lerp(g, v, momentum)). The orthogonal
    factor comes from ns_steps Newton-Schulz steps x -> a x + (b x x' + c (x x')^2) x, rounded to bfloat16 as in PyTorch. lr'
    is lr * sqrt(max(1, rows / columns)), or with adjust_lr_fn="match_rms_adamw" lr * sqrt(max(rows, columns)) / 5."""

    def __init__(self, params: ParamsT, lr: float | Tensor = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95,
                 nesterov: bool = True, ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
                 eps: float = 1e-7, ns_steps: int = 5, adjust_lr_fn: str | None = None) -> None:
        check_lr(lr)
        if not momentum >= 0.0:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn})
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    def update(self, p: Array, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        lr, momentum = number(group["lr"]), group["momentum"]
        v = array_in(state, "momentum_buffer", p.shape, p.dtype)
        v += (1 - momentum) * (g - v)
        direction = g + momentum * (v - g) if group["nesterov"] else v
        u = orthogonal(direction, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = p.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            size = 0.2 * math.sqrt(max(rows, columns))
        else:
            size = math.sqrt(max(1, rows / columns))
        p *= 1 - lr * group["weight_decay"]
        p -= lr * size * u.astype(p.dtype)


def orthogonal(x: Array, coefficients: tuple[float, float, float], steps: int, eps: float) -> Array:
    """The matrix with x's singular vectors and singular values near 1, float32 holding bfloat16 numbers."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    tall = x.shape[0] > x.shape[1]
    x = rounded(x.T if tall else x)
    x = rounded(x / max(rounded(np.linalg.norm(x)), eps))
    for _ in range(steps):
        gram = rounded(x @ x.T)
        x = rounded(a * x + rounded(b * gram + c * (gram @ gram)) @ x)
    return x.T if tall else x


def rounded(x: Any) -> Array:
    """x rounded to the nearest bfloat16 (ties to even), as float32: the upper half of the bits."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)
