"""Dropout: while training, elements or whole channels are 0 at random, and the rest is scaled up. Srivastava et al. 2014."""

from __future__ import annotations

from ...core.tensor import Tensor
from .. import functional as F
from ..module import Module


class _DropoutNd(Module):
    """Base of dropout: the probability p of zeroing."""

    _shown = "p inplace"

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p: float = p
        self.inplace: bool = inplace


class Dropout(_DropoutNd):
    """Zero single elements with probability p in training mode and scale the others by 1 / (1 - p)."""

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape; the input itself in evaluation mode."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Zero whole channels of (n, c, l) or (c, l) with probability p in training mode; scale the others by 1 / (1 - p)."""

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c, l) or (c, l) -> the same shape; the input itself in evaluation mode."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Zero whole channels of (n, c, h, w) with probability p in training mode; scale the others by 1 / (1 - p). Tompson et
    al. 2015 (arXiv:1411.4280)."""

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c, h, w) -> the same shape; the input itself in evaluation mode."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Zero whole channels of (n, c, d, h, w) or (c, d, h, w) with probability p in training mode; scale the others up."""

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c, d, h, w) or (c, d, h, w) -> the same shape; the input itself in evaluation mode."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that preserves mean 0 and variance 1, for networks with SELU. Klambauer et al. 2017."""

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape. `inplace` has no effect, as in PyTorch."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels instead of single elements."""

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c, ...) -> the same shape. `inplace` has no effect, as in PyTorch."""
        return F.feature_alpha_dropout(input, self.p, self.training)


__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]
