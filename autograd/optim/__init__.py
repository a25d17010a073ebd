"""Optimisers."""

from .algorithms import SGD, AdamW
from .optimizer import Optimizer

__all__ = ["SGD", "AdamW", "Optimizer"]
