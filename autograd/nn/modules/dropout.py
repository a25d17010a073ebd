"""Dropout as a module."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ..module import Module


class Dropout(Module):
    """Single elements."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        self.p, self.inplace = p, inplace

    def forward(self, input: Any) -> Any:
        """Drop while training."""
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """p and inplace."""
        return f"p={self.p}, inplace={self.inplace}"


__all__ = ["Dropout"]
