"""SparseAdam, which is not supported."""

from __future__ import annotations

from ..core.tensor import Tensor
from .optimizer import ParamsT


class SparseAdam:
    """Adam for sparse gradients, which do not exist here: the constructor raises."""

    def __init__(self, params: ParamsT, lr: float | Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, maximize: bool = False) -> None:
        raise NotImplementedError("SparseAdam: there are no sparse tensors here; Adam takes the gradients that there are")
