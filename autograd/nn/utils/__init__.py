"""Helpers for modules, under PyTorch's names."""

from . import rnn

__all__ = ["rnn"]
