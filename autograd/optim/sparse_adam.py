"""SparseAdam, which there is no use for: refused by name."""

from __future__ import annotations

from ..core.tensor import Tensor
from .optimizer import ParamsT


class SparseAdam:
    """Adam for sparse gradients, of which there are none here: the constructor raises.

    Args:
        params (ParamsT): Tensors, or dicts of them and settings (parameter groups).
        lr (float or Tensor): The learning rate. Default: 0.001.
        betas (tuple[float, float]): Decay rates of the means of the gradient and of its square.
        eps (float): Keeps divisions by 0 away. Default: 1e-08.
        maximize (bool): Whether the objective is maximized. Default: False.

    Raises:
        NotImplementedError: SparseAdam: there are no sparse tensors here.

    Example:
        >>> ag.optim.SparseAdam([ag.ones(2, requires_grad=True)])
        Traceback (most recent call last):
            ...
        NotImplementedError: SparseAdam: there are no sparse tensors here; Adam takes the gradients that there are
    """

    def __init__(self, params: ParamsT, lr: float | Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, maximize: bool = False) -> None:
        raise NotImplementedError("SparseAdam: there are no sparse tensors here; Adam takes the gradients that there are")
