"""LAMB: Adam's direction, scaled per layer by the ratio of norms (You et al. 2020)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from .arguments import check_betas, check_lr, check_not_negative, number, refuse_differentiable
from .flat import Array
from .one_by_one import OneByOne, array_in, count_step, norm
from .optimizer import ParamsT


class LAMB(OneByOne):
    """Layer-wise adaptive Adam for large batches, You et al. 2019 (arXiv:1904.00962), algorithm 2.

    u = m' / (sqrt(v') + eps) + weight_decay * p with Adam's m' and v', p -= lr * |p| / |u| * u. The ratio of norms is 1 if
    either is 0, and in groups with adapt=False."""

    def __init__(self, params: ParamsT, lr: float | Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-6, weight_decay: float = 1e-2, adapt: bool = True, *, maximize: bool = False,
                 foreach: bool | None = None, differentiable: bool = False) -> None:
        refuse_differentiable("LAMB", differentiable)
        check_lr(lr)
        check_not_negative(eps=eps, weight_decay=weight_decay)
        check_betas(betas)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "adapt": adapt, "maximize": maximize,
            "foreach": foreach, "differentiable": differentiable})

    def update(self, p: Array, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        t, (beta1, beta2) = count_step(state), map(number, group["betas"])
        m, v = (array_in(state, name, p.shape, p.dtype) for name in ("exp_avg", "exp_avg_sq"))
        g = -g if group["maximize"] else g
        m *= beta1
        m += (1 - beta1) * g
        v *= beta2
        v += (1 - beta2) * (g * g)
        u = np.sqrt(v)
        u /= math.sqrt(1 - beta2 ** t)
        u += group["eps"]
        u = m / u
        u /= 1 - beta1 ** t
        if group["weight_decay"]:
            u += group["weight_decay"] * p
        size_p, size_u = norm(p), norm(u)
        ratio = size_p / size_u if group["adapt"] and size_p > 0 and size_u > 0 else 1.0
        u *= number(group["lr"]) * ratio
        p -= u
