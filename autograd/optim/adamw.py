"""AdamW: Adam with weight decay apart from the gradient (Loshchilov and Hutter 2019)."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from .adam import Adam
from .optimizer import ParamsT


class AdamW(Adam):
    """Adam with decoupled weight decay: Loshchilov & Hutter 2019 (arXiv:1711.05101), algorithm 2.

    Args:
        params (ParamsT): Tensors, or dicts of them and settings (parameter groups).
        lr (float or Tensor): The learning rate. Default: 0.001.
        betas (tuple[Any, Any]): Decay rates of the means of the gradient and of its square.
        eps (float): Keeps divisions by 0 away. Default: 1e-08.
        weight_decay (float): Factor of the parameters that is added to their gradients, or taken off them (decoupled).
            Default: 0.01.
        amsgrad (bool): Whether the largest mean of squares counts. Default: False.
        maximize (bool): Whether the objective is maximized. Default: False.
        foreach (bool): Has no effect: every step is over flat buffers.
        capturable (bool): Has no effect. Default: False.
        differentiable (bool): Whether steps are recorded. Default: False.
        fused (bool): Has no effect: every step is over flat buffers.

    Example:
        >>> w = ag.ones(2, requires_grad=True)
        >>> optimizer = ag.optim.AdamW([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.8990, 0.8990], requires_grad=True)
    """

    def __init__(self, params: ParamsT, lr: float | Tensor = 1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False,
                 foreach: bool | None = None, capturable: bool = False, differentiable: bool = False,
                 fused: bool | None = None) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused, decoupled_weight_decay=True)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
