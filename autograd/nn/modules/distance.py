"""Distances and similarities of vectors."""

from __future__ import annotations

from ...core.tensor import Tensor
from .. import functional as F
from ..module import Module


class PairwiseDistance(Module):
    """The p-norm of x1 - x2 + eps along the last dimension."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm: float = p
        self.eps: float = eps
        self.keepdim: bool = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """x1, x2 (n, d) or (d,), broadcast -> (n,) or (); with keepdim=True the last dimension stays, of size 1."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """dot(x1, x2) / (max(|x1|, eps) * max(|x2|, eps)) along dim."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim: int = dim
        self.eps: float = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """x1, x2 of shapes that broadcast -> that shape without dim; values in [-1, 1]."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


__all__ = ["CosineSimilarity", "PairwiseDistance"]
