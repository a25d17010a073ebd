"""LARS: a learning rate per layer, from the norms of weight and gradient (You et al. 2017)."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from .arguments import check_lr, check_not_negative, number, refuse_differentiable
from .flat import Array
from .one_by_one import OneByOne, array_in, norm
from .optimizer import ParamsT


class LARS(OneByOne):
    """Layer-wise adaptive SGD for large batches, You et al. 2017 (arXiv:1708.03888), algorithm 1.

    local = trust_coefficient * |p| / (|g| + weight_decay * |p| + eps), or 1 if p or g is all zeros; v = momentum * v + lr *
    local * (g + weight_decay * p), p -= v. As in the paper v includes lr, unlike in SGD. Biases and normalization layers
    usually get a group with adapt=False, weight_decay=0: then local is 1."""

    def __init__(self, params: ParamsT, lr: float | Tensor = 1e-3, momentum: float = 0.9, weight_decay: float = 0,
                 trust_coefficient: float = 1e-3, eps: float = 1e-8, nesterov: bool = False, adapt: bool = True, *,
                 maximize: bool = False, foreach: bool | None = None, differentiable: bool = False) -> None:
        refuse_differentiable("LARS", differentiable)
        check_lr(lr)
        check_not_negative(momentum=momentum, weight_decay=weight_decay, trust_coefficient=trust_coefficient, eps=eps)
        if nesterov and momentum <= 0:
            raise ValueError("Nesterov momentum requires a momentum")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "weight_decay": weight_decay, "trust_coefficient": trust_coefficient,
            "eps": eps, "nesterov": nesterov, "adapt": adapt, "maximize": maximize, "foreach": foreach,
            "differentiable": differentiable})

    def update(self, p: Array, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        decay, momentum = group["weight_decay"], group["momentum"]
        size_p, size_g, local = norm(p), norm(g), 1.0
        if group["adapt"] and size_p > 0 and size_g > 0:
            local = group["trust_coefficient"] * size_p / (size_g + decay * size_p + group["eps"])
        move = (-g if group["maximize"] else g) + decay * p
        move *= number(group["lr"]) * local
        if momentum:
            v = array_in(state, "momentum_buffer", p.shape, p.dtype)
            v *= momentum
            v += move
            move = move + momentum * v if group["nesterov"] else v
        p -= move
