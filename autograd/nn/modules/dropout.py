"""Dropout: while training, elements or whole channels are 0 at random, and the rest is scaled up. Srivastava et al. 2014."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ..module import Module
from .shown import shown


class _DropoutNd(Module):
    """What all kinds have: the probability p of being dropped."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        """p and inplace."""
        return shown(self, "p inplace")


class Dropout(_DropoutNd):
    """Single elements."""

    def forward(self, input: Any) -> Any:
        """Drop while training."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Whole channels of (n, c, length) or (c, length)."""

    def forward(self, input: Any) -> Any:
        """Drop while training."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Whole channels of (n, c, h, w). Tompson et al. 2015."""

    def forward(self, input: Any) -> Any:
        """Drop while training."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Whole channels of (n, c, d, h, w) or (c, d, h, w)."""

    def forward(self, input: Any) -> Any:
        """Drop while training."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean 0 and variance 1, for networks of SELU. Klambauer et al. 2017."""

    def forward(self, input: Any) -> Any:
        """Drop while training; never in place, as in PyTorch."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels."""

    def forward(self, input: Any) -> Any:
        """Drop while training; never in place, as in PyTorch."""
        return F.feature_alpha_dropout(input, self.p, self.training)


__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]
