"""SparseAdam, which there is no use for: refused by name."""

from __future__ import annotations

from ..core.tensor import Tensor
from .optimizer import ParamsT


class SparseAdam:
    """Adam for sparse gradients, of which there are none here: the constructor raises."""

    def __init__(self, params: ParamsT, lr: float | Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, maximize: bool = False) -> None:
        raise NotImplementedError("SparseAdam: there are no sparse tensors here; Adam takes the gradients that there are")
